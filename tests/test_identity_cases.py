"""Pairs of programs with the right answer: some of each kind, and then the whole kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlir.ir as ir
import pytest

import twinjit
from twinjit import Policy

FOLDER = Path(__file__).parent / "cases"
CASES = [
    pytest.param(case, id=case["name"])
    for name in ("identity.json", "identity-more.json")
    for case in json.loads((FOLDER / name).read_text())
]


def live(case: dict[str, Any], side: str) -> ir.Module:
    context = ir.Context()
    context.allow_unregistered_dialects = case["allow_unregistered"]
    with context:
        return ir.Module.parse(case[side])


@pytest.mark.parametrize("case", CASES)
def test_text(case: dict[str, Any]) -> None:
    policy = Policy(**case["policy"])
    options = {"allow_unregistered": case["allow_unregistered"]}
    a, b = (twinjit.fingerprint(case[side], policy, **options) for side in "ab")
    equal = case["expect"] == "equal"
    assert (a == b) == equal, case["why"]
    assert twinjit.equivalent(case["a"], case["b"], policy, **options) == equal
    assert twinjit.equivalent(case["b"], case["a"], policy, **options) == equal


@pytest.mark.parametrize("case", CASES)
def test_live(case: dict[str, Any]) -> None:
    policy = Policy(**case["policy"])
    a, b = live(case, "a"), live(case, "b")
    equal = case["expect"] == "equal"
    assert (twinjit.fingerprint(a, policy) == twinjit.fingerprint(b, policy)) == equal, case["why"]
    assert twinjit.equivalent(a, b, policy) == equal
    for side, module in (("a", a), ("b", b)):
        assert twinjit.equivalent(module, live(case, side), policy), "the same in another context"
