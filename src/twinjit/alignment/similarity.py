"""When two nodes that differ are the same node changed."""

from __future__ import annotations

from collections import Counter

from twinjit.alignment.pairing import Pairing

__all__ = ["changes", "likeness"]

_SIMILAR = 0.4  # the likeness from which two nodes are one changed
_SAME_SORTS = 0.6  # weighs less: every block has a terminator

_POSITIONAL = frozenset({"region"})
"""What has no identity but its place."""


def changes(pairing: Pairing, a: int, b: int, *, alone: bool = False) -> int:
    """Count roughly what changed if two nodes are one node changed; 0 if they are not.

    Parameters
    ----------
    pairing
        With the trees.
    a, b
        The nodes, which are not the same.
    alone
        Whether they are the only ones left in their place.
    """
    left, right = pairing.left, pairing.right
    if left.sort[a] != right.sort[b] or not pairing.expected.allows(a, b):
        return 0
    if left.records[a].kind in _POSITIONAL or (alone and not left.records[a].symbol):
        return 1
    if left.children[a] or right.children[b]:
        return int(likeness(pairing, a, b) >= _SIMILAR)
    if left.local[a] == right.local[b]:
        return 1
    same, fields = _same_fields(pairing, a, b)
    return max(1, fields - same) if 2 * same >= fields or fields - same <= 2 else 0


def likeness(pairing: Pairing, a: int, b: int) -> float:
    """Say how much of two nodes of one sort is the same, from 0 to 1."""
    left, right = pairing.left, pairing.right
    if left.body[a] == right.body[b] and left.end[a] - a > 2:  # more than an empty region
        return 1.0
    records_a, sorts_a = left.sketch(a)
    records_b, sorts_b = right.sketch(b)
    pairing.work += min(len(records_a), len(records_b))
    same, fields = _same_fields(pairing, a, b)
    if left.end[a] - a <= 2 >= right.end[b] - b:
        return same / fields if fields else 1.0
    alike = _overlap(records_a, records_b)
    return max(alike, _overlap(sorts_a, sorts_b) - (_SAME_SORTS - _SIMILAR))


def _overlap(a: Counter[int], b: Counter[int]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def _same_fields(pairing: Pairing, a: int, b: int) -> tuple[int, int]:
    """Count the fields that two nodes share, and those that they have in all."""
    fields_a, fields_b = pairing.left.fields[a], pairing.right.fields[b]
    if [field[0] for field in fields_a] == [field[0] for field in fields_b]:
        same = [one[1] == other[1] for one, other in zip(fields_a, fields_b, strict=True)]
        return sum(same), len(same)
    digests = {field[0]: field[1] for field in fields_a}
    same = [digests.get(field[0]) == field[1] for field in fields_b]
    return sum(same), len(digests.keys() | {field[0] for field in fields_b})
