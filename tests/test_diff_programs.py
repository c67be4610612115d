"""Diffs of MLIR programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinjit
from tests.strategies import arith_programs, value_names
from twinjit.errors import ParseError, UnsupportedProgramError

CASES = json.loads((Path(__file__).parent / "cases" / "identity.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_diff_is_empty_exactly_if_programs_are_equivalent(case):
    policy = twinjit.Policy.from_settings(case["policy"])
    found = twinjit.diff(case["a"], case["b"], policy, allow_unregistered=True)
    assert bool(found) == (case["expect"] == "differ"), str(found)


@given(arith_programs(), arith_programs(), st.data())
def test_the_same_holds_for_random_programs(a, b, data):
    first, second = (each.render(data.draw(value_names(each.values))) for each in (a, b))
    assert bool(twinjit.diff(first, second)) != twinjit.equivalent(first, second)
    assert not twinjit.diff(first, a.render(data.draw(value_names(a.values))))


def test_one_operation_more_is_one_difference():
    body = "\n".join(f"  %{n + 1} = arith.addi %{n}, %{n} : i64" for n in range(200))
    text = f"func.func @f(%0: i64) -> i64 {{\n{body}\n  return %200 : i64\n}}"
    lines = text.splitlines()
    lines.insert(100, "  %more = arith.addi %7, %9 : i64")
    (found,) = twinjit.diff(text, "\n".join(lines))
    assert (found.kind, found.path_b[-1]) == ("inserted", "operation 99 (arith.addi)")
    assert found.location_b == "<text>:101:11"


def test_a_renamed_function_and_its_callers():
    text = "func.func @{0}() {{ return }}\nfunc.func @f() {{ call @{0}() : () -> () return }}"
    found = twinjit.diff(text.format("g"), text.format("h"))
    assert [(each.path_a[-1], each.a, each.b) for each in found] == [
        ("symbol", "g", "h"),
        ("attribute callee", "@g", "@h"),
    ]


def test_what_is_no_program():
    with pytest.raises(ParseError):
        twinjit.diff("", "oops")
    with pytest.raises(UnsupportedProgramError):
        twinjit.diff(1, "")
