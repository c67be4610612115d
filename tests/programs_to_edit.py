"""Random programs, and edits of them that a diff must tell as one difference."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from tests.outlines import Definition, Node, Value, block, func, module, op, within

EDITS = ("insert", "remove", "change", "drop", "refer", "rename", "move", "insert block")

_LABELS = ("add", "mul", "constant", "call")
_Place = tuple[tuple[str, ...], str]  # the kinds a difference may have, and what its place says


def random_program(seed: int) -> Node:
    """A module of functions of blocks of operations, some of them with regions, many alike."""
    rng = random.Random(seed)
    size = rng.randint(1, 12)
    return module(*(_function(f"f{index}", rng, size) for index in range(rng.randint(1, 3))))


def programs() -> st.SearchStrategy[Node]:
    return st.integers(0, 2**32).map(random_program)


def _function(name: str, rng: random.Random, size: int) -> Node:
    visible: list[Definition] = []
    blocks = [_block(rng, visible, rng.randint(1, size), depth=0) for _ in range(rng.randint(1, 3))]
    for each in blocks:
        each.children.append(_branch(rng, blocks))
    return func(name, *blocks)


def _block(rng: random.Random, visible: list[Definition], size: int, depth: int) -> Node:
    made = block(arguments=rng.randint(0, 2))
    visible += made.defines[:-1]
    for _ in range(size):
        operation = _operation(rng, visible)
        if depth < 2 and rng.random() < 0.1:
            within(operation, _block(rng, list(visible), rng.randint(1, 4), depth + 1))
        made.children.append(operation)
        visible += operation.defines
    return made


def _operation(rng: random.Random, visible: list[Definition]) -> Node:
    label = rng.choice(_LABELS)
    count = 0 if label == "constant" else rng.randint(0, 2)
    operands = [rng.choice(visible) for _ in range(count if visible else 0)]
    attributes = {"value": str(rng.randint(0, 2))} if label in ("constant", "call") else {}
    return op(label, *operands, **attributes)


def _branch(rng: random.Random, blocks: list[Node]) -> Node:
    made = op("branch", results=0)
    for place in range(rng.randint(0, 2)):
        made.fields[f"successor {place}"] = Value("", [rng.choice(blocks).defines[-1]])
    return made


def edit(program: Node, kind: str, rng: random.Random) -> _Place | None:
    """Edit a program; return how a diff is to tell it, or None if nothing was there to edit."""
    edits: dict[str, Callable[[Node, random.Random], _Place | None]] = {
        "insert": _insert,
        "remove": _remove,
        "change": _change,
        "drop": _drop,
        "refer": _refer,
        "rename": _rename,
        "move": _move,
        "insert block": _insert_block,
    }
    return edits[kind](program, rng)


def _blocks(program: Node) -> list[Node]:
    """The blocks below functions."""
    return [node for node in program.walk() if node.kind == "block"][1:]


def _operations(program: Node) -> Iterator[tuple[Node, int, Node]]:
    for each in _blocks(program):
        yield from ((each, place, child) for place, child in enumerate(each.children))


def _used(program: Node) -> set[Definition]:
    return {
        each for node in program.walk() for value in node.fields.values() for each in value.refers
    }


def _insert(program: Node, rng: random.Random) -> _Place:
    where = rng.choice(_blocks(program))
    where.children.insert(
        rng.randrange(len(where.children) + 1), op(rng.choice(_LABELS), value=str(rng.random()))
    )
    return ("inserted",), "operation"


def _remove(program: Node, rng: random.Random) -> _Place | None:
    used = _used(program)
    unused = [
        (where, node)
        for where, _, node in _operations(program)
        if not used & {each for below in node.walk() for each in below.defines}
    ]
    if not unused:
        return None
    where, node = rng.choice(unused)
    where.children.remove(node)
    return ("removed",), f"({node.label})"


def _change(program: Node, rng: random.Random) -> _Place | None:
    found = [
        (node, name)
        for _, _, node in _operations(program)
        for name in node.fields
        if name.startswith("attribute")
    ]
    if not found:
        return None
    node, name = rng.choice(found)
    node.fields[name] = Value(str(rng.random()))
    return ("changed",), f"({node.label}) / {name}"


def _drop(program: Node, rng: random.Random) -> _Place | None:
    found = [
        node
        for _, _, node in _operations(program)
        if any(name.startswith("attribute") for name in node.fields)
    ]
    if not found:
        return None
    node = rng.choice(found)
    name = next(name for name in node.fields if name.startswith("attribute"))
    del node.fields[name]
    return ("removed",), f"({node.label}) / {name}"


def _refer(program: Node, rng: random.Random) -> _Place | None:
    found = [
        (node, name, value)
        for _, _, node in _operations(program)
        for name, value in node.fields.items()
        if name.startswith("operand")
    ]
    if not found:
        return None
    node, name, value = rng.choice(found)
    others = [each for each in _blocks(program)[0].defines if each not in value.refers]
    node.fields[name] = Value("", [rng.choice(others)]) if others else value
    return (("changed",), f"({node.label}) / {name}") if others else None


def _rename(program: Node, rng: random.Random) -> _Place:
    function = rng.choice([node for node in program.walk() if node.symbol])
    function.symbol += "_renamed"
    function.fields["attribute sym_name"] = Value(f'"{function.symbol}"')
    return ("changed",), f"@{function.symbol} / attribute sym_name"


def _move(program: Node, rng: random.Random) -> _Place | None:
    where = rng.choice(_blocks(program))
    if len(where.children) < 2:
        return None
    place, other = rng.sample(range(len(where.children)), 2)
    crossed = where.children[min(place, other) : max(place, other) + 1]
    node = where.children[place]
    if sum(each.label == node.label for each in crossed) > 1:
        return None  # may give the same program
    where.children.remove(node)
    where.children.insert(other, node)
    return ("moved",), "operation"


def _insert_block(program: Node, rng: random.Random) -> _Place:
    regions = [node for node in program.walk() if node.kind == "region"][1:]
    where = rng.choice(regions)
    made = block(op("special", value=str(rng.random())), op("special", value=str(rng.random())))
    where.children.insert(rng.randrange(len(where.children) + 1), made)
    return ("inserted",), "block"
