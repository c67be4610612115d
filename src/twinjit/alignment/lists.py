"""Pairing two lists of nodes in order, such as the operations of two blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import partial

from twinjit.alignment.edits import EditWalk
from twinjit.alignment.pairing import NONE, Pairing
from twinjit.alignment.similarity import changes
from twinjit.alignment.tree import FREE

__all__ = ["increasing", "pair_lists"]

_NEAR = 24
"""Edits to look ahead everywhere."""

_NEAREST = 4
"""The same where that found nothing in a row."""

_FAR = 256
"""Edits to look ahead where that does not do, until that has cost `_FAR_WORK` comparisons."""

_FAR_WORK = 150_000


def increasing(values: Sequence[int]) -> set[int]:
    """Return the places of a longest increasing subsequence of distinct values."""
    tails: list[int] = []  # by length: the least value that a subsequence ends with
    places: list[int] = []
    before = [NONE] * len(values)
    for place, value in enumerate(values):
        length = bisect_left(tails, value)
        if length == len(tails):
            tails.append(value)
            places.append(place)
        else:
            tails[length], places[length] = value, place
        if length:
            before[place] = places[length - 1]
    found = set()
    place = places[-1] if places else NONE
    while place != NONE:
        found.add(place)
        place = before[place]
    return found


def pair_lists(pairing: Pairing, a: list[int], b: list[int]) -> None:
    """Pair what is the same, or the same but changed, in two lists of nodes without partners."""
    gaps = [(a, b)]
    while gaps:
        a, b = _strip(pairing, *gaps.pop())
        if not a or not b:
            continue
        if len(a) == len(b) == 1:
            if changes(pairing, a[0], b[0], alone=True):
                pairing.pair(a[0], b[0])
            continue
        possible = _possible(pairing, a, b)
        if possible != (a, b):
            gaps.append(possible)
        else:
            gaps.extend(reversed(_pair_near(pairing, a, b)))


def _strip(pairing: Pairing, a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """Pair what two lists begin and end with; return what is left."""
    shorter = min(len(a), len(b))
    begin = 0
    while begin < shorter and pairing.matches(a[begin], b[begin]):
        pairing.pair(a[begin], b[begin])
        begin += 1
    end = 0
    claims = _Claims(pairing)
    while end < shorter - begin and claims.admit(a[-1 - end], b[-1 - end]):
        pairing.pair(a[-1 - end], b[-1 - end])
        end += 1
    return a[begin : len(a) - end], b[begin : len(b) - end]


class _Claims:
    """What nodes paired from the end say of the definitions before them."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._to_b: dict[int, int] = {}
        self._to_a: dict[int, int] = {}

    def admit(self, a: int, b: int) -> bool:
        """Tell whether two nodes match and contradict nothing; note what they refer to."""
        if not (self._agree(a, b) and self._pairing.matches(a, b)):
            return False
        pairing = self._pairing
        for target, other in zip(pairing.left.targets[a], pairing.right.targets[b], strict=True):
            if target == FREE or pairing.a[target] != NONE:
                continue
            if not self._agree(target, other):
                return False
            self._to_b[target], self._to_a[other] = other, target
        return True

    def _agree(self, a: int, b: int) -> bool:
        return self._to_b.get(a, b) == b and self._to_a.get(b, a) == a


def _possible(pairing: Pairing, a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """Leave out the nodes of sorts that only one of the lists has."""
    sorts_a, sorts_b = pairing.left.sort, pairing.right.sort
    common = {sorts_a[node] for node in a} & {sorts_b[node] for node in b}
    return (
        [node for node in a if sorts_a[node] in common],
        [node for node in b if sorts_b[node] in common],
    )


def _pair_near(pairing: Pairing, a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
    """Pair along paths of few edits; return the gaps that remain."""
    walk = EditWalk(pairing, partial(changes, pairing), a, b)
    split_at = len(a) + len(b)
    near = _NEAR
    begun = pairing.work
    while not walk.done:
        if walk.advance(near, force=False):
            near = _NEAR
            continue
        left = len(a) - walk.x + len(b) - walk.y
        if left <= split_at:
            split_at = left // 2  # what was not unique is still not, mostly
            gaps = _split(pairing, a[walk.x :], b[walk.y :])
            if gaps:
                return gaps
        far = pairing.work - begun < _FAR_WORK
        walk.advance(_FAR if far else near, force=True)
        near = max(near // 2, _NEAREST)
    return []


def _split(pairing: Pairing, a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
    """Pair the nodes whose shapes are unique in both lists; return the gaps between them."""
    shapes_a, shapes_b = pairing.left.shape, pairing.right.shape
    counts_a = Counter(shapes_a[node] for node in a)
    places = {shapes_b[node]: y for y, node in enumerate(b)}
    counts_b = Counter(shapes_b[node] for node in b)
    unique = [
        (x, places[shapes_a[node]])
        for x, node in enumerate(a)
        if counts_a[shapes_a[node]] == 1 == counts_b[shapes_a[node]]
        and pairing.expected.allows(node, b[places[shapes_a[node]]])
    ]
    pairing.work += len(a) + len(b)
    kept = increasing([y for _, y in unique])
    gaps = []
    x0 = y0 = 0
    for place, (x, y) in enumerate(unique):
        if place in kept:
            pairing.pair(a[x], b[y])
            gaps.append((a[x0:x], b[y0:y]))
            x0, y0 = x + 1, y + 1
    return [*gaps, (a[x0:], b[y0:])] if gaps else []
