"""What the references of paired nodes say about which definitions belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from twinjit.alignment.pairing import NONE, Expectation, Pairing
from twinjit.alignment.tree import FREE, Tree

__all__ = ["Vote", "elect", "expect", "vote", "vote_of_unique"]

_Key = TypeVar("_Key")


class Vote(NamedTuple):
    """Two definitions that paired nodes refer to in the same place: node and slot, left and right.

    The columns are those of `Tree.targets` and `Tree.slots`.
    """

    target: int
    slot: int
    other: int
    other_slot: int


def vote(pairing: Pairing) -> Counter[Vote]:
    """Count how often paired nodes refer to each pair of definitions in the same place."""
    return Counter(map(Vote._make, _votes(pairing)))


def vote_of_unique(left: Tree, right: Tree) -> Counter[Vote]:
    """Count the same for the nodes whose shapes are unique in either tree, paired by shape."""
    counts_a, counts_b = Counter(left.shape), Counter(right.shape)
    places = {shape: b for b, shape in enumerate(right.shape)}
    return Counter(
        Vote._make(each)
        for a, shape in enumerate(left.shape)
        if left.targets[a] and counts_a[shape] == 1 == counts_b[shape]
        for each in _references(left, a, right, places[shape])
    )


def elect(votes: Mapping[tuple[_Key, _Key], int]) -> dict[_Key, _Key]:
    """Return a one-to-one relation that the most votes are for, nearly: the first choices first."""
    elected: dict[_Key, _Key] = {}
    taken: set[_Key] = set()
    for one, other in sorted(votes, key=lambda pair: -votes[pair]):
        if one not in elected and other not in taken:
            elected[one] = other
            taken.add(other)
    return elected


def expect(pairing: Pairing, votes: Mapping[Vote, int]) -> Expectation | None:
    """Say which nodes should be partners for references to agree.

    Returns
    -------
    Expectation or None
        None if all votes are for what is paired.
    """
    by_nodes: Counter[tuple[int, int]] = Counter()
    for (target, _, other, _), count in votes.items():
        if target != FREE != other and _may_be_partners(pairing, target, other):
            by_nodes[target, other] += 2 * count
    for target, other in by_nodes:
        by_nodes[target, other] += pairing.a[target] == other  # stays, if as many are for it
    to_b = elect(dict(sorted(by_nodes.items())))
    if all(pairing.a[target] == other for target, other in to_b.items()):
        return None
    return Expectation(to_b, {other: target for target, other in to_b.items()})


def _may_be_partners(pairing: Pairing, a: int, b: int) -> bool:
    """Tell whether two nodes are the same, or changed where neither has one that is the same."""
    left, right = pairing.left, pairing.right
    if left.shape[a] == right.shape[b]:
        return True
    return (
        left.sort[a] == right.sort[b]
        and (pairing.a[a] == NONE or left.shape[a] != right.shape[pairing.a[a]])
        and (pairing.b[b] == NONE or left.shape[pairing.b[b]] != right.shape[b])
    )


def _votes(pairing: Pairing) -> Iterator[tuple[int, int, int, int]]:
    left, right = pairing.left, pairing.right
    for a, b in enumerate(pairing.a):
        if b == NONE or not left.targets[a]:
            continue
        if left.local[a] == right.local[b]:
            yield from _references(left, a, right, b)
            continue
        others = _by_field(right, b)
        for field, references in _by_field(left, a).items():
            for one, other in zip(references, others.get(field, ()), strict=False):
                yield (*one, *other)


def _references(left: Tree, a: int, right: Tree, b: int) -> Iterator[tuple[int, int, int, int]]:
    """Give the references of two nodes of one shape side by side."""
    return zip(left.targets[a], left.slots[a], right.targets[b], right.slots[b], strict=True)


def _by_field(tree: Tree, node: int) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Return the definitions that each field refers to, by its name and how many they are."""
    references = zip(tree.targets[node], tree.slots[node], strict=True)
    return {
        (name, len(refers)): [next(references) for _ in refers]
        for name, _, _, refers in tree.fields[node]
    }
