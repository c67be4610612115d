"""MLIR programs as trees of nodes: what a diff compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import twinjit
from tests.live_programs import PROGRAMS, parse
from twinjit._native import _mlir
from twinjit.errors import UnfingerprintableError
from twinjit.outline import Record
from twinjit.outline import records as named

CASES = json.loads((Path(__file__).parent / "cases" / "identity.json").read_text())

DEFAULT = twinjit.Policy()
RENAME = twinjit.Policy(private_symbols="rename")


def outline(text: str, policy: twinjit.Policy = DEFAULT) -> list[Record]:
    module = parse(text)  # a capsule does not keep it alive
    return named(_mlir.outline(module.operation._CAPIPtr, policy.text))


def shape(records: list[Record]) -> list[Any]:
    """What counts: all but texts, places, digests of subtrees, and the numbers of identities."""
    numbers: dict[int, int] = {}

    def number(identity: int) -> int:
        return numbers.setdefault(identity, len(numbers))

    return [
        (
            *record[:4],
            [(f.name, f.digest, [number(each) for each in f.references]) for f in record.fields],
            [number(identity) for identity, _ in record.defines],
        )
        for record in records
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_same_shape_exactly_if_equivalent(case: dict[str, Any]) -> None:
    policy = twinjit.Policy.from_settings(case["policy"])
    a, b = (shape(outline(case[side], policy)) for side in "ab")
    assert (a == b) == (case["expect"] == "equal")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_each_context_gives_the_same(path: Path) -> None:
    assert outline(path.read_text()) == outline(path.read_text())


def find(records: list[Record], label: str) -> Record:
    (found,) = [record for record in records if record.label == label]
    return found


def test_nodes() -> None:
    records = outline("""
        func.func @f(%c: i1) -> i32 {
          %0 = arith.constant 7 : i32
          cf.cond_br %c, ^bb1(%0 : i32), ^bb2
        ^bb1(%x: i32):
          return %x : i32
        ^bb2:
          return %0 : i32
        }""")
    assert [(r.depth, r.kind) for r in records[:6]] == [
        (0, "operation"),
        (1, "region"),
        (2, "block"),
        (3, "operation"),
        (4, "region"),
        (5, "block"),
    ]
    assert records[3].label == "func.func"
    assert records[3].symbol == "f"
    assert records[3].location.endswith(":2:9")
    constant = find(records, "arith.constant")
    assert [(f.name, f.text) for f in constant.fields] == [
        ("attribute value", "7 : i32"),
        ("result 0 type", "i32"),
    ]
    branch = {field.name: field for field in find(records, "cf.cond_br").fields}
    assert branch["operand 1"].references == (constant.defines[0][0],)
    assert branch["successor 0"].text == "^bb1"


def test_a_renamed_symbol_is_an_identity() -> None:
    text = """
        func.func private @p() { return }
        func.func @f() { call @p() : () -> () return }"""
    callee = find(outline(text, RENAME), "func.call").fields[0]
    private = next(r for r in outline(text, RENAME) if r.label == "func.func")
    assert private.symbol == ""
    assert [(callee.references[0], "@p")] == list(private.defines)
    assert find(outline(text), "func.call").fields[0].references == ()


def test_a_function_that_stands_for_itself_has_a_digest() -> None:
    text = """
        func.func private @p() { return }
        func.func @f() { call @p() : () -> () return }"""
    digests = {r.symbol: r.digest for r in outline(text) if r.label == "func.func"}
    assert {name: len(digest) for name, digest in digests.items()} == {"p": 32, "f": 32}
    # Which function @p is depends on the program, where names do not count.
    renamed = [r.digest for r in outline(text, RENAME) if r.label == "func.func"]
    assert [len(digest) for digest in renamed] == [32, 0]


def test_the_bytes_of_a_resource_are_told() -> None:
    text = """
        "t.o"() {a = dense_resource<k> : tensor<2xi32>} : () -> ()
        {-# dialect_resources: { builtin: { k: "0x040000000100000002000000" } } #-}"""
    assert "8 bytes aligned to 4" in find(outline(text), "t.o").fields[0].text


def test_long_values_are_cut() -> None:
    text = f'"t.o"() {{a = "{"é" * 50_000}"}} : () -> ()'
    field = find(outline(text), "t.o").fields[0]
    assert len(field.text) < 70_000
    assert field.text.endswith(" bytes)")


def test_what_has_no_identity_is_refused() -> None:
    text = '"t.o"() {a = dense_resource<k> : tensor<2xi32>} : () -> ()'
    with pytest.raises(UnfingerprintableError, match="resource 'k'"):
        outline(text)
