"""Which nodes of two trees are the same, and what that says about references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinjit.alignment.tree import FREE, Tree

__all__ = ["NONE", "Expectation", "Pairing"]

NONE = -1
"""The partner of a node that has none."""


@dataclass(frozen=True)
class Expectation:
    """Which definitions should be paired, so that those that refer to them agree.

    Attributes
    ----------
    a, b
        By node of the one tree, the node of the other.
    """

    a: Mapping[int, int] = field(default_factory=dict)
    b: Mapping[int, int] = field(default_factory=dict)

    def allows(self, a: int, b: int) -> bool:
        """Tell whether nothing else is expected of either node."""
        return self.a.get(a, b) == b and self.b.get(b, a) == a


class Pairing:
    """A one-to-one relation between nodes of two trees.

    Attributes
    ----------
    left, right
        The trees.
    a, b
        By node of the left and of the right tree: its partner, or `NONE`.
    expected
        What earlier pairings say.
    work
        How many pairs of nodes were compared; what bounds the time.
    """

    def __init__(self, left: Tree, right: Tree, expected: Expectation) -> None:
        self.left = left
        self.right = right
        self.expected = expected
        self.a = [NONE] * len(left.records)
        self.b = [NONE] * len(right.records)
        self.work = 0

    def pair(self, a: int, b: int) -> None:
        """Make two nodes partners."""
        self.a[a] = b
        self.b[b] = a

    def part(self, a: int) -> None:
        """Take a node's partner from it."""
        self.b[self.a[a]] = NONE
        self.a[a] = NONE

    def pair_subtrees(self, a: int, b: int) -> None:
        """Pair the nodes of two subtrees that are the same program."""
        size = self.left.end[a] - a
        self.a[a : a + size] = range(b, b + size)
        self.b[b : b + size] = range(a, a + size)

    def identical(self, a: int, b: int) -> bool:
        """Tell whether two subtrees are known to be the same program."""
        digest = self.left.records[a].digest
        return (
            bool(digest)
            and digest == self.right.records[b].digest
            and self.left.end[a] - a == self.right.end[b] - b
        )

    def refers_alike(self, a: int, b: int, inside: tuple[int, int, int] = (0, 0, 0)) -> bool:
        """Tell whether the references of two nodes of one shape agree, as far as is known.

        Parameters
        ----------
        a, b
            The nodes.
        inside
            The roots of subtrees of one shape that they are in, to be paired node by node; and the
            end of the left one.
        """
        root, other_root, end = inside
        left, right = self.left, self.right
        for target, slot, other, other_slot in zip(
            left.targets[a], left.slots[a], right.targets[b], right.slots[b], strict=True
        ):
            if target == FREE or other == FREE:
                if target != other:
                    return False
            elif root <= target < end:
                if (target - root, slot) != (other - other_root, other_slot):
                    return False
            elif not self.may_be_same(target, other) or (
                slot != other_slot and self.defines_alike(target, other)
            ):
                return False
        return True

    def may_be_same(self, target: int, other: int) -> bool:
        """Tell whether two nodes are partners, or may become partners."""
        partner = self.a[target]
        if partner != NONE or self.b[other] != NONE:
            return partner == other
        return self.left.sort[target] == self.right.sort[other] and self.expected.allows(
            target, other
        )

    def defines_alike(self, a: int, b: int) -> bool:
        """Tell whether two nodes define as many identities as each other."""
        return len(self.left.records[a].defines) == len(self.right.records[b].defines)

    def matches(self, a: int, b: int) -> bool:
        """Tell whether two nodes without partners look the same, as far as is known."""
        self.work += 1
        return (
            self.left.shape[a] == self.right.shape[b]
            and self.expected.allows(a, b)
            and (self.identical(a, b) or self.refers_alike(a, b))
        )
