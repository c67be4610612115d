"""The processes, as they are started, spoken to and ended from here."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from twinjit.errors import ExecutorError, ForkError
from twinjit.settings import environment_of_workers
from twinjit.toolchain import TOOLCHAIN
from twinjit.workers.crash import CrashPage
from twinjit.workers.messages import BrokenMessage, Message, receive, send

__all__ = ["Check", "Worker", "WorkerEnded", "Zygote", "ZygoteEnded"]

T = TypeVar("T")

Check = Callable[[], None]
"""Raises what is to end a wait."""

_LOOK_MS = 5  # how often those who wait call a `Check`
_END_SECONDS = 5.0  # for the kernel to end a process, and whoever is to know to be told
_OUTPUT_BYTES = 64 << 10

_BOOTSTRAP = """
import sys, json
from importlib.util import module_from_spec, spec_from_file_location
told = json.loads(sys.argv[1])
sys.path += [each for each in told["path"] if each not in sys.path]
spec = spec_from_file_location("twinjit", told["file"], submodule_search_locations=told["folders"])
sys.modules["twinjit"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
from twinjit.workers.zygote import run
run(*told["descriptors"])
"""


class ZygoteEnded(Exception):
    """The process that workers are forked from is no more."""


class WorkerEnded(Exception):
    """A worker is no more.

    Parameters
    ----------
    status
        As ``os.waitpid`` gives it; None where nobody knows.
    output
        The end of what it wrote to its standard error.
    """

    def __init__(self, status: int | None, output: bytes) -> None:
        super().__init__(status, output)
        self.status, self.output = status, output


class Zygote:
    """The process that workers are forked from.

    Requests can be made as soon as this object exists; they are met once `launch` has been called.
    """

    def __init__(self) -> None:
        self._control, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._output = _memory_file("twinjit-zygote")
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the process.

        Raises
        ------
        ExecutorError
            If that is not possible here.
        """
        try:
            self._process = self._start(_python())
        except OSError as error:
            raise ExecutorError(
                f"cannot start {sys.executable!r} for isolated workers: {error}; give "
                "executor='thread'"
            ) from error
        finally:
            self._theirs.close()  # so that nobody waits for a process that never was

    def _start(self, python: str) -> subprocess.Popen[bytes]:
        package = sys.modules[__name__.partition(".")[0]]
        with ExitStack() as held:
            owner = os.pidfd_open(os.getpid())
            held.callback(os.close, owner)
            passed = [_moved_up(each, held) for each in (self._theirs.fileno(), owner)]
            told = {
                "path": [each for each in sys.path if os.path.isabs(each)],
                "file": package.__file__,
                "folders": list(package.__path__),
                "descriptors": passed,
            }
            bytecode = ["-B"] if sys.dont_write_bytecode else []
            return subprocess.Popen(  # noqa: S603 -- Python, with nothing of the user's
                [python, "-I", *bytecode, "-c", _BOOTSTRAP, json.dumps(told)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._output,
                cwd="/",
                env=environment_of_workers(),
                pass_fds=passed,
                start_new_session=True,  # the terminal's Ctrl-C is not for it
            )

    def ask(self, descriptors: list[int]) -> None:
        """Ask for a worker; see ``zygote.Request``.

        Raises
        ------
        ZygoteEnded
            If the process has ended.
        """
        try:
            socket.send_fds(self._control, [b"w"], descriptors, socket.MSG_NOSIGNAL)
        except ConnectionError:
            raise ZygoteEnded from None

    @property
    def has_ended(self) -> bool:
        """Whether the process was started and is no more."""
        return self._process is not None and self._process.poll() is not None

    def why(self) -> str:
        """Say what the process said last."""
        lines = _read_end(self._output).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def end(self) -> None:
        """End the process, and with it all workers; any number of times."""
        self._control.close()
        if self._process:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._close()

    def abandon(self) -> None:
        """Let go of it in a forked child, whose it is not."""
        if self._process:
            self._process.returncode = 0  # nobody here can wait for it
        self._close()

    def _close(self) -> None:
        self._control.close()
        self._theirs.close()
        output, self._output = self._output, -1
        _close(output)


class Worker:
    """A worker; used by one thread at a time.

    Make one with `ask`.
    """

    def __init__(
        self, channel: socket.socket, reports: socket.socket, page: CrashPage, output: int
    ) -> None:
        self._channel, self._reports = channel, reports
        self.page, self._output = page, output
        self.pid, self._pidfd = 0, -1
        self.is_busy = False  # asked, and not answered yet
        self._is_inherited = False
        self._why_killed = ""
        self._poll = select.poll()

    @classmethod
    def ask(cls, zygote: Zygote) -> Worker:
        """Ask for a worker.

        Raises
        ------
        ZygoteEnded
            If the zygote has.
        OSError
            If this process can have no more descriptors.
        """
        with ExitStack() as theirs:
            with ExitStack() as undo:
                channel, channel_there = _pair(undo, theirs, socket.SOCK_STREAM)
                reports, reports_there = _pair(undo, theirs, socket.SOCK_SEQPACKET)
                page = CrashPage.create()
                undo.callback(page.close)
                output = _memory_file("twinjit-worker")
                undo.callback(os.close, output)
                worker = cls(channel, reports, page, output)
                undo.pop_all()
            zygote.ask([channel_there.fileno(), page.fd, output, reports_there.fileno()])
        return worker

    def await_start(self, check: Check) -> None:
        """Wait until it is there.

        Raises
        ------
        ZygoteEnded
            If nobody forks it any more.
        ExecutorError
            If it cannot be forked, or is of another build of Twinjit.
        """
        report, descriptors = self._next_report(check)
        if report is None:
            raise ZygoteEnded
        if "failure" in report:
            raise ExecutorError(f"isolated workers cannot be had: {report['failure']}")
        self.pid, (self._pidfd,) = report["pid"], descriptors
        if report["builds"] != dict(TOOLCHAIN):
            raise ExecutorError(
                f"the Python that {sys.executable!r} starts has another build of twinjit than this "
                "process; give executor='thread', or set sys.executable"
            )

    def prepare(self) -> bool:
        """Forget what the last program left; say whether the process is alive."""
        os.ftruncate(self._output, 0)
        os.lseek(self._output, 0, os.SEEK_SET)  # the worker's, too: they share the offset
        self.page.clear()
        return not _is_readable(self._pidfd, 0)

    def exchange(self, message: Message, check: Check, read: Callable[[Message], T]) -> T:
        """Ask, wait for the answer, and read it.

        Whatever else is raised, by `check` for instance, the worker is of no use afterwards.

        Raises
        ------
        WorkerEnded
            If it ended before it had answered.
        ExecutorError
            If it answers nonsense, for which `read` raises BrokenMessage.
        ForkError
            In a child that was forked meanwhile.
        """
        self.is_busy = True
        try:
            answer = self._exchange(message, check)
            if answer is None:
                raise self._ended(check)
            told = read(answer)
        except BrokenMessage as error:
            raise ExecutorError(f"a worker has lost its mind: {error}") from error
        self.is_busy = False
        return told

    def _exchange(self, message: Message, check: Check) -> Message | None:
        def wait(writing: bool) -> None:
            self._poll.register(self._channel, select.POLLOUT if writing else select.POLLIN)
            self._poll.poll(_LOOK_MS)
            self._check_own()
            check()

        try:
            send(self._channel, message, wait)
        except ConnectionError:
            return None
        return receive(self._channel, wait)

    def _ended(self, check: Check) -> WorkerEnded | ExecutorError:
        if self._why_killed:
            return ExecutorError(f"the compilation was ended: {self._why_killed}")
        report, _ = self._next_report(check)
        status = report["status"] if report else None
        return WorkerEnded(status, _read_end(self._output))

    def _next_report(self, check: Check) -> tuple[dict[str, Any] | None, list[int]]:
        while not _is_readable(self._reports.fileno(), _LOOK_MS):
            self._check_own()
            check()
        self._check_own()
        data, descriptors, _, _ = socket.recv_fds(
            self._reports, 1 << 16, 1, socket.MSG_CMSG_CLOEXEC
        )
        return (json.loads(data) if data else None), descriptors

    def _check_own(self) -> None:
        if self._is_inherited:
            raise ForkError(
                "this process was forked in the middle of a compilation, whose worker is the "
                "parent's; compile again"
            )

    def kill(self, why: str) -> None:
        """End it for a thread that has it, which is told and closes it; from any thread."""
        self._why_killed = why
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):  # it has ended
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(self) -> None:
        """End it at once; any number of times."""
        self.kill("")
        self._close()

    __del__ = end

    def _close(self) -> None:
        self._channel.close()
        self._reports.close()
        self.page.close()
        pidfd, self._pidfd = self._pidfd, -1  # first: whatever gets in between, once is enough
        _close(pidfd)
        output, self._output = self._output, -1
        _close(output)

    def abandon(self) -> None:
        """Let go of it in a forked child, whose it is not."""
        self._is_inherited = True
        self._close()


def _pair(
    undo: ExitStack, theirs: ExitStack, kind: socket.SocketKind
) -> tuple[socket.socket, socket.socket]:
    ours, other = socket.socketpair(socket.AF_UNIX, kind)
    theirs.enter_context(other)
    undo.callback(ours.close)
    ours.setblocking(False)
    other.setblocking(False)
    return ours, other


def _memory_file(name: str) -> int:
    return os.memfd_create(name, os.MFD_CLOEXEC)


def _read_end(file: int) -> bytes:
    size = os.fstat(file).st_size
    return os.pread(file, _OUTPUT_BYTES, max(0, size - _OUTPUT_BYTES))


def _is_readable(descriptor: int, milliseconds: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


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
    if not hasattr(os, "pidfd_open"):
        raise ExecutorError("isolated workers need Linux; give executor='thread'")
    if getattr(sys, "frozen", False):
        raise ExecutorError(
            "isolated workers need a Python interpreter to start, which an application frozen into "
            "one file has not; give executor='thread'"
        )
    if not sys.executable:
        raise ExecutorError(
            "isolated workers need a Python interpreter to start, and the application that embeds "
            "this one names none: set sys.executable to the path of one of the same version, or "
            "give executor='thread'"
        )
    return sys.executable
