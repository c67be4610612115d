"""What workers answer, made of messages that may be anything; see `protocol`.

The memory of a worker that is about to crash can be damaged before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_args

from twinjit.confirmation import Verdict
from twinjit.constants import Constants
from twinjit.errors import ExecutorError, TwinjitError
from twinjit.lowering import ResolvedPipeline
from twinjit.plain import error_from_plain
from twinjit.workers import protocol
from twinjit.workers.messages import BrokenMessage, Message

__all__ = ["Built", "Read", "read_end", "read_verdict", "understood"]

T = TypeVar("T")


@dataclass(frozen=True)
class Read:
    """Of a program that was read.

    Attributes
    ----------
    fingerprint
        None for a program that has none.
    why_unknown
        Why it has none.
    phases
        Seconds, by name.
    resolved
        The pipeline that it gets, or why it gets none.
    constants
        Those that the policy takes for parameters.
    """

    fingerprint: bytes | None
    why_unknown: str
    phases: dict[str, float]
    resolved: ResolvedPipeline | TwinjitError
    constants: Constants

    @classmethod
    def of(cls, message: Message) -> Read:
        """Make it of an answer."""
        told = message.header
        fingerprint = told["fingerprint"]
        types = tuple(_text(each) for each in told["types"])
        if len(types) != len(message.sections):
            raise ValueError("other constants than their types")
        return cls(
            None if fingerprint is None else bytes.fromhex(fingerprint),
            _text(told["why_unknown"]),
            _phases(told["phases"]),
            error_from_plain(told["unresolved"])
            if "unresolved" in told
            else protocol.resolved_from_plain(told["resolved"]),
            Constants(types, tuple(message.sections)),
        )


@dataclass(frozen=True)
class Built:
    """Of a program that was compiled.

    Attributes
    ----------
    entry
        With the artifact.
    phases
        Seconds, by name.
    retires
        Whether the worker has had enough.
    """

    entry: bytes
    phases: dict[str, float]
    retires: bool

    @classmethod
    def of(cls, message: Message) -> Built:
        """Make it of an answer."""
        (entry,) = message.sections
        return cls(entry, _phases(message.header["phases"]), read_end(message))


def read_verdict(message: Message) -> Verdict:
    """Read whether an artifact is of the program."""
    verdict = message.header["verdict"]
    if verdict not in get_args(Verdict):
        raise ValueError(f"no verdict: {verdict!r}")
    return cast(Verdict, verdict)


def read_end(message: Message) -> bool:
    """Read whether the worker has had enough."""
    retires = message.header["retires"]
    if not isinstance(retires, bool):
        raise TypeError(f"neither true nor false: {retires!r}")
    return retires


def understood(message: Message, read: Callable[[Message], T]) -> T | TwinjitError:
    """Read an answer, which may be an error instead.

    Raises
    ------
    BrokenMessage
        If it cannot be read.
    """
    told = message.header
    try:
        if "error" in told:
            return error_from_plain(told["error"])
        if "failure" in told:
            return ExecutorError(f"a worker failed:\n{told['failure']}")
        return read(message)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BrokenMessage(f"no answer: {error!r}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {value!r}")
    return value


def _phases(told: Any) -> dict[str, float]:
    return {_text(name): float(seconds) for name, seconds in told.items()}
