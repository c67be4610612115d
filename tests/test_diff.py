"""Diffs of programs: each edit is told once, at its place."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.outlines import Node, block, func, module, records
from tests.programs_to_edit import EDITS, edit, programs
from twinjit.diff import Diff, Difference, diff_outlines

_MIRRORED = {"inserted": "removed", "removed": "inserted"}


def diff(a: Node, b: Node) -> Diff:
    return diff_outlines(records(a), records(b, seed=1))


def the_only(a: Node, b: Node) -> Difference:
    found = diff(a, b)
    assert len(found) == 1, str(found)
    return found[0]


def straight(*operations: Node) -> Node:
    return module(func("f", block(*operations)))


def mirrored(each: Difference) -> tuple:
    kind = _MIRRORED.get(each.kind, each.kind)
    return kind, each.path_b, each.path_a, each.b, each.a, each.location_b, each.location_a


def as_tuple(each: Difference) -> tuple:
    return (
        *(each.kind, each.path_a, each.path_b, each.a, each.b),
        *(each.location_a, each.location_b),
    )


@given(programs(), st.integers(0, 99))
def test_numbers_of_identities_do_not_matter(program, seed):
    assert not diff_outlines(records(program), records(program, seed))


@given(programs(), st.integers(0, 2**32), st.booleans())
def test_one_edit_is_one_difference(program, seed, digests):
    rng = random.Random(seed)
    before = records(program, digests=digests)
    place = edit(program, rng.choice(EDITS), rng)
    assume(place is not None)
    found = diff_outlines(before, records(program, seed, digests=digests))
    assert len(found) == 1, str(found)
    kind, name = place
    assert found[0].kind in kind
    assert name in found[0].place


@given(programs(), st.integers(0, 2**32), st.integers(2, 5))
def test_no_more_differences_than_edits(program, seed, count):
    rng = random.Random(seed)
    before = records(program)
    done = [edit(program, rng.choice(EDITS), rng) for _ in range(count)]
    found = diff_outlines(before, records(program, seed))
    assert len(found) <= sum(each is not None for each in done), str(found)


@given(programs(), programs(), st.integers(0, 2**32))
def test_a_diff_mirrors(one, other, seed):
    a, b = records(one), records(other)
    there = diff_outlines(a, b)
    assert Counter(map(mirrored, there)) == Counter(map(as_tuple, diff_outlines(b, a)))
    again = diff_outlines(records(one, seed), records(other, seed + 1))
    assert again.to_data() == there.to_data()
