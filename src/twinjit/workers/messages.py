"""How two processes talk: messages of a JSON object and some bytes, over a stream socket."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, NamedTuple

__all__ = ["BrokenMessage", "Message", "receive", "send"]

# Both ends are the same installation of Twinjit, so there is no version. Integers are
# little-endian.
#
#   message := header-size:u32 header{header-size} section*
#   header  := a JSON object in ASCII; "sections" lists the size of each section in bytes, the rest
#              is what protocol.py says
#   section := bytes
#
# Nothing that a message holds is run or unpickled. What a worker sends may be anything: the memory
# of one that is about to crash can be damaged before.
_SIZE = Struct("<I")
_HEADER_LIMIT = 1 << 30  # diagnostics quote lines of programs, several times
_SECTION_LIMIT = 1 << 32
_CHUNK = 1 << 20

Wait = Callable[[bool], None]
"""Waits until the socket can be read or, for True, written; raises what is to end the exchange."""


class BrokenMessage(Exception):
    """What came is no message."""


class Message(NamedTuple):
    """What a process tells another.

    Attributes
    ----------
    header
        A JSON object.
    sections
        Bytes that it speaks of.
    """

    header: dict[str, Any]
    sections: Sequence[bytes] = ()


def send(channel: socket.socket, message: Message, wait: Wait) -> None:
    """Send a message over a socket that does not block.

    Raises
    ------
    OSError
        If the other end is closed.
    """
    sizes = [len(section) for section in message.sections]
    header = json.dumps({**message.header, "sections": sizes}, separators=(",", ":")).encode()
    for part in (_SIZE.pack(len(header)) + header, *message.sections):
        rest = memoryview(part)
        while rest:
            try:
                rest = rest[channel.send(rest, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:  # noqa: PERF203 -- only once the socket is full
                wait(True)


def receive(channel: socket.socket, wait: Wait) -> Message | None:
    """Receive a message from a socket that does not block; None where the other end has closed it.

    Raises
    ------
    BrokenMessage
        If what came is none.
    """
    start = _receive(channel, _SIZE.size, wait)
    if start is None:
        return None
    header = _receive(channel, _checked(_SIZE.unpack(start)[0], _HEADER_LIMIT), wait)
    if header is None:
        return None
    fields = _parsed(header)
    sections = []
    for size in fields.pop("sections"):
        section = _receive(channel, size, wait)
        if section is None:
            return None
        sections.append(section)
    return Message(fields, sections)


def _receive(channel: socket.socket, size: int, wait: Wait) -> bytes | None:
    chunks = []
    while size:
        try:
            chunk = channel.recv(min(size, _CHUNK))
        except BlockingIOError:
            wait(False)
            continue
        except ConnectionError:  # it ended before it had read all that it was sent
            return None
        if not chunk:
            return None
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def _parsed(header: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(header)
        sizes = fields["sections"]
        if not isinstance(fields, dict) or not isinstance(sizes, list):
            raise TypeError("not an object with a list of sections")
        for size in sizes:
            _checked(size, _SECTION_LIMIT)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BrokenMessage(f"no header: {error}") from error
    return fields


def _checked(size: object, limit: int) -> int:
    if not isinstance(size, int) or not 0 <= size <= limit:
        raise BrokenMessage(f"no size: {size!r}")
    return size
