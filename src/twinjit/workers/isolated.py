"""One compilation in a process of its own, which may crash.

The process is a fresh one, which takes some 0.3 s to start; `one_job` is what it runs.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from twinjit.errors import CompilationTimeoutError, ExecutorError
from twinjit.settings import environment_of_workers
from twinjit.workers.cause import find_cause
from twinjit.workers.ending import Ending
from twinjit.workers.interpreter import start_python
from twinjit.workers.output import Output
from twinjit.workers.page import CrashPage
from twinjit.workers.reproducer import Reproducer

__all__ = ["Isolated", "compile_isolated"]


@dataclass(frozen=True)
class Isolated:
    """What became of a compilation.

    Attributes
    ----------
    ending
        How its process ended, if not by itself with an answer; else None.
    error
        What the program was refused with; empty where it was compiled, or the process crashed.
    output
        The end of what the process wrote to its standard error.
    entry
        The artifact that it was compiled to, as `encode` writes it; empty where there is none.
    """

    ending: Ending | None
    error: str
    output: str
    entry: bytes = b""


def compile_isolated(
    job: Reproducer,
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Isolated:
    """Compile a program as it was compiled when it crashed.

    Parameters
    ----------
    job
        The program and its options; its libraries as well, which a reproducer does not hold.
    timeout
        Seconds after which the process is ended; None for no limit.
    environment
        The process's; None for that of workers.

    Raises
    ------
    CompilationTimeoutError
        If it took longer than `timeout`.
    ExecutorError
        If the process cannot be started, or ends before the compilation begins.
    """
    with closing(CrashPage.create()) as page, closing(Output("twinjit-stderr")) as output:
        process = start_python(
            "twinjit.workers.one_job",
            (page.fd,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output.fd,
            env=environment_of_workers() if environment is None else environment,
        )
        with process:
            answer = _answer(process, job, timeout)
        return _judge(process.returncode, page, answer, output.end())


def _answer(process: subprocess.Popen[bytes], job: Reproducer, timeout: float | None) -> bytes:
    text = job.to_json()
    linked = job.source.options.libraries
    libraries = json.dumps(linked and linked.to_plain()).encode()
    head = b"%d %d\n" % (len(text), len(libraries))
    try:
        answer, _ = process.communicate(
            head + text + libraries + job.source.data, timeout=_waitable(timeout)
        )
    except subprocess.TimeoutExpired:
        raise CompilationTimeoutError(
            f"compiling {job.source.name} did not end in {timeout:g} s; its process was ended"
        ) from None
    finally:
        process.kill()  # nothing where it has ended
    return answer


def _waitable(seconds: float | None) -> float | None:
    """Give what the system can wait for: not centuries."""
    return None if seconds is None or seconds > threading.TIMEOUT_MAX else seconds


def _judge(code: int, page: CrashPage, answer: bytes, output: str) -> Isolated:
    if code == 0 and answer[:1] == b"\0":
        return Isolated(None, "", output, answer[1:])
    if code == 0 and answer:
        return Isolated(None, answer[1:].decode(errors="backslashreplace"), output)
    crash = page.read()
    ending = Ending.of(code, crash, output)
    if ending.exit_status == 1 and crash.phase in ("", "import"):  # an exception of Python's
        raise ExecutorError(f"the process to compile in did not start: {find_cause(output)}")
    return Isolated(ending, "", output)
