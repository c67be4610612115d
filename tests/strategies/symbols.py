"""Random modules of functions that refer to each other, in any order and under any names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from random import Random

from hypothesis import strategies as st

from twinjit import Policy

# A reference, in forms that MLIR's walkers see and in one that they do not.
REFERENCES = (
    "call @{0}() : () -> ()",
    '"t.use"() {{r = @{0}}} : () -> ()',
    '"t.use"() {{r = [{{s = @{0}}}, unit]}} : () -> ()',
    '"t.use"() {{r = #dlti.map<"k" = @{0}>}} : () -> ()',
)


@dataclass(frozen=True)
class Function:
    """Refers to others by their index; `constants` are in a large one, `sum` are its operands."""

    public: bool
    references: tuple[tuple[int, int], ...]  # form, function
    unreachable: tuple[int, ...]  # functions called in blocks of their own
    constants: tuple[int, ...]
    sum: tuple[int, int]
    tag: int


@dataclass(frozen=True)
class Symbols:
    functions: tuple[Function, ...]
    order: tuple[int, ...]
    names: tuple[str, ...]
    module: str = "m"
    location: int = 0

    def text(self) -> str:
        body = "\n".join(self._function(index) for index in self.order)
        return f"module @{self.module} {{\n{body}\n}} loc(unknown)"

    def _function(self, index: int) -> str:
        function = self.functions[index]
        elements = ", ".join(map(str, function.constants))
        left, right = (f"%{'xyz'[operand]}" for operand in function.sum)
        lines = [
            *(f"%{name} = arith.constant {i} : i32" for i, name in enumerate("xyz")),
            f"%c = arith.constant dense<[{elements}]> : tensor<4xi32>",
            f"%s = arith.addi {left}, {right} : i32",
            *(REFERENCES[form].format(self.names[to]) for form, to in function.references),
            "return",
        ]
        body = "\n  ".join(f'{line} loc("f":{self.location + 1}:1)' for line in lines)
        blocks = "\n".join(
            f"^b{i}:\n  call @{self.names[to]}() : () -> () loc(unknown)\n"
            f"  cf.br ^b{i} loc(unknown)"
            for i, to in enumerate(function.unreachable)
        )
        visibility = "" if function.public else "private "
        return (
            f"func.func {visibility}@{self.names[index]}() "
            f"attributes {{t.tag = {function.tag} : i32}} {{\n  {body}\n{blocks}\n}} loc(unknown)"
        )

    def canonical(self, policy: Policy) -> str:
        """The least of all texts that the policy takes for this program's."""
        return min(each.text() for each in self._spellings(_plain(self, policy), policy))

    @staticmethod
    def _spellings(plain: Symbols, policy: Policy) -> list[Symbols]:
        private = [i for i in plain.order if not plain.functions[i].public]
        orders = [private]
        if policy.private_symbols == "keep":
            namings = [plain]
        else:
            if policy.symbol_order == "ignore":
                orders = [list(order) for order in permutations(private)]
            namings = []
            for order in orders:
                names = list(plain.names)
                for number, index in enumerate(order):
                    names[index] = f"p{number}"
                namings.append(replace(plain, names=tuple(names)))
        if policy.symbol_order == "keep":
            return namings
        return [replace(each, order=_by_name(each)) for each in namings]


def _by_name(symbols: Symbols) -> tuple[int, ...]:
    return tuple(sorted(symbols.order, key=lambda index: symbols.names[index]))


def _plain(symbols: Symbols, policy: Policy) -> Symbols:
    """Without what does not count, but for names and order."""
    functions = [_plain_function(function, policy) for function in symbols.functions]
    return replace(
        symbols,
        functions=tuple(functions),
        module="m" if policy.module_name == "ignore" else symbols.module,
        location=0 if policy.locations == "ignore" else symbols.location,
    )


def _plain_function(function: Function, policy: Policy) -> Function:
    tagged = policy.discardable != "ignore" and "t.tag" not in policy.discardable
    large = (
        policy.constants == "lift" and policy.lift_bytes <= 16 and len(set(function.constants)) > 1
    )
    return replace(
        function,
        tag=function.tag if tagged else 0,
        sum=function.sum if policy.commutative == "keep" else tuple(sorted(function.sum)),
        constants=(1, 2, 3, 4) if large else function.constants,
    )


def random_symbols(seed: int) -> Symbols:
    rng = Random(seed)
    count = rng.randrange(1, 6)
    functions = [_random_function(rng, count) for _ in range(count)]
    if all(not function.public for function in functions) and rng.random() < 0.7:
        functions[0] = replace(functions[0], public=True)
    names = [f"f{i}" for i in range(count)]
    return Symbols(tuple(functions), tuple(range(count)), tuple(names))


def _random_function(rng: Random, count: int) -> Function:
    return Function(
        public=rng.random() < 0.25,
        references=tuple(
            (rng.randrange(len(REFERENCES)), rng.randrange(count))
            for _ in range(rng.choice([0, 0, 1, 2]))
        ),
        unreachable=tuple(rng.randrange(count) for _ in range(rng.choice([0, 0, 0, 2]))),
        constants=rng.choice([(1, 2, 3, 4), (4, 3, 2, 1), (7, 7, 7, 7)]),
        sum=(rng.randrange(3), rng.randrange(3)),
        tag=rng.randrange(2),
    )


def spelt_otherwise(symbols: Symbols, rng: Random) -> Symbols:
    """Another program that some policies take for the same, and a few that none does."""
    count = len(symbols.functions)
    functions = list(symbols.functions)
    changes = rng.choices(["names", "order", "exchange", "tag", "sum", "constants", "module",
                           "location", "reference"], k=rng.randrange(1, 4))  # fmt: skip
    at = rng.randrange(count)
    function = functions[at]
    if "tag" in changes:
        function = replace(function, tag=1 - function.tag)
    if "sum" in changes:
        function = replace(function, sum=function.sum[::-1])
    if "constants" in changes:
        function = replace(function, constants=(4, 3, 2, 1))
    if "reference" in changes and function.references:
        form, _ = function.references[0]
        function = replace(
            function, references=((form, rng.randrange(count)), *function.references[1:])
        )
    functions[at] = function
    names = list(symbols.names)
    if "names" in changes:
        names = [
            n if f.public else f"other{i}"
            for i, (n, f) in enumerate(zip(names, functions, strict=True))
        ]
    if "exchange" in changes:
        names = rng.sample(names, count)
    order = rng.sample(symbols.order, count) if "order" in changes else symbols.order
    return Symbols(
        tuple(functions), tuple(order), tuple(names),
        module="other" if "module" in changes else "m", location=int("location" in changes),
    )  # fmt: skip


symbols = st.builds(random_symbols, st.integers(0, 2**32))
