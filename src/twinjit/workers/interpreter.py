"""Python processes with the same Twinjit as this one, and nothing of the user's."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from twinjit.errors import ExecutorError
from twinjit.forks import held_off
from twinjit.settings import environment_of_workers

__all__ = ["start_python"]

# Twinjit is the one that is loaded here, by its place. All else is found where Python finds it and
# where this process does, but not in the current directory, which `-c` puts first and which may
# hold what others have made; so `sys`, which is built in, comes alone. Python's option -I sees to
# that as well, but takes no notice of PYTHONHASHSEED.
_BOOTSTRAP = """
import sys
sys.path[:] = filter(None, sys.path)
import json
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
told = json.loads(sys.argv[1])
sys.path += [each for each in told["path"] if each not in sys.path]
spec = spec_from_file_location("twinjit", told["file"], submodule_search_locations=told["folders"])
sys.modules["twinjit"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
import_module(told["module"]).run(*told["descriptors"])
"""


def start_python(
    module: str, descriptors: Sequence[int], **options: Any
) -> subprocess.Popen[bytes]:
    """Start a process that calls a module's `run`.

    Parameters
    ----------
    module
        Its full name.
    descriptors
        What `run` is called with: copies of these in the new process.
    **options
        As for `subprocess.Popen`. Its environment is that of workers, unless one is given.

    Raises
    ------
    ExecutorError
        If that is not possible here. The message ends where a cure can be added.
    """
    python = _python()
    try:
        with ExitStack() as held:
            passed = [_moved_up(each, held) for each in descriptors]
            bytecode = ["-B"] if sys.dont_write_bytecode else []
            held.enter_context(held_off())  # a child would keep descriptors open
            return subprocess.Popen(  # noqa: S603 -- Python, with nothing of the user's
                [python, "-s", *bytecode, "-c", _BOOTSTRAP, _to_tell(module, passed)],
                pass_fds=passed,
                **{"env": environment_of_workers(), **options},
            )
    except OSError as error:
        raise ExecutorError(f"cannot start {python!r} to compile in: {error}") from error


def _to_tell(module: str, descriptors: Sequence[int]) -> str:
    package = sys.modules[__name__.partition(".")[0]]
    return json.dumps(
        {
            # What is no text, Python passes over.
            "path": [each for each in sys.path if isinstance(each, str) and os.path.isabs(each)],
            "file": package.__file__,
            "folders": list(package.__path__),
            "module": module,
            "descriptors": descriptors,
        }
    )


def _moved_up(descriptor: int, held: ExitStack) -> int:
    """Give a copy that is not numbered as a standard stream, which may be closed here."""
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    held.callback(os.close, copy)
    return copy


def _python() -> str:
    """Say which program is Python.

    Raises
    ------
    ExecutorError
        If none is known.
    """
    if getattr(sys, "frozen", False):
        raise ExecutorError(
            "isolated compilation needs a Python interpreter to start, which an application frozen "
            "into one file has not"
        )
    if not sys.executable:
        raise ExecutorError(
            "isolated compilation needs a Python interpreter to start, and the application that "
            "embeds this one names none: set sys.executable to the path of one of the same version"
        )
    return sys.executable
