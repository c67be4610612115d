"""Pairing what the lists' order left without partner: subtrees that are the same elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from twinjit.alignment.pairing import NONE, Pairing
from twinjit.alignment.tree import ROOT, Tree

__all__ = ["pair_moved"]

_MOST_CANDIDATES = 16
"""How many subtrees of one shape to look at for each."""

_MOST_COMPARED = 256
"""How many nodes of a subtree to look at."""


def pair_moved(pairing: Pairing) -> list[tuple[int, int]]:
    """Pair subtrees that are the same, references included, but in another place.

    Within a list, a node that was taken for another one changed goes to where it is the same. Nodes
    that are expected to be partners become partners even if they changed.

    Returns
    -------
    list
        The new pairs, whose descendants have no partners yet.
    """
    left, right = pairing.left, pairing.right
    waiting: dict[int, list[int]] = defaultdict(list)
    for b in list(_loose(right, left, pairing.b)):
        waiting[right.shape[b]].append(b)
    moved = []
    for a in list(_loose(left, right, pairing.a)):
        candidates = waiting.get(left.shape[a], [])
        b = _best(pairing, a, candidates[:_MOST_CANDIDATES])
        if b != NONE:
            candidates.remove(b)
        else:
            b = _expected(pairing, a)
        if b != NONE:
            _part_subtree(pairing, a)
            _part_subtree(pairing, pairing.b[b])
            pairing.pair(a, b)
            moved.append((a, b))
    return moved


def _loose(tree: Tree, other: Tree, partners: Sequence[int]) -> Iterator[int]:
    """Give the nodes without partner below one with a partner, and those that changed."""
    for node, parent in enumerate(tree.parent):
        partner = partners[node]
        if partner == NONE:
            if parent == ROOT or partners[parent] != NONE:
                yield node
        elif tree.shape[node] != other.shape[partner] and not tree.records[node].symbol:
            yield node


def _best(pairing: Pairing, a: int, candidates: Sequence[int]) -> int:
    """Return the candidate that is the same as a node, one in the same list if there is one."""
    found = NONE
    for b in candidates:
        pairing.work += 1
        near = _siblings(pairing, a, b)
        settled = pairing.a[a] == NONE == pairing.b[b]
        if (near or (settled and found == NONE)) and _same(pairing, a, b):
            if near:
                return b
            found = b
    return found


def _expected(pairing: Pairing, a: int) -> int:
    """Return the node that one without partner is expected to be, if that has none either."""
    b = pairing.expected.a.get(a, NONE)
    alone = b != NONE and pairing.a[a] == NONE == pairing.b[b]
    return b if alone and pairing.left.sort[a] == pairing.right.sort[b] else NONE


def _same(pairing: Pairing, a: int, b: int) -> bool:
    """Tell whether two subtrees of one shape are the same, as far as is known."""
    if not pairing.expected.allows(a, b):
        return False
    if pairing.identical(a, b):
        return True
    end = pairing.left.end[a]
    size = min(end - a, _MOST_COMPARED)
    pairing.work += size
    return all(pairing.refers_alike(a + place, b + place, (a, b, end)) for place in range(size))


def _siblings(pairing: Pairing, a: int, b: int) -> bool:
    parent_a, parent_b = pairing.left.parent[a], pairing.right.parent[b]
    return (parent_a == ROOT == parent_b) or (
        parent_a != ROOT and pairing.a[parent_a] == parent_b != ROOT
    )


def _part_subtree(pairing: Pairing, a: int) -> None:
    """Take the partners from a node, if it is one, and from all below it."""
    if a == NONE:
        return
    for node in range(a, pairing.left.end[a]):
        if pairing.a[node] != NONE:
            pairing.part(node)
