"""A worker, as it is asked for, spoken to and ended from here."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from twinjit.errors import ExecutorError, ForkError
from twinjit.forks import held_off
from twinjit.toolchain import TOOLCHAIN
from twinjit.workers.ending import Ending
from twinjit.workers.messages import BrokenMessage, Message, receive, send
from twinjit.workers.output import Output
from twinjit.workers.page import CrashPage
from twinjit.workers.zygote_process import Zygote, ZygoteEnded

__all__ = ["Check", "Worker", "WorkerEnded"]

T = TypeVar("T")

Check = Callable[[], None]
"""Raises what is to end a wait."""

_LOOK_MS = 5  # how often those who wait call a `Check`


class WorkerEnded(Exception):
    """A worker is no more.

    Parameters
    ----------
    ending
        How it ended; None where nobody knows.
    output
        The end of what it wrote to its standard error.
    """

    def __init__(self, ending: Ending | None, output: str) -> None:
        super().__init__(ending, output)
        self.ending, self.output = ending, output


class Worker:
    """A worker; used by one thread at a time.

    Make one with `ask`.
    """

    def __init__(
        self, channel: socket.socket, reports: socket.socket, page: CrashPage, output: Output
    ) -> None:
        self._channel, self._reports = channel, reports
        self._page, self._output = page, output
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
        # A child forked in between would keep `theirs` open, and nobody be told of a worker's end.
        with held_off(), ExitStack() as theirs:
            with ExitStack() as undo:
                channel, channel_there = _pair(undo, theirs, socket.SOCK_STREAM)
                reports, reports_there = _pair(undo, theirs, socket.SOCK_SEQPACKET)
                page = CrashPage.create()
                undo.callback(page.close)
                output = Output("twinjit-worker")
                undo.callback(output.close)
                worker = cls(channel, reports, page, output)
                undo.pop_all()
            zygote.ask([channel_there.fileno(), page.fd, output.fd, reports_there.fileno()])
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
        self._output.clear()
        self._page.clear()
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
        output = self._output.end()
        if report is None:
            return WorkerEnded(None, output)
        code = os.waitstatus_to_exitcode(report["status"])
        return WorkerEnded(Ending.of(code, self._page.read(), output), output)

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
        self._page.close()
        self._output.close()
        pidfd, self._pidfd = self._pidfd, -1  # first: whatever gets in between, once is enough
        if pidfd >= 0:
            os.close(pidfd)

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


def _is_readable(descriptor: int, milliseconds: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))
