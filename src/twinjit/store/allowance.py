"""What one call of a server may take in time and bytes, whatever the server does."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["MeteredSocket", "allowed"]

# A time limit holds for small answers; large ones have as long again for each MiB.
_BYTES_PER_LIMIT = 1 << 20


class _Allowance:
    def __init__(self, seconds: float, size: float) -> None:
        self._seconds_per_byte = seconds / _BYTES_PER_LIMIT
        self._end = time.monotonic() + seconds
        self._left = size

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise TimeoutError(errno.ETIMEDOUT, "the answer takes too long")

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise OSError(errno.EPROTO, "the answer is longer than anything that was asked for")
        self._end += count * self._seconds_per_byte


_current: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowed(seconds: float, size: float) -> Iterator[None]:
    """Limit what this thread's metered sockets receive in the body of a ``with`` statement.

    Parameters
    ----------
    seconds
        How long that may take; as long again for each MiB received.
    size
        How many bytes.
    """
    token = _current.set(_Allowance(seconds, size))
    try:
        yield
    finally:
        _current.reset(token)


class MeteredSocket:
    """A socket that receives no more than is `allowed`; apart from that, as the one given.

    A call may be late by the socket's own timeout.

    Parameters
    ----------
    inner
        A connected socket with a timeout.
    """

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner

    def recv(self, *arguments: Any) -> bytes:
        """Receive as `socket.socket.recv`; TimeoutError or OSError where it is too much."""
        allowance = _current.get()
        if allowance:
            allowance.check()
        data = self._inner.recv(*arguments)
        if allowance:
            allowance.take(len(data))
        return data

    def recv_into(self, *arguments: Any) -> int:
        """Receive as `socket.socket.recv_into`, likewise; redis-py does so where it has hiredis."""
        allowance = _current.get()
        if allowance:
            allowance.check()
        count = self._inner.recv_into(*arguments)
        if allowance:
            allowance.take(count)
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
