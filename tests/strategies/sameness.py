"""Whether two random programs are the same, by search: slow, and plainly right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from tests.strategies.attributes import Node, Tree, text_of
from tests.strategies.modules import Block, Op, Program, ValueType

# What in the one program is what in the other: values, blocks, and distinct attributes.
Names = dict[tuple[str, int | str], int | str]


def same_program(a: Program, b: Program) -> bool:
    return any(True for _ in _ops(a.ops, b.ops, {}))


def _bind(names: Names, kind: str, one: int | str, other: int | str) -> Names | None:
    """`names` with one more, unless either has another meaning already."""
    here, there = (kind, one), (kind + " of b", other)
    if names.get(here, other) != other or names.get(there, one) != one:
        return None
    return {**names, here: other, there: one}


def _bind_all(names: Names, kind: str, a: list[int], b: list[int]) -> Names | None:
    if len(a) != len(b):
        return None
    for one, other in zip(a, b, strict=True):
        bound = _bind(names, kind, one, other)
        if bound is None:
            return None
        names = bound
    return names


def _ops(a: list[Op], b: list[Op], names: Names) -> Iterator[Names]:
    if len(a) != len(b):
        return
    if not a:
        yield names
        return
    for bound in _op(a[0], b[0], names):
        yield from _ops(a[1:], b[1:], bound)


def _op(a: Op, b: Op, names: Names) -> Iterator[Names]:
    if a.name != b.name or len(a.regions) != len(b.regions):
        return
    bound = _dictionaries(a.attributes, b.attributes, names)
    if bound is not None:
        bound = _dictionaries(a.properties or {}, b.properties or {}, bound)
    if bound is not None:
        bound = _values(a.results, b.results, bound)
    if bound is not None:
        bound = _bind_all(bound, "value", a.operands, b.operands)
    if bound is not None:
        bound = _bind_all(bound, "block", a.successors, b.successors)
    if bound is not None:
        yield from _regions(a.regions, b.regions, bound)


def _dictionaries(a: dict[str, Tree], b: dict[str, Tree], names: Names) -> Names | None:
    if a.keys() != b.keys():
        return None
    bound: Names | None = names
    for key in sorted(a):
        if bound is not None:
            bound = _trees(a[key], b[key], bound)
    return bound


def _trees(a: Tree, b: Tree, names: Names) -> Names | None:
    number = re.compile(r"distinct\[(\d+)\]")
    one, other = _sorted(a), _sorted(b)
    if number.sub("", one) != number.sub("", other):
        return None
    bound: Names | None = names
    for first, second in zip(number.findall(one), number.findall(other), strict=True):
        if bound is not None:
            bound = _bind(bound, "distinct", first, second)
    return bound


def _sorted(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    children = [_sorted(child) for child in tree.children]
    if tree.kind == "entry":
        children.sort()
    return text_of(Node(tree.form, tuple(children), separator=tree.separator))


def _values(a: list[ValueType], b: list[ValueType], names: Names) -> Names | None:
    bound = _bind_all(names, "value", [value for value, _ in a], [value for value, _ in b])
    for (_, one), (_, other) in zip_longest(a, b, fillvalue=(0, "")):
        if bound is not None:
            bound = _trees(one, other, bound)
    return bound


def _regions(a: list[list[Block]], b: list[list[Block]], names: Names) -> Iterator[Names]:
    if not a:
        yield names
        return
    if len(a[0]) != len(b[0]):
        return
    for bound in _blocks(a[0], b[0], names):
        yield from _regions(a[1:], b[1:], bound)


def _blocks(a: list[Block], b: list[Block], names: Names, *, entry: bool = True) -> Iterator[Names]:
    """The entries are each other's; any of the other blocks may be any other's."""
    if not a:
        yield names
        return
    for i, block in enumerate(b[:1] if entry else b):
        bound = _bind(names, "block", a[0].number, block.number)
        if bound is not None:
            bound = _values(a[0].arguments, block.arguments, bound)
        if bound is None:
            continue
        for inside in _ops(a[0].ops, block.ops, bound):
            yield from _blocks(a[1:], [*b[:i], *b[i + 1 :]], inside, entry=False)
