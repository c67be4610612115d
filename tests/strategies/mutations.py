"""Every single change of a random program, one of each sort at each place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random

from tests.strategies.attributes import changed, random_attribute, random_type
from tests.strategies.modules import Block, Op, Program

Change = Callable[[Program, Op, list[Op], Random], bool]


def mutants(program: Program, rng: Random) -> Iterator[tuple[str, Program]]:
    """What was changed, and the changed program; its text is valid but may be the same."""
    places = sum(1 for _ in program.walk())
    for place in range(places):
        for name, change in CHANGES.items():
            mutant = copy.deepcopy(program)
            op, siblings = list(mutant.walk())[place]
            if change(mutant, op, siblings, rng):
                yield f"{name} of {op.name}", mutant


def _rename(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.name == "builtin.module":
        op.attributes["sym_name"] = '"other"'
    else:
        op.name += "x"
    return True


def _change_attribute(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    for entries in (op.attributes, op.properties or {}):
        if entries and rng.random() < 0.7:
            name = rng.choice(sorted(entries))
            entries[name] = changed(rng, entries[name])
            return True
    return False


def _drop_attribute(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.attributes:
        del op.attributes[rng.choice(sorted(op.attributes))]
    return bool(op.attributes)


def _add_attribute(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    op.attributes["t.added"] = random_attribute(rng)
    return True


def _rename_attribute(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if not op.attributes:
        return False
    op.attributes["t.renamed"] = op.attributes.pop(rng.choice(sorted(op.attributes)))
    return True


def _make_property(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if not op.attributes or op.properties or op.name == "builtin.module":
        return False
    op.properties = {"q": op.attributes.pop(min(op.attributes))}
    return True


def _operands(edit: Callable[[list[int], list[int], Random], None]) -> Change:
    def change(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
        if op.name == "builtin.module" or not op.operands:
            return False
        others = [value for each in siblings for value, _ in each.results] + op.operands
        edit(op.operands, others, rng)
        return True

    return change


def _drop(items: list[int], others: list[int], rng: Random) -> None:
    del items[rng.randrange(len(items))]


def _replace(items: list[int], others: list[int], rng: Random) -> None:
    items[rng.randrange(len(items))] = rng.choice(others)


def _append(items: list[int], others: list[int], rng: Random) -> None:
    items.append(rng.choice(others))


def _reverse(items: list[int], others: list[int], rng: Random) -> None:
    items.reverse()


def _change_result(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if not op.results:
        return False
    i = rng.randrange(len(op.results))
    value, tree = op.results[i]
    op.results[i] = (value, changed(rng, tree, "type"))
    return True


def _add_result(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.name == "builtin.module":
        return False
    op.results.append((program.number(), random_type(rng)))
    return True


def _successors(edit: Callable[[list[int], list[int], Random], None]) -> Change:
    def change(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
        if not op.successors:
            return False
        edit(op.successors, _peers(program, siblings), rng)
        return True

    return change


def _peers(program: Program, siblings: list[Op]) -> list[int]:
    """The blocks that one which has these operations may branch to."""
    for op, _ in program.walk():
        for region in op.regions:
            if any(block.ops is siblings for block in region):
                return [block.number for block in region[1:]]
    return []


def _add_region(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.name == "builtin.module":
        return False
    op.regions.insert(rng.randrange(len(op.regions) + 1), [])
    return True


def _add_block(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.name == "builtin.module" or not op.regions:
        return False
    region = rng.choice(op.regions)
    branch = Op("t.br", successors=[rng.choice(region[1:]).number] if region[1:] else [])
    region.append(Block(program.number(), ops=[branch]))
    return True


def _change_argument(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    blocks = [block for region in op.regions for block in region if block.arguments]
    if not blocks:
        return False
    block = rng.choice(blocks)
    value, tree = block.arguments[-1]
    block.arguments[-1] = (value, changed(rng, tree, "type"))
    return True


def _add_argument(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    blocks = [block for region in op.regions for block in region]
    if not blocks or op.name == "builtin.module":
        return False
    rng.choice(blocks).arguments.append((program.number(), random_type(rng)))
    return True


def _swap_arguments(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    blocks = [block for region in op.regions for block in region if len(block.arguments) > 1]
    if blocks:
        rng.choice(blocks).arguments.reverse()
    return bool(blocks)


def _insert(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    siblings.insert(_index(siblings, op), Op("t.x"))
    return True


def _remove(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    if op.regions or len(siblings) == 1:
        return False
    gone = {value for value, _ in op.results}
    if any(gone & set(other.operands) for other, _ in program.walk()):
        return False
    del siblings[_index(siblings, op)]
    return True


def _swap_ops(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    i = _index(siblings, op)
    if i + 1 == len(siblings) or siblings[i + 1].name == "t.br":
        return False
    siblings[i], siblings[i + 1] = siblings[i + 1], siblings[i]
    return True


def _nest(program: Program, op: Op, siblings: list[Op], rng: Random) -> bool:
    """Move it into a region of its own."""
    if op.successors:
        return False
    siblings[_index(siblings, op)] = Op("t.x", regions=[[Block(program.number(), ops=[op])]])
    return not op.results


def _index(ops: list[Op], op: Op) -> int:
    return next(i for i, each in enumerate(ops) if each is op)


CHANGES: dict[str, Change] = {
    "name": _rename,
    "attribute": _change_attribute,
    "attribute dropped": _drop_attribute,
    "attribute added": _add_attribute,
    "attribute renamed": _rename_attribute,
    "attribute made a property": _make_property,
    "operand dropped": _operands(_drop),
    "operand": _operands(_replace),
    "operand added": _operands(_append),
    "operands reversed": _operands(_reverse),
    "result": _change_result,
    "result added": _add_result,
    "successor dropped": _successors(_drop),
    "successor": _successors(_replace),
    "successor added": _successors(_append),
    "successors reversed": _successors(_reverse),
    "region added": _add_region,
    "block added": _add_block,
    "argument": _change_argument,
    "argument added": _add_argument,
    "arguments exchanged": _swap_arguments,
    "operation inserted before": _insert,
    "operation removed": _remove,
    "operation moved": _swap_ops,
    "operation nested": _nest,
}
