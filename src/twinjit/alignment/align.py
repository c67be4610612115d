"""Pairing the nodes of two trees: which node of the one is which of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from twinjit.alignment.lists import increasing, pair_lists
from twinjit.alignment.moves import pair_moved
from twinjit.alignment.pairing import NONE, Expectation, Pairing
from twinjit.alignment.symbols import pair_symbols
from twinjit.alignment.tree import ROOT, Tree
from twinjit.alignment.votes import Vote, expect, vote, vote_of_unique

__all__ = ["align", "alignments"]

_MOST_ROUNDS = 3
_MOST_WORK = 8  # comparisons for each node


def alignments(left: Tree, right: Tree) -> Iterator[tuple[Pairing, Mapping[Vote, int]]]:
    """Give alignments of two trees, to choose from.

    The first goes by what the nodes are and by the definitions before them. Where these are alike
    and only their users tell them apart, a later one may be better: it goes by what is referred to
    by nodes that are unique, or by those that the alignment before paired.

    Yields
    ------
    Pairing, Mapping
        The alignment, and how often paired nodes refer to each pair of definitions.
    """
    pairing = align(left, right, Expectation())
    votes = vote(pairing)
    yield pairing, votes
    expected = expect(pairing, vote_of_unique(left, right)) or expect(pairing, votes)
    if pairing.work > _MOST_WORK * (len(left.records) + len(right.records)):
        return  # so little is the same that users tell nothing
    for _ in range(_MOST_ROUNDS):
        if expected is None:
            return
        pairing = align(left, right, expected)
        votes = vote(pairing)
        yield pairing, votes
        expected = expect(pairing, votes)


def align(left: Tree, right: Tree, expected: Expectation) -> Pairing:
    """Pair the nodes of two trees, parents before children.

    Children of partners are paired by name, then in order by what they are, then out of order by
    being the same.
    """
    pairing = Pairing(left, right, expected)
    _pair_below(pairing, [(ROOT, ROOT)])
    for _ in range(_MOST_ROUNDS):
        moved = pair_moved(pairing)
        _pair_below(pairing, moved)
    return pairing


def _pair_below(pairing: Pairing, pairs: list[tuple[int, int]]) -> None:
    """Pair the descendants of partners."""
    while pairs:
        a, b = pairs.pop()
        if a != ROOT and pairing.identical(a, b):
            pairing.pair_subtrees(a, b)
            continue
        children, others = pairing.left.children[a], pairing.right.children[b]
        if not (children and others):
            continue
        _pair_children(pairing, children, others)
        pairs.extend(
            (child, pairing.a[child]) for child in reversed(children) if pairing.a[child] != NONE
        )


def _pair_children(pairing: Pairing, a: list[int], b: list[int]) -> None:
    left, right = pairing.left, pairing.right
    alone = len(a) == len(b) == 1
    if alone and left.parent[a[0]] == ROOT and left.sort[a[0]] == right.sort[b[0]]:
        pairing.pair(a[0], b[0])  # what was handed in is compared, whatever its name
        return
    if not any(left.records[node].symbol for node in a):
        pair_lists(pairing, a, [node for node in b if not right.records[node].symbol])
        return
    pair_symbols(pairing, a, b)
    for gap_a, gap_b in list(_gaps(pairing, a, b)):
        pair_lists(pairing, gap_a, gap_b)


def _gaps(pairing: Pairing, a: list[int], b: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Give the nodes that are no symbols, between the symbols that kept their order."""
    left, right = pairing.left, pairing.right
    places = {node: y for y, node in enumerate(b)}
    named = [(x, places[pairing.a[node]]) for x, node in enumerate(a) if pairing.a[node] != NONE]
    kept = increasing([y for _, y in named])
    fixed = [pair for place, pair in enumerate(named) if place in kept]
    x0 = y0 = 0
    for x, y in [*fixed, (len(a), len(b))]:
        yield (
            [node for node in a[x0:x] if not left.records[node].symbol],
            [node for node in b[y0:y] if not right.records[node].symbol],
        )
        x0, y0 = x + 1, y + 1
