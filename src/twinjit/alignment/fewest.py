"""The fewest edits between two short lists, such as the operands of an operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

__all__ = ["fewest_edits"]

_Item = TypeVar("_Item")
_Edit = tuple[_Item | None, _Item | None]

_LARGEST_TABLE = 40_000  # entries


def fewest_edits(
    a: Sequence[_Item], b: Sequence[_Item], same: Callable[[_Item, _Item], bool]
) -> Iterator[_Edit[_Item]]:
    """Pair the items of two lists in order, so that the fewest change, come or go.

    Of long lists, what lies between what they begin and end with is paired by its place.

    Yields
    ------
    tuple
        An item of each list; None for one where the other was removed or inserted.
    """
    shorter = min(len(a), len(b))
    begin = 0
    while begin < shorter and same(a[begin], b[begin]):
        yield a[begin], b[begin]
        begin += 1
    end = 0
    while end < shorter - begin and same(a[-1 - end], b[-1 - end]):
        end += 1
    middle_a, middle_b = a[begin : len(a) - end], b[begin : len(b) - end]
    if len(middle_a) == len(middle_b) == 1 or len(middle_a) * len(middle_b) > _LARGEST_TABLE:
        yield from zip_longest(middle_a, middle_b)
    else:
        yield from _trace(middle_a, middle_b, _table(middle_a, middle_b, same), same)
    yield from zip(a[len(a) - end :], b[len(b) - end :], strict=True)


def _table(
    a: Sequence[_Item], b: Sequence[_Item], same: Callable[[_Item, _Item], bool]
) -> list[list[int]]:
    """Return how many edits are between what is left of the lists at each two places."""
    table = [[len(a) - x + len(b) - y for y in range(len(b) + 1)] for x in range(len(a) + 1)]
    for x in range(len(a) - 1, -1, -1):
        for y in range(len(b) - 1, -1, -1):
            changed = table[x + 1][y + 1] + (not same(a[x], b[y]))
            table[x][y] = min(changed, table[x + 1][y] + 1, table[x][y + 1] + 1)
    return table


def _trace(
    a: Sequence[_Item],
    b: Sequence[_Item],
    table: Sequence[Sequence[int]],
    same: Callable[[_Item, _Item], bool],
) -> Iterator[_Edit[_Item]]:
    x = y = 0
    while x < len(a) or y < len(b):
        here = table[x][y]
        if x < len(a) and y < len(b) and here == table[x + 1][y + 1] + (not same(a[x], b[y])):
            yield a[x], b[y]
            x, y = x + 1, y + 1
        elif x < len(a) and here == table[x + 1][y] + 1:
            yield a[x], None
            x += 1
        else:
            yield None, b[y]
            y += 1
