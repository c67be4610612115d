"""One compilation in a process of its own, which may crash.

The process is a fresh one, which takes some 0.3 s to start; `once` is what it runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from twinjit.errors import CompilationTimeoutError, ExecutorError
from twinjit.workers.cause import find_cause
from twinjit.workers.crash import tail
from twinjit.workers.ending import Ending
from twinjit.workers.page import CrashPage
from twinjit.workers.reproducer import Reproducer

__all__ = ["Isolated", "compile_isolated"]

# Modules are found where this process finds them, and not in the current directory, which `-c` puts
# first and which may hold what others have made. Nothing is imported before that is settled.
_COMMAND = """\
import sys
fd, *sys.path[:] = sys.argv[1:]
from twinjit.workers.once import main
main(int(fd))
"""


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
        The program and its options.
    timeout
        Seconds after which the process is ended; None for no limit.
    environment
        The process's; None for this one's.

    Raises
    ------
    CompilationTimeoutError
        If it took longer than `timeout`.
    ExecutorError
        If the process cannot be started, or ends before the compilation begins.
    """
    page = CrashPage.create()
    said = os.memfd_create("twinjit-stderr")
    try:
        process = _start(page, said, environment)
        with process:
            answer = _answer(process, job, timeout)
        output = os.pread(said, os.fstat(said).st_size, 0)
        return _judge(process.returncode, page, answer, tail(output))
    finally:
        os.close(said)
        page.close()


def _start(
    page: CrashPage, said: int, environment: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", _COMMAND, str(page.fd), *sys.path]
    try:
        return subprocess.Popen(  # noqa: S603 -- it is this very interpreter
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment,
            pass_fds=(page.fd,),
        )
    except OSError as error:
        raise ExecutorError(f"cannot start {sys.executable!r} to compile in: {error}") from error


def _answer(process: subprocess.Popen[bytes], job: Reproducer, timeout: float | None) -> bytes:
    text = job.to_json()
    try:
        answer, _ = process.communicate(
            b"%d\n" % len(text) + text + job.source.data, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        raise CompilationTimeoutError(
            f"compiling {job.source.name} did not end in {timeout:g} s; its process was ended"
        ) from None
    finally:
        process.kill()  # nothing where it has ended
    return answer


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
