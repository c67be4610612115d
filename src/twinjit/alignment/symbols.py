"""Pairing by name: definitions that the program refers to, and those that were renamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from twinjit.alignment.pairing import NONE, Pairing
from twinjit.alignment.similarity import likeness
from twinjit.alignment.tree import Tree

__all__ = ["pair_symbols"]

_RENAMED = 0.5  # the likeness from which two symbols are one renamed
_MOST_COMPARED = 10_000  # pairs of symbols


def pair_symbols(pairing: Pairing, a: Sequence[int], b: Sequence[int]) -> None:
    """Pair the symbols of two lists of nodes by name; those left over, by what they contain."""
    named = {key: node for node, key in _named(pairing.right, b)}
    for node, key in _named(pairing.left, a):
        if key in named:
            pairing.pair(node, named[key])
    _pair_renamed(
        pairing,
        [node for node, _ in _named(pairing.left, a) if pairing.a[node] == NONE],
        [node for node, _ in _named(pairing.right, b) if pairing.b[node] == NONE],
    )


def _named(tree: Tree, nodes: Sequence[int]) -> Iterator[tuple[int, tuple[int, str, int]]]:
    """Give the nodes that are symbols; with the name, how often it was there before."""
    seen: Counter[tuple[int, str]] = Counter()
    for node in nodes:
        name = tree.sort[node], tree.records[node].symbol
        if name[1]:
            yield node, (*name, seen[name])
            seen[name] += 1


def _pair_renamed(pairing: Pairing, a: Sequence[int], b: Sequence[int]) -> None:
    scored = sorted(
        (-likeness(pairing, x, y), abs(place_a - place_b), x, y)
        for (place_a, x), (place_b, y) in _candidates(pairing, a, b)
    )
    for score, _, x, y in scored:
        if -score >= _RENAMED and pairing.a[x] == NONE == pairing.b[y]:
            pairing.pair(x, y)


_Placed = tuple[int, int]


def _candidates(
    pairing: Pairing, a: Sequence[int], b: Sequence[int]
) -> Iterator[tuple[_Placed, _Placed]]:
    """Give the pairs of a sort; of very many nodes only those with the same contents, in order."""
    left, right = pairing.left, pairing.right
    many = len(a) * len(b) > _MOST_COMPARED
    groups: dict[int, tuple[list[_Placed], list[_Placed]]] = defaultdict(lambda: ([], []))
    for place, node in enumerate(a):
        groups[left.body[node] if many else left.sort[node]][0].append((place, node))
    for place, node in enumerate(b):
        groups[right.body[node] if many else right.sort[node]][1].append((place, node))
    for nodes_a, nodes_b in groups.values():
        if many:
            yield from zip(nodes_a, nodes_b, strict=False)
        else:
            yield from ((x, y) for x in nodes_a for y in nodes_b)
