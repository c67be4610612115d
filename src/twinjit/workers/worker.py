"""What runs in a worker: jobs, one after another, until the other end closes the socket."""

from __future__ import annotations

import gc
import os
import resource
import select
import socket
import traceback
from collections.abc import Sequence
from typing import Any

from twinjit.artifact import decode, encode
from twinjit.build import BuildOptions
from twinjit.constants import NO_CONSTANTS
from twinjit.errors import TwinjitError
from twinjit.key import Key
from twinjit.llvm_subject import LlvmSubject
from twinjit.plain import error_to_plain
from twinjit.report import Clock
from twinjit.stop import Stop
from twinjit.subject import LocalSubject, open_local
from twinjit.workers import protocol
from twinjit.workers.limits import Limits, resident_bytes, set_soft_limit
from twinjit.workers.messages import Message, receive, send
from twinjit.workers.page import ending_on_memory_error
from twinjit.workers.written import WrittenSubject

__all__ = ["serve"]

# What a worker keeps of all the programs that it saw is not known in full; the next one is 1 ms
# away.
_MOST_PROGRAMS = 2_000
_MOST_GROWTH = 256 << 20  # of resident memory, in bytes

_OUTPUT_LIMIT = 16 << 20  # bytes that it may write to its standard error, which is memory


class _Worker:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._subject: LocalSubject | LlvmSubject | None = None
        self._clock = Clock()
        self._programs = 0
        self._first_resident = resident_bytes()

    def serve(self) -> None:
        with ending_on_memory_error():  # what is sent and received takes memory, too
            while message := receive(self._channel, self._wait):
                send(self._channel, self._answer(message), self._wait)

    def _wait(self, writing: bool) -> None:
        select.select([] if writing else [self._channel], [self._channel] if writing else [], [])

    def _answer(self, message: Message) -> Message:
        try:
            return self._done(message.header, message.sections)
        except MemoryError:
            raise
        except TwinjitError as error:
            return Message({"error": error_to_plain(error)})
        except Exception:
            return Message({"failure": traceback.format_exc()})

    def _done(self, header: dict[str, Any], sections: Sequence[bytes]) -> Message:
        match header["do"]:
            case "read":
                return self._read(header, sections[0])
            case "judge":
                return Message({"verdict": self._program().judge(decode(sections[0]))})
            case "build":
                entry = encode(self._program().build(Key.from_framing(sections[0])))
                return Message({"phases": self._clock.phases, "retires": self._end()}, [entry])
            case "end":
                return Message({"retires": self._end()})
            case unknown:
                raise LookupError(f"asked to {unknown!r}")

    def _read(self, header: dict[str, Any], program: bytes) -> Message:
        self._programs += 1
        Limits(header["memory"]).apply()
        _enter(header["directory"])
        options = BuildOptions.from_plain(header["options"])
        source = protocol.source_from_plain(header["source"], program)
        open_ = WrittenSubject if header["source"]["is_live"] else open_local
        self._clock = Clock()
        self._subject = subject = open_(source, self._clock, Stop(), options)
        fingerprint = subject.fingerprint
        constants = NO_CONSTANTS if fingerprint is None else subject.constants()
        answer = {
            "fingerprint": fingerprint and fingerprint.hex(),
            "why_unknown": subject.why_unknown,
            "phases": self._clock.phases,
            "types": constants.types,
            "imports": subject.imports and subject.imports.hex(),
            **_resolution(subject),
        }
        return Message(answer, constants.contents)

    def _end(self) -> bool:
        """Let go of the program; say whether this worker has had enough."""
        if self._subject:
            self._subject.close()
        self._subject = None
        Limits().apply()
        growth = resident_bytes() - self._first_resident
        return self._programs >= _MOST_PROGRAMS or growth > _MOST_GROWTH

    def _program(self) -> LocalSubject | LlvmSubject:
        if self._subject is None:
            raise LookupError("there is no program")
        return self._subject


def _resolution(subject: LocalSubject | LlvmSubject) -> dict[str, Any]:
    try:
        return {"resolved": protocol.resolved_to_plain(subject.resolved)}
    except TwinjitError as error:
        return {"unresolved": error_to_plain(error)}


def serve(channel: socket.socket) -> None:
    """Serve jobs until the other end closes the socket."""
    gc.enable()
    Limits().apply()
    set_soft_limit(resource.RLIMIT_FSIZE, _OUTPUT_LIMIT)
    _offer_first()
    channel.setblocking(False)
    _Worker(channel).serve()


def _offer_first() -> None:
    """Have the kernel, when memory runs out, end this process rather than the user's."""
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            score = int(file.read())
            file.seek(0)
            file.write(str(min(1000, score + 500)))
    except OSError:  # without it the kernel goes by size
        pass


def _enter(directory: str | None) -> None:
    """Have passes find files by the paths that their user knows."""
    try:
        os.chdir(directory or "/")
    except OSError:
        os.chdir("/")
