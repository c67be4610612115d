"""Random policies, and which of two merges more."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import strategies as st

from twinjit import Policy

LOOSEST = Policy(
    private_symbols="rename",
    symbol_order="ignore",
    discardable="ignore",
    commutative="ignore",
    module_name="ignore",
    constants="lift",
)
"""Merges all that a policy can."""

policies = st.builds(
    Policy,
    locations=st.sampled_from(["ignore", "keep"]),
    private_symbols=st.sampled_from(["keep", "rename"]),
    symbol_order=st.sampled_from(["keep", "ignore"]),
    discardable=st.sampled_from(["keep", "ignore"])
    | st.sets(st.sampled_from(["t.added", "x.y", "a", "arith.tag"])),
    commutative=st.sampled_from(["keep", "ignore"]),
    module_name=st.sampled_from(["keep", "ignore"]),
    constants=st.sampled_from(["content", "lift"]),
    lift_bytes=st.sampled_from([1, 8, 64]),
)


def either(a: Policy, b: Policy) -> Policy:
    """A policy that ignores what either does."""
    return Policy(
        locations="ignore" if "ignore" in (a.locations, b.locations) else "keep",
        private_symbols="rename" if "rename" in (a.private_symbols, b.private_symbols) else "keep",
        symbol_order="ignore" if "ignore" in (a.symbol_order, b.symbol_order) else "keep",
        discardable=_union(a.discardable, b.discardable),
        commutative="ignore" if "ignore" in (a.commutative, b.commutative) else "keep",
        module_name="ignore" if "ignore" in (a.module_name, b.module_name) else "keep",
        constants="lift" if "lift" in (a.constants, b.constants) else "content",
        lift_bytes=min(policy.lift_bytes for policy in (a, b) if policy.constants == "lift")
        if "lift" in (a.constants, b.constants)
        else a.lift_bytes,
    )


def _union(a: str | Collection[str], b: str | Collection[str]) -> str | Collection[str]:
    if "ignore" in (a, b):
        return "ignore"
    if isinstance(a, str):
        return b
    return a if isinstance(b, str) else {*a, *b}
