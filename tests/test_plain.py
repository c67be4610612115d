from __future__ import annotations

import copy
import copyreg
import json
from dataclasses import asdict
from typing import Any

import pytest

from twinjit import errors
from twinjit.errors import CompilerCrashed, Diagnostic, ParseError, TwinjitError
from twinjit.plain import error_from_plain, error_to_plain

NOTES = (Diagnostic("note", "because", "b.mlir", 1, 2),)
DIAGNOSTICS = (Diagnostic("error", "no", "a.mlir", 3, 4, "x\n^", NOTES), Diagnostic("warning", "x"))


def _kinds() -> list[type[TwinjitError]]:
    kinds = [vars(errors)[name] for name in errors.__all__]
    return [kind for kind in kinds if issubclass(kind, TwinjitError)]


@pytest.mark.parametrize("kind", _kinds())
def test_every_error_comes_back(kind: type[TwinjitError]) -> None:
    error = kind("what and why", diagnostics=DIAGNOSTICS)
    back = error_from_plain(json.loads(json.dumps(error_to_plain(error))))
    assert type(back) is kind
    assert (back.message, back.diagnostics, str(back)) == (
        error.message,
        error.diagnostics,
        str(error),
    )


@pytest.mark.parametrize("kind", _kinds())
def test_every_error_is_copied_whatever_others_registered(kind: type[TwinjitError]) -> None:
    """As tblib does it, which Dask loads."""

    def refuse(error: object) -> str:
        raise AssertionError(f"asked to copy {error!r}")

    error = kind("what and why", diagnostics=DIAGNOSTICS)
    before = copyreg.dispatch_table.get(kind)
    copyreg.pickle(kind, refuse)
    try:
        raise error
    except TwinjitError:
        back = copy.copy(error)
    finally:
        del copyreg.dispatch_table[kind]
        if before:
            copyreg.dispatch_table[kind] = before
    assert type(back) is kind
    assert (str(back), back.args, vars(back)) == (str(error), error.args, vars(error))
    assert back.__traceback__ is None


def test_a_class_of_others_goes_as_the_nearest() -> None:
    class Mine(ParseError):
        pass

    assert type(error_from_plain(error_to_plain(Mine("x")))) is ParseError


def _with(diagnostic: Diagnostic, **fields: object) -> dict[str, Any]:
    return {
        "class": "ParseError",
        "message": "",
        "diagnostics": [{**asdict(diagnostic), **fields}],
        "attributes": {},
    }


def _nested(depth: int) -> list[dict[str, Any]]:
    notes: list[dict[str, Any]] = []
    for _ in range(depth):
        notes = [{**asdict(Diagnostic("note", "x")), "notes": notes}]
    return notes


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"class": "Diagnostic", "message": "", "diagnostics": [], "attributes": {}},
        {"class": "CacheWarning", "message": "", "diagnostics": [], "attributes": {}},
        {"class": "dataclass", "message": "", "diagnostics": [], "attributes": {}},
        {"class": "ParseError", "message": "", "diagnostics": [{"severity": "error"}]},
        {"class": "ParseError", "message": "", "diagnostics": None},
        {"class": "ParseError", "message": "", "diagnostics": [], "attributes": {"x": 1}},
        {"class": ["ParseError"], "message": "", "diagnostics": [], "attributes": {}},
        {"class": "ParseError", "message": 5, "diagnostics": [], "attributes": {}},
        {"class": "ParseError", "message": "", "diagnostics": [], "attributes": []},
        {"class": "CompilerCrashed", "message": "", "diagnostics": [], "attributes": {"phase": 5}},
        _with(Diagnostic("error", "x"), line="1"),
        _with(Diagnostic("error", "x"), message=None),
        _with(Diagnostic("error", "x"), notes="none"),
        _with(Diagnostic("error", "x"), notes=[3]),
        _with(Diagnostic("error", "x"), notes=_nested(5000)),
    ],
)
def test_what_is_none(data: object) -> None:
    with pytest.raises(ValueError, match="not an error"):
        error_from_plain(data)


def test_notes_of_python_are_left_behind() -> None:
    error = ParseError("x")
    error.__dict__["__notes__"] = ["what add_note() keeps"]
    assert vars(error_from_plain(error_to_plain(error))) == vars(ParseError("x"))


def test_attributes_of_a_crash() -> None:
    crash = CompilerCrashed("x", signal="SIGSEGV", phase="passes", output="o", reproducer="/r")
    back = error_from_plain(error_to_plain(crash))
    assert isinstance(back, CompilerCrashed)
    assert (back.signal, back.phase, back.output, back.reproducer) == (
        "SIGSEGV",
        "passes",
        "o",
        "/r",
    )
