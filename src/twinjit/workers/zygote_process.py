"""The process that workers are forked from, as it is started, asked and ended from here."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import ExitStack, suppress

from twinjit.errors import ExecutorError
from twinjit.workers.interpreter import start_python
from twinjit.workers.output import Output

__all__ = ["Zygote", "ZygoteEnded"]

_END_SECONDS = 5.0  # for the kernel to end a process, and whoever is to know to be told


class ZygoteEnded(Exception):
    """The process that workers are forked from is no more."""


class Zygote:
    """The process that workers are forked from.

    Requests can be made as soon as this object exists; they are met once `launch` has been called.
    Its descriptors go with the object: threads may be using them when another one ends it.
    """

    def __init__(self) -> None:
        self._held = ExitStack()
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control, self._theirs = map(self._held.enter_context, pair)
        self._output = Output("twinjit-zygote")
        self._held.callback(self._output.close)
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the process.

        Raises
        ------
        ExecutorError
            If that is not possible here.
        """
        try:
            self._process = self._start()
        except ExecutorError as error:
            raise ExecutorError(f"{error.message}; give executor='thread'") from error
        finally:
            self._theirs.close()  # so that nobody waits for a process that never was

    def _start(self) -> subprocess.Popen[bytes]:
        if not hasattr(os, "pidfd_open"):
            raise ExecutorError("isolated workers need Linux")
        try:
            owner = os.pidfd_open(os.getpid())
        except OSError as error:
            raise ExecutorError(
                f"cannot have isolated workers end with this process: {error}"
            ) from error
        try:
            return start_python(
                "twinjit.workers.zygote",
                (self._theirs.fileno(), owner),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._output.fd,
                cwd="/",
                start_new_session=True,  # the terminal's Ctrl-C is not for it
            )
        finally:
            os.close(owner)

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
        lines = self._output.end().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def end(self) -> None:
        """End the process, and with it all workers; any number of times."""
        with suppress(OSError):  # it is closed in a forked child
            self._control.shutdown(socket.SHUT_RDWR)
        if self._process:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def abandon(self) -> None:
        """Let go of it in a forked child, whose it is not."""
        if self._process:
            self._process.returncode = 0  # nobody here can wait for it
        self._held.close()

    def __del__(self) -> None:
        self._held.close()
