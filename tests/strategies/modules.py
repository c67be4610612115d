"""Random MLIR programs as data, and their text in many spellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from tests.strategies.attributes import Tree, random_attribute, random_type, text_of

# Any number identifies a value or a block; no two in a program have the same.
ValueType = tuple[int, Tree]


@dataclass
class Op:
    name: str
    operands: list[int] = field(default_factory=list)
    results: list[ValueType] = field(default_factory=list)
    attributes: dict[str, Tree] = field(default_factory=dict)
    properties: dict[str, Tree] | None = None
    successors: list[int] = field(default_factory=list)
    regions: list[list[Block]] = field(default_factory=list)


@dataclass
class Block:
    number: int
    arguments: list[ValueType] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


@dataclass
class Program:
    """The operations of a module."""

    ops: list[Op]
    count: int  # numbers below it may be in use

    def number(self) -> int:
        self.count += 1
        return self.count - 1

    def walk(self) -> Iterator[tuple[Op, list[Op]]]:
        """Each operation, with the list that it is in."""
        pending = [self.ops]
        while pending:
            ops = pending.pop()
            for op in ops:
                yield op, ops
                pending += [block.ops for region in op.regions for block in region]

    def types(self) -> dict[int, Tree]:
        types: dict[int, Tree] = {}
        for op, _ in self.walk():
            types.update(op.results)
            for region in op.regions:
                for block in region:
                    types.update(block.arguments)
        return types


@dataclass
class Spelling:
    """What does not count, drawn anew for each text."""

    rng: Random
    plain: bool = False

    def shuffled(self, items: list[str]) -> list[str]:
        return items if self.plain else self.rng.sample(items, len(items))


def random_program(seed: int, size: int = 12) -> Program:
    """A program of about `size` operations; the same for the same arguments."""
    rng = Random(seed)
    program = Program([], 0)
    _Builder(rng, program, size).fill(program.ops, [], depth=0)
    return program


class _Builder:
    def __init__(self, rng: Random, program: Program, budget: int) -> None:
        self.rng = rng
        self.program = program
        self.budget = budget

    def fill(self, ops: list[Op], outer: list[int], depth: int) -> list[int]:
        """Add operations, then give them operands: those of graph regions may come later."""
        rng = self.rng
        while self.budget > 0 and (len(ops) < 2 or rng.random() < 0.7):
            self.budget -= 1
            ops.append(self.op())
        visible = outer + [value for op in ops for value, _ in op.results]
        for op in ops:
            if visible:
                op.operands = [rng.choice(visible) for _ in range(rng.randrange(4))]
            if depth < 4 and rng.random() < 0.4:
                isolated = op.name == "builtin.module"
                self.regions(op, [] if isolated else visible, depth + 1)
            if op.name == "builtin.module":
                self.make_module(op)
        return visible

    def op(self) -> Op:
        rng = self.rng
        if rng.random() < 0.1:
            return Op("builtin.module")
        attributes = {
            name: random_attribute(rng) for name in rng.sample("abcd", rng.choice([0, 0, 1, 2]))
        }
        properties = {"p": random_attribute(rng)} if rng.random() < 0.2 else None
        results = [(self.program.number(), random_type(rng)) for _ in range(rng.randrange(3))]
        return Op(f"t.{rng.choice('xyz')}", [], results, attributes, properties)

    def make_module(self, op: Op) -> None:
        blocks = op.regions[0][:1] if op.regions and op.regions[0] else []
        op.regions = [blocks or [Block(self.program.number())]]
        block = op.regions[0][0]
        block.arguments = []
        op.operands = []
        for inner in block.ops:
            inner.successors = []
        self.forget_undefined(op)

    def forget_undefined(self, module: Op) -> None:
        inside = Program([module], 0)
        defined = inside.types()
        for inner, _ in inside.walk():
            inner.operands = [value for value in inner.operands if value in defined]

    def regions(self, op: Op, outer: list[int], depth: int) -> None:
        rng = self.rng
        for _ in range(rng.choice([1, 1, 2])):
            region: list[Block] = []
            for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
                arguments = [
                    (self.program.number(), random_type(rng)) for _ in range(rng.randrange(3))
                ]
                region.append(Block(self.program.number(), arguments))
            op.regions.append(region)
            branches = self.branches(region)
            reachable = self.reachable(region, branches)
            entry: list[int] = []  # what the entry defines is visible in the others
            everywhere: list[int] = []
            for i, block in enumerate(region):
                visible = outer + entry + [value for value, _ in block.arguments]
                visible += [] if i in reachable else everywhere
                everywhere += self.fill(block.ops, visible, depth)[len(outer) :]
                entry = entry or everywhere[:]
                if branches[i] is not None:
                    block.ops.append(Op("t.br", successors=branches[i]))

    def branches(self, region: list[Block]) -> list[list[int] | None]:
        """Where blocks lead, to any but the entry; some blocks stay unreachable."""
        targets = [block.number for block in region[1:]]
        return [
            [self.rng.choice(targets) for _ in range(self.rng.randrange(4) if targets else 0)]
            if len(region) > 1 or self.rng.random() < 0.3
            else None
            for _ in region
        ]

    def reachable(self, region: list[Block], branches: list[list[int] | None]) -> set[int]:
        indices = {block.number: i for i, block in enumerate(region)}
        found: set[int] = set()
        pending = [0] if region else []
        while pending:
            i = pending.pop()
            if i not in found:
                found.add(i)
                pending += [indices[number] for number in branches[i] or []]
        return found


def render(program: Program, spelling: Spelling | None = None) -> str:
    """Generic text of a module."""
    return _Renderer(program, spelling or Spelling(Random(0), plain=True)).text()


class _Renderer:
    def __init__(self, program: Program, spelling: Spelling) -> None:
        self.program = program
        self.spelling = spelling
        self.types = program.types()
        numbers = list(range(program.count))
        names = numbers if spelling.plain else spelling.rng.sample(numbers, len(numbers))
        self.names = dict(zip(numbers, names, strict=True))
        shift = 0 if spelling.plain else spelling.rng.randrange(1, 50)
        self.identities = {f"distinct[{i}]": f"distinct[{(i * 7 + shift)}]" for i in range(4)}

    def text(self) -> str:
        lines = [self.op(op) for op in self.program.ops]
        body = "\n".join(lines)
        key = "r" if self.spelling.plain else "k" + "abc"[self.spelling.rng.randrange(3)]
        resources = ", ".join(f'{key}{i}: "0x04000000{i:02d}00000001000000"' for i in range(4))
        return (
            f'"builtin.module"() ({{\n{body}\n}}) : () -> (){self.location()}\n'.replace(
                "dense_resource<r", f"dense_resource<{key}"
            )
            + f"{{-# dialect_resources: {{ builtin: {{ {resources} }} }} #-}}"
        )

    def location(self) -> str:
        if self.spelling.plain:
            return ""
        rng = self.spelling.rng
        return rng.choice(["", ' loc("f":1:2)', ' loc("n"("f":3:4))', " loc(unknown)"])

    def attribute(self, tree: Tree) -> str:
        text = text_of(tree)
        for old, new in self.identities.items():
            text = text.replace(old, "\0".join(new))
        return text.replace("\0", "")

    def dictionary(self, entries: dict[str, Tree]) -> str:
        items = [f"{name} = {self.attribute(tree)}" for name, tree in entries.items()]
        return "{" + ", ".join(self.spelling.shuffled(items)) + "}"

    def value(self, value: int) -> str:
        return f"%v{self.names[value]}"

    def op(self, op: Op) -> str:
        results = ", ".join(self.value(value) for value, _ in op.results)
        operands = ", ".join(map(self.value, op.operands))
        successors = ", ".join(f"^b{self.names[block]}" for block in op.successors)
        regions = ", ".join(map(self.region, op.regions))
        inputs = ", ".join(text_of(self.types[value]) for value in op.operands)
        outputs = ", ".join(text_of(tree) for _, tree in op.results)
        return (
            (f"{results} = " if results else "")
            + f'"{op.name}"({operands})'
            + (f" [{successors}]" if successors else "")
            + ("" if op.properties is None else f" <{self.dictionary(op.properties)}>")
            + (f" ({regions})" if regions else "")
            + (f" {self.dictionary(op.attributes)}" if op.attributes else "")
            + f" : ({inputs}) -> ({outputs}){self.location()}"
        )

    def region(self, blocks: list[Block]) -> str:
        texts = [self.block(block) for block in blocks]
        return "{\n" + "\n".join(texts[:1] + self.spelling.shuffled(texts[1:])) + "\n}"

    def block(self, block: Block) -> str:
        arguments = ", ".join(
            f"{self.value(value)}: {text_of(tree)}{self.location()}"
            for value, tree in block.arguments
        )
        lines = [f"^b{self.names[block.number]}({arguments}):"]
        return "\n".join(lines + [self.op(op) for op in block.ops])


seeds = st.integers(0, 2**32)
programs = st.builds(random_program, seeds, st.integers(1, 30))
spellings = st.builds(lambda seed: Spelling(Random(seed)), seeds)
