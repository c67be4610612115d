"""What workers answer, and what is none of it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from twinjit.errors import ExecutorError, ParseError
from twinjit.lowering import ResolvedPipeline
from twinjit.pipeline import Pipeline
from twinjit.plain import error_to_plain
from twinjit.workers import answers, jobs
from twinjit.workers.messages import BrokenMessage, Message

RESOLVED = ResolvedPipeline(Pipeline("std", "canonicalize", "x"), (("a", "b"),), "", True)
READ = {
    "fingerprint": "00ff",
    "why_unknown": "",
    "phases": {"parse": 0.5},
    "resolved": jobs.resolved_to_plain(RESOLVED),
    "types": ["i8"],
}
UNRESOLVED: dict[str, Any] = {
    **{name: value for name, value in READ.items() if name != "resolved"},
    "unresolved": error_to_plain(ParseError("x")),
}
BUILT = {"phases": {"codegen": 1}, "retires": False}
NONSENSE: tuple[Any, ...] = (None, 5, "x", [], [5], {}, {"x": []}, True)


def through(header: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(header))
    return made


def test_answers_are_read() -> None:
    read = answers.understood(Message(through(READ), [b"c"]), answers.Read.of)
    assert isinstance(read, answers.Read)
    assert (read.fingerprint, read.resolved, read.phases) == (b"\x00\xff", RESOLVED, {"parse": 0.5})
    assert (read.constants.types, read.constants.contents) == (("i8",), (b"c",))
    built = answers.understood(Message(through(BUILT), [b"e"]), answers.Built.of)
    assert built == answers.Built(b"e", {"codegen": 1.0}, False)
    assert answers.understood(Message({"verdict": "refuted"}), answers.read_verdict) == "refuted"
    error = answers.understood(
        Message({"error": error_to_plain(ParseError("no"))}), answers.Read.of
    )
    assert type(error) is ParseError
    failure = answers.understood(Message({"failure": "Traceback"}), answers.Read.of)
    assert type(failure) is ExecutorError


@pytest.mark.parametrize(
    ("header", "sections", "read"),
    [
        (READ, [b"c"], answers.Read.of),
        (UNRESOLVED, [b"c"], answers.Read.of),
        (BUILT, [b"e"], answers.Built.of),
        ({"verdict": "unknown"}, [], answers.read_verdict),
        ({"retires": True}, [], answers.read_end),
        ({"error": error_to_plain(ParseError("x"))}, [], answers.read_end),
    ],
)
def test_nonsense_is_told_in_one_way(header: dict[str, Any], sections: Any, read: Any) -> None:
    """Whatever takes the place of a field, or of all that is in it; and fields that are missing."""
    for name in header:
        rest = {key: value for key, value in header.items() if key != name}
        for value in NONSENSE:
            with suppress(BrokenMessage):  # some are answers
                answers.understood(Message({**through(rest), name: value}, sections), read)
        with pytest.raises(BrokenMessage):
            answers.understood(Message(through(rest), sections), read)
    if read in (answers.Read.of, answers.Built.of):
        for others in ([], [*sections, b"more"]):
            with pytest.raises(BrokenMessage):
                answers.understood(Message(through(header), others), read)
