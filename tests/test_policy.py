"""Policies: their settings, canonical text, and what each merges."""

from __future__ import annotations

from typing import Any

import mlir.ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinjit
from twinjit._native import _mlir
from twinjit.errors import PolicyError
from twinjit.policy import Policy

settings = st.fixed_dictionaries(
    {},
    optional={
        "locations": st.sampled_from(["ignore", "keep"]),
        "private_symbols": st.sampled_from(["keep", "rename"]),
        "symbol_order": st.sampled_from(["keep", "ignore"]),
        "discardable": st.sampled_from(["keep", "ignore"])
        | st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
        "commutative": st.sampled_from(["keep", "ignore"]),
        "module_name": st.sampled_from(["keep", "ignore"]),
        "constants": st.sampled_from(["content", "lift"]),
        "lift_bytes": st.integers(1, 2**63 - 1),
    },
)


@given(settings)
def test_text_is_canonical(given: dict[str, Any]) -> None:
    policy = Policy.from_settings(given)
    assert Policy.from_text(policy.text).text == policy.text
    twinjit.fingerprint("module {}", policy)  # the native core reads it


def test_default_text() -> None:
    assert Policy().text == (
        '{"commutative":"keep","constants":"content","discardable":"keep","locations":"ignore",'
        '"module_name":"keep","private_symbols":"keep","symbol_order":"keep"}'
    )


def test_names_are_a_set() -> None:
    assert Policy(discardable=["b.x", "a.y", "b.x"]) == Policy(discardable={"a.y", "b.x"})
    assert Policy(discardable=["b.x", "a.y"]).text == Policy(discardable=["a.y", "b.x"]).text
    assert '"discardable":["a.y","b.x"]' in Policy(discardable=["b.x", "a.y"]).text


@pytest.mark.parametrize(
    "bad",
    [
        {"locations": "yes"},
        {"private_symbols": None},
        {"discardable": "all"},
        {"discardable": [""]},
        {"discardable": [1]},
        {"discardable": b"x"},
        {"discardable": ["\ud800"]},
        {"discardable": 7},
        {"lift_bytes": 0},
        {"lift_bytes": True},
        {"lift_bytes": 1 << 63},
        {"colour": "red"},
    ],
    ids=str,
)
def test_bad_settings(bad: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match=next(iter(bad))):
        Policy.from_settings(bad)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a":1}', "1"])
def test_bad_text(text: str) -> None:
    with pytest.raises(PolicyError):
        Policy.from_text(text)
    with pytest.raises(PolicyError):
        _mlir.fingerprint(_mlir.parse(b"module {}", "m"), text)


def test_each_policy_has_fingerprints_of_its_own() -> None:
    policies = [
        Policy(),
        Policy(locations="keep"),
        Policy(private_symbols="rename"),
        Policy(symbol_order="ignore"),
        Policy(discardable="ignore"),
        Policy(discardable=["a.b"]),
        Policy(commutative="ignore"),
        Policy(module_name="ignore"),
        Policy(constants="lift"),
        Policy(constants="lift", lift_bytes=7),
    ]
    assert len({twinjit.fingerprint("module {}", policy) for policy in policies}) == len(policies)


class TestModuleName:
    POLICY = Policy(module_name="ignore")

    def same(self, a: str, b: str) -> bool:
        same = twinjit.equivalent(a, b, self.POLICY)
        one, two = (twinjit.fingerprint(text, self.POLICY) for text in (a, b))
        assert same == (one == two)
        return same

    def test_of_the_root_only(self) -> None:
        assert self.same("module @a {}", "module {}")
        assert self.same("module @a { module @x {} }", "module @b { module @x {} }")
        # Also where the root and a module in it have one name.
        assert not self.same("module @a { module @a {} }", "module @a { module @b {} }")

    def test_a_function_alone_is_its_module(self) -> None:
        module = ir.Module.parse("module @q { func.func @f() { return } }", ir.Context())
        function = module.body.operations[0]
        assert twinjit.equivalent(module, function, self.POLICY)
        assert twinjit.fingerprint(module, self.POLICY) == twinjit.fingerprint(
            function, self.POLICY
        )
        assert not twinjit.equivalent(module, function)


@pytest.mark.parametrize("policy", ["ignore", {"locations": "keep"}, {}, "", 0])
def test_only_a_policy_is_one(policy: Any) -> None:
    for use in (twinjit.fingerprint, lambda text, it: twinjit.equivalent(text, text, it),
                lambda text, it: twinjit.diff(text, text, it)):  # fmt: skip
        with pytest.raises(PolicyError, match=r"give a twinjit\.Policy or None"):
            use("module {}", policy)
