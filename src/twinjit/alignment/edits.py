"""The fewest edits between two lists of nodes, found along paths that remember what they paired.

Whether two nodes are the same depends on what their operands were paired with, so each path through
the edit graph carries its own pairs, and a path that has run along equal nodes for long enough is
taken for good. That keeps the work proportional to the edits that lie close together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from twinjit.alignment.pairing import NONE, Pairing
from twinjit.alignment.tree import FREE

__all__ = ["EditWalk"]

_CERTAIN = 24  # equal nodes in a row after which a path is taken for good


class _Run(NamedTuple):
    """A stretch of a path along one diagonal: left ``[start, end)``, right minus `diagonal`."""

    start: int
    end: int
    diagonal: int
    before: _Run | None


class _Front(NamedTuple):
    """The farthest point that a number of edits reaches on a diagonal.

    `x` is the place in the left list, `start` where the path came to this diagonal, `changes` how
    much changed in the nodes on the path, `slid` how many equal nodes it ended with.
    """

    x: int
    start: int
    diagonal: int
    before: _Run | None
    changes: int
    slid: int

    @property
    def y(self) -> int:
        """The place in the right list."""
        return self.x - self.diagonal


class _Finish(NamedTuple):
    """A path that has used up one of the lists, and what it costs in all."""

    edits: int
    front: _Front


class EditWalk:
    """Pairs the nodes of two lists from left to right.

    Parameters
    ----------
    pairing
        Gets the pairs.
    changes
        Tells how much changed if two nodes are one node changed; 0 if they are not.
    a, b
        The lists.
    """

    def __init__(
        self,
        pairing: Pairing,
        changes: Callable[[int, int], int],
        a: Sequence[int],
        b: Sequence[int],
    ) -> None:
        self._pairing = pairing
        self._changes = changes
        self._a = a
        self._b = b
        self._place_a = {node: x for x, node in enumerate(a)}
        self._place_b = {node: y for y, node in enumerate(b)}
        self.x = 0
        self.y = 0

    @property
    def done(self) -> bool:
        """Whether one of the lists is used up."""
        return self.x == len(self._a) or self.y == len(self._b)

    def advance(self, most_edits: int, *, force: bool) -> bool:
        """Pair the next stretch of the lists.

        Parameters
        ----------
        most_edits
            How many edits to look ahead.
        force
            Whether to take the path that got farthest if none is certain.

        Returns
        -------
        bool
            Whether a path was taken.
        """
        start = _Front(self.x, self.x, self.x - self.y, None, 0, 0)
        fronts = {start.diagonal: self._slide(start)}
        finished: _Finish | None = None
        for edits in range(most_edits + 1):
            if edits:
                fronts = self._next(fronts)
            finished = _cheapest([*self._finish(fronts, edits), *filter(None, [finished])])
            if finished and finished.edits <= edits:
                return self._take(finished.front, end=True)
            best = max(fronts.values(), key=lambda front: (front.slid, -abs(front.diagonal)))
            if best.slid >= _CERTAIN:
                return self._take(best)
        if not force:
            return False
        if finished:
            return self._take(finished.front, end=True)
        return self._take(max(fronts.values(), key=lambda front: (front.x + front.y, front.x)))

    def _finish(self, fronts: dict[int, _Front], edits: int) -> Iterator[_Finish]:
        """Give the paths that have used up one of the lists."""
        left, right = len(self._a), len(self._b)
        for front in fronts.values():
            if front.x == left or front.y == right:
                yield _Finish(edits + left - front.x + right - front.y, front)

    def _next(self, fronts: dict[int, _Front]) -> dict[int, _Front]:
        """Make one more edit on every path; keep the farthest on each diagonal."""
        found: dict[int, _Front] = {}
        left, right = len(self._a), len(self._b)
        for diagonal, front in fronts.items():
            x, y = front.x, front.y
            changes = self._changes(self._a[x], self._b[y]) if x < left and y < right else 0
            if changes:
                _keep(found, front._replace(x=x + 1, changes=front.changes + changes, slid=0))
            run = _Run(front.start, x, diagonal, front.before)
            if x < left:
                _keep(found, _Front(x + 1, x + 1, diagonal + 1, run, front.changes, 0))
            if y < right:
                _keep(found, _Front(x, x, diagonal - 1, run, front.changes, 0))
        for front in fronts.values():  # a path that cannot go on stays what it was
            _keep(found, front)
        return {diagonal: self._slide(front) for diagonal, front in found.items()}

    def _slide(self, front: _Front) -> _Front:
        """Go on along equal nodes."""
        x, y = front.x, front.y
        left, right = len(self._a), len(self._b)
        while x < left and y < right and self._same(x, y, front):
            x += 1
            y += 1
        return front._replace(x=x, slid=front.slid + x - front.x)

    def _same(self, x: int, y: int, front: _Front) -> bool:
        pairing = self._pairing
        a, b = self._a[x], self._b[y]
        pairing.work += 1
        left, right = pairing.left, pairing.right
        if left.shape[a] != right.shape[b] or not pairing.expected.allows(a, b):
            return False
        if pairing.identical(a, b):
            return True
        for target, slot, other, other_slot in zip(
            left.targets[a], left.slots[a], right.targets[b], right.slots[b], strict=True
        ):
            if target == FREE or other == FREE:
                if target != other:
                    return False
            elif not self._same_target(target, other, x, y, front) or (
                slot != other_slot and pairing.defines_alike(target, other)
            ):
                return False
        return True

    def _same_target(self, target: int, other: int, x: int, y: int, front: _Front) -> bool:
        at_a, at_b = self._place_a.get(target, NONE), self._place_b.get(other, NONE)
        if at_a == NONE and at_b == NONE:
            return self._pairing.may_be_same(target, other)
        if at_a == NONE or at_b == NONE:
            return False
        if at_a < x:
            return self._partner(at_a, x - y, front) == at_b
        return at_b >= y and (at_a == x) == (at_b == y) and self._pairing.may_be_same(target, other)

    def _partner(self, x: int, diagonal: int, front: _Front) -> int:
        """Return the place that a path paired a place with."""
        if x >= front.start:
            return x - diagonal
        run = front.before
        while run is not None and x < run.start:
            run = run.before
        if run is not None:
            return x - run.diagonal if x < run.end else NONE
        return self._place_b.get(self._pairing.a[self._a[x]], NONE)

    def _take(self, front: _Front, *, end: bool = False) -> bool:
        """Pair what a path paired; go on behind it, or at the end of the lists."""
        run: _Run | None = _Run(front.start, front.x, front.diagonal, front.before)
        while run is not None:
            for x in range(run.start, run.end):
                self._pairing.pair(self._a[x], self._b[x - run.diagonal])
            run = run.before
        moved = front.x > self.x or front.y > self.y
        self.x, self.y = (len(self._a), len(self._b)) if end else (front.x, front.y)
        return moved or end


def _cheapest(paths: Sequence[_Finish]) -> _Finish | None:
    return min(paths, key=lambda path: (path.edits, path.front.changes), default=None)


def _keep(fronts: dict[int, _Front], front: _Front) -> None:
    known = fronts.get(front.diagonal)
    if known is None or (front.x, -front.changes) > (known.x, -known.changes):
        fronts[front.diagonal] = front
