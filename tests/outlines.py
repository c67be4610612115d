"""Outlines made by hand: trees of nodes that can be edited, written down as records."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from twinjit.outline import Field, Record


@dataclass(eq=False)
class Definition:
    """Something that nodes refer to."""

    name: str


@dataclass(eq=False)
class Value:
    """What a field holds: text, and definitions."""

    text: str = ""
    refers: list[Definition] = field(default_factory=list)


@dataclass(eq=False)
class Node:
    """A node of a program."""

    kind: str
    label: str
    symbol: str = ""
    fields: dict[str, Value] = field(default_factory=dict)
    defines: list[Definition] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    location: str = ""

    def walk(self) -> Iterator[Node]:
        """This node and those below it, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def op(
    label: str, *operands: Definition, results: int = 1, symbol: str = "", **fields: str
) -> Node:
    """An operation; its keyword arguments are attributes."""
    values = {f"attribute {name}": Value(text) for name, text in fields.items()}
    values |= {f"operand {place}": Value("", [each]) for place, each in enumerate(operands)}
    values |= {f"result {place} type": Value("i32") for place in range(results)}
    return Node("operation", label, symbol, values, [Definition("") for _ in range(results)])


def block(*children: Node, arguments: int = 0) -> Node:
    values = {f"argument {place} type": Value("i32") for place in range(arguments)}
    defines = [Definition("") for _ in range(arguments + 1)]  # the last is the block itself
    return Node("block", "", "", values, defines, list(children))


def region(*blocks: Node) -> Node:
    return Node("region", "", children=list(blocks))


def within(node: Node, *blocks: Node) -> Node:
    """Give an operation a region of blocks."""
    node.children.append(region(*blocks))
    return node


def func(name: str, *blocks: Node) -> Node:
    made = op("func.func", results=0, symbol=name, sym_name=f'"{name}"', function_type="()")
    return within(made, *blocks)


def module(*children: Node) -> Node:
    return within(op("builtin.module", results=0), block(*children))


def records(root: Node, seed: int | None = None, *, digests: bool = True) -> list[Record]:
    """Write a program down; with a seed, its identities have random numbers.

    Parameters
    ----------
    digests
        Whether subtrees that refer to nothing outside have a digest.
    """
    nodes = list(root.walk())
    numbers = _numbers(nodes, seed)
    depths = {id(root): 0}
    for node in nodes:
        depths |= {id(child): depths[id(node)] + 1 for child in node.children}
    names = _names(nodes)
    found = _subtree_digests(nodes) if digests else {}
    return [
        Record(
            depths[id(node)],
            node.kind,
            node.label,
            node.symbol,
            node.location,
            found.get(id(node), b""),
            tuple(_field(name, value, numbers, names) for name, value in node.fields.items()),
            tuple((numbers[each], names[each]) for each in node.defines),
        )
        for node in nodes
    ]


def _numbers(nodes: list[Node], seed: int | None) -> dict[Definition, int]:
    all_ = dict.fromkeys(each for node in nodes for each in node.defines)
    all_ |= dict.fromkeys(
        each for node in nodes for value in node.fields.values() for each in value.refers
    )
    numbers = list(range(len(all_)))
    if seed is not None:
        numbers = random.Random(seed).sample(range(10 * len(all_) + 1), len(all_))
    return dict(zip(all_, numbers, strict=True))


def _names(nodes: list[Node]) -> dict[Definition, str]:
    """Names as MLIR gives them: in order, whatever was before."""
    names: dict[Definition, str] = {}
    for node in nodes:
        for each in node.defines:
            is_block = node.kind == "block" and each is node.defines[-1]
            names[each] = each.name or (f"^bb{len(names)}" if is_block else f"%{len(names)}")
    return names


def _field(name: str, value: Value, numbers: dict, names: dict) -> Field:
    text = " ".join(filter(None, [value.text, *(names.get(each, "#") for each in value.refers)]))
    digest = hashlib.sha256(value.text.encode()).digest()
    return Field(name, digest, text, tuple(numbers[each] for each in value.refers))


def _subtree_digests(nodes: list[Node]) -> dict[int, bytes]:
    """Of the subtrees that refer to nothing outside of them."""
    found: dict[int, bytes] = {}
    free: dict[int, set[Definition]] = {}
    for node in reversed(nodes):
        refers = {each for value in node.fields.values() for each in value.refers}
        defined: set[Definition] = set(node.defines)
        for child in node.children:
            refers |= free[id(child)]
            defined |= set(child.defines)
        free[id(node)] = refers - defined
        if not free[id(node)]:
            found[id(node)] = _digest(node)
    return found


def _digest(root: Node) -> bytes:
    numbers: dict[Definition, int] = {}
    text = []
    for node in root.walk():
        for each in node.defines:
            numbers.setdefault(each, len(numbers))
        fields = [
            (name, value.text, [numbers.setdefault(each, len(numbers)) for each in value.refers])
            for name, value in sorted(node.fields.items())
        ]
        defines = [numbers[each] for each in node.defines]
        text.append(repr((node.kind, node.label, node.symbol, fields, defines, len(node.children))))
    return hashlib.sha256("".join(text).encode()).digest()
