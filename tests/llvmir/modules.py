"""LLVM modules to compare, and what is asked of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.llvmir.compiled import outcome_of
from tests.strategies import LOOSEST
from twinjit._native import _llvm
from twinjit.policy import Policy

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.ll"))

DEFAULT = Policy()
KEEP_LOCATIONS = Policy(locations="keep")
POLICIES = {"default": DEFAULT, "locations": KEEP_LOCATIONS, "loosest": LOOSEST}

Source = str | bytes


def parse(source: Source) -> _llvm.Module:
    return _llvm.parse_module(source.encode() if isinstance(source, str) else source, "test.ll")


def fingerprint(source: Source, policy: Policy = DEFAULT) -> str:
    return parse(source).fingerprint(policy.text).hex()


def shape(module: _llvm.Module, policy: Policy = DEFAULT) -> list[Any]:
    """Return what is compared of an outline: all but texts, places and what identities are called.

    Digests are left out too, since they repeat what is below them.
    """
    return [
        (depth, kind, label, symbol, [(f[0], f[1], f[3]) for f in fields], [d[0] for d in defines])
        for depth, kind, label, symbol, _, _, fields, defines in module.outline(policy.text)
    ]


def are_same(a: Source, b: Source, **settings: Any) -> bool:
    """Whether two programs are the same; all answers must agree, and so must their code."""
    policy = Policy(**settings)
    first, second = parse(a), parse(b)
    same = first.equivalent(second, policy.text)
    assert second.equivalent(first, policy.text) == same
    assert (first.fingerprint(policy.text) == second.fingerprint(policy.text)) == same
    assert (shape(first, policy) == shape(second, policy)) == same
    if same:
        assert outcome_of(a, policy) == outcome_of(b, policy)
    return same


def printed(module: _llvm.Module) -> str:
    """Return the text of a module without the names of its file and of the module itself."""
    return re.sub(r"(?m)^(; ModuleID|source_filename) = .*\n", "", str(module))
