"""The fewest edits between two lists of nodes, found along paths that remember what they paired.

Whether two nodes are the same depends on what their operands were paired with, so each path through
the edit graph carries its own pairs, and a path that has run along equal nodes for long enough is
taken for good. That keeps the work proportional to the edits that lie close together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    `x` is the place in the left list, `start` where the path came to this diagonal, `slid` how many
    equal nodes it ended with.
    """

    x: int
    start: int
    before: _Run | None
    slid: int


class EditWalk:
    """Pairs the nodes of two lists from left to right.

    Parameters
    ----------
    pairing
        Gets the pairs.
    may_change
        Tells whether two nodes may be one node changed.
    a, b
        The lists.
    """

    def __init__(
        self,
        pairing: Pairing,
        may_change: Callable[[int, int], bool],
        a: Sequence[int],
        b: Sequence[int],
    ) -> None:
        self._pairing = pairing
        self._may_change = may_change
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
        start = _Front(self.x, self.x, None, 0)
        fronts = {self.x - self.y: self._slide(self.x - self.y, start)}
        finished: tuple[int, int] | None = None  # edits in all, diagonal
        for edits in range(most_edits + 1):
            if edits:
                fronts = self._next(fronts)
            finished = min(filter(None, (finished, self._finish(fronts, edits))), default=None)
            if finished and finished[0] <= edits + 1:
                return self._take(fronts, finished[1], end=True)
            diagonal = max(fronts, key=lambda k: (fronts[k].slid, -abs(k)))
            if fronts[diagonal].slid >= _CERTAIN:
                return self._take(fronts, diagonal)
        if not force:
            return False
        if finished:
            return self._take(fronts, finished[1], end=True)
        return self._take(fronts, max(fronts, key=lambda k: (2 * fronts[k].x - k, -abs(k))))

    def _finish(self, fronts: dict[int, _Front], edits: int) -> tuple[int, int] | None:
        """Return the edits that the best path needs in all that has used up one of the lists."""
        left, right = len(self._a), len(self._b)
        return min(
            (
                (edits + left - front.x + right - (front.x - diagonal), diagonal)
                for diagonal, front in fronts.items()
                if front.x == left or front.x - diagonal == right
            ),
            default=None,
        )

    def _next(self, fronts: dict[int, _Front]) -> dict[int, _Front]:
        """Make one more edit on every path; keep the farthest on each diagonal."""
        found: dict[int, _Front] = {}
        left, right = len(self._a), len(self._b)
        for diagonal, front in fronts.items():
            x, y = front.x, front.x - diagonal
            if x < left and y < right and self._may_change(self._a[x], self._b[y]):
                _keep(found, diagonal, _Front(x + 1, front.start, front.before, 0))
            run = _Run(front.start, x, diagonal, front.before)
            if x < left:
                _keep(found, diagonal + 1, _Front(x + 1, x + 1, run, 0))
            if y < right:
                _keep(found, diagonal - 1, _Front(x, x, run, 0))
        for diagonal, front in fronts.items():  # a path that cannot go on stays what it was
            _keep(found, diagonal, front)
        return {diagonal: self._slide(diagonal, front) for diagonal, front in found.items()}

    def _slide(self, diagonal: int, front: _Front) -> _Front:
        """Go on along equal nodes."""
        x, y = front.x, front.x - diagonal
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

    def _take(self, fronts: dict[int, _Front], diagonal: int, *, end: bool = False) -> bool:
        """Pair what a path paired; go on behind it, or at the end of the lists."""
        front = fronts[diagonal]
        run: _Run | None = _Run(front.start, front.x, diagonal, front.before)
        while run is not None:
            for x in range(run.start, run.end):
                self._pairing.pair(self._a[x], self._b[x - run.diagonal])
            run = run.before
        moved = front.x > self.x or front.x - diagonal > self.y
        self.x, self.y = front.x, front.x - diagonal
        if end:
            self.x, self.y = len(self._a), len(self._b)
        return moved or end


def _keep(fronts: dict[int, _Front], diagonal: int, front: _Front) -> None:
    known = fronts.get(diagonal)
    if known is None or front.x > known.x:
        fronts[diagonal] = front
