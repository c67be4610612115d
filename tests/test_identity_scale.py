"""Large, wide and deep programs: no stack overflows, and nothing grows with the square."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import mlir.ir as ir
import pytest

import twinjit
from tests.live_programs import parse
from tests.nightly import rounds
from tests.strategies import LOOSEST
from twinjit import Policy

T = TypeVar("T")

SMALL_STACK = 256 << 10


def on_small_stack(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns in a thread with little stack, and the processor time it took."""
    results: list[tuple[T, float]] = []

    def run() -> None:
        start = time.thread_time()
        result = work()
        results.append((result, time.thread_time() - start))

    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return results[0]


def seconds(module: ir.Module) -> float:
    """Of fingerprinting and comparing under both policies; the best of a few."""

    def work() -> None:
        for policy in (Policy(), LOOSEST):
            twinjit.fingerprint(module, policy)
            assert twinjit.equivalent(module, module, policy)

    return min(on_small_stack(work)[1] for _ in range(3))


@contextmanager
def nested(depth: int, *, modules: bool = False) -> Iterator[ir.Module]:
    """Operations in one another, which MLIR could not destroy but from the innermost outwards."""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.create()
        block = module.body
        operations = []
        for i in range(depth):
            if modules:
                symbols = ir.Module.parse(
                    "func.func private @p() { return }\n"
                    "func.func private @dead() { call @p() : () -> () return }"
                )
                for function in list(symbols.body.operations):
                    function.operation.move_after(block.operations[0]) if len(
                        block.operations
                    ) else block.append(function.operation)
            name = ir.StringAttr.get(f"m{i}")
            operations.append(
                ir.Operation.create("builtin.module", regions=1, attributes={"sym_name": name})
                if modules
                else ir.Operation.create("t.nested", regions=1)
            )
            block.append(operations[-1])
            block = operations[-1].regions[0].blocks.append()
        yield module
        for operation in reversed(operations):
            operation.erase()


def blocks(count: int) -> str:
    """Each leads to the next and to one far away, listed as they come."""
    body = "".join(
        f"^b{i}:\n  cf.cond_br %c, ^b{i + 1}, ^b{i * 7919 % count}\n" for i in range(count)
    )
    return f"func.func @f(%c: i1) {{\n  cf.br ^b0\n{body}^b{count}:\n  return\n}}"


def unreachable_chain(count: int) -> str:
    body = "".join(f"^b{i}:\n  cf.br ^b{i + 1}\n" for i in reversed(range(count)))
    return f"func.func @f() {{\n  return\n{body}^b{count}:\n  return\n}}"


def unreachable_twins(count: int) -> str:
    return (
        "func.func @f() {\n  return\n" + "".join(f"^b{i}:\n  return\n" for i in range(count)) + "}"
    )


def private_symbols(count: int) -> str:
    return "".join(
        f"func.func private @f{i}() {{\n"
        f"  call @f{(i * 7919 + 1) % count}() : () -> ()\n  return\n}}\n"
        for i in range(count)
    )


def dead_symbols(count: int) -> str:
    return "".join(f"func.func private @f{i}() {{\n  return\n}}\n" for i in range(count))


def modules(count: int) -> str:
    return "".join(
        f"module @m{i} {{\n  func.func private @f() {{\n    return\n  }}\n"
        f"  func.func @g() {{\n    call @f() : () -> ()\n    return\n  }}\n}}\n"
        for i in range(count)
    )


def operands(count: int) -> str:
    values = ", ".join(["%0"] * count)
    types = ", ".join(["i32"] * count)
    return f'%0 = "t.s"() : () -> i32\n"t.o"({values}) : ({types}) -> ()'


def results(count: int) -> str:
    values = ", ".join(f"%0#{i}" for i in range(count))
    types = ", ".join(["i32"] * count)
    return f'%0:{count} = "t.s"() : () -> ({types})\n"t.o"({values}) : ({types}) -> ()'


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (blocks, 12_000),
        (unreachable_chain, 1_200),
        (unreachable_twins, 3_000),
        (private_symbols, 3_000),
        (dead_symbols, 3_000),
        (modules, 1_000),
        (operands, 100_000),
        (results, 100_000),
    ],
)
def test_growth(program: Callable[[int], str], count: int) -> None:
    """Eight times as large takes some eight times as long; 64 times if it grew with the square."""
    count *= rounds(1, 8)
    small, large = (seconds(parse(program(size))) for size in (count // 8, count))
    assert large < 32 * max(small, 0.001)


@pytest.mark.parametrize("modules", [False, True])
def test_deep_regions(modules: bool) -> None:
    depth = 2_000 if modules else 100_000
    with nested(depth // 8, modules=modules) as shallow, nested(depth, modules=modules) as deep:
        assert seconds(deep) < 32 * max(seconds(shallow), 0.001)
        assert not twinjit.equivalent(shallow, deep)
        assert twinjit.fingerprint(shallow) != twinjit.fingerprint(deep)


def holding(attribute: ir.Attribute) -> ir.Module:
    ir.Context.current.allow_unregistered_dialects = True
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        ir.Operation.create("t.o", attributes={"a": attribute})
    return module


def arrays(depth: int) -> ir.Attribute:
    """Each holds the one before twice: written out, they would be 2^depth long."""
    attribute = ir.ArrayAttr.get([])
    for _ in range(depth):
        attribute = ir.ArrayAttr.get([attribute, attribute])
    return attribute


def tuples(depth: int) -> ir.Attribute:
    kind = ir.IntegerType.get_signless(1)
    for _ in range(depth):
        kind = ir.TupleType.get_tuple([kind, kind])
    return ir.TypeAttr.get(kind)


def affine(depth: int) -> ir.Attribute:
    expression = ir.AffineExpr.get_dim(0)
    for _ in range(depth):
        expression = ir.AffineExpr.get_mod(expression + expression, ir.AffineExpr.get_dim(1))
    return ir.AffineMapAttr.get(ir.AffineMap.get(2, 0, [expression]))


@pytest.mark.parametrize("make", [arrays, tuples, affine])
@pytest.mark.parametrize("depth", [900, 20_000])
def test_deep_attributes(make: Callable[[int], ir.Attribute], depth: int) -> None:
    with ir.Context(), ir.Location.unknown():
        one, other = holding(make(depth)), holding(make(depth + 1))
    for policy in (Policy(), LOOSEST):
        digest, _ = on_small_stack(lambda policy=policy: twinjit.fingerprint(one, policy))
        assert digest != on_small_stack(lambda policy=policy: twinjit.fingerprint(other, policy))[0]
        assert on_small_stack(lambda policy=policy: twinjit.equivalent(one, one, policy))[0]
        assert not on_small_stack(lambda policy=policy: twinjit.equivalent(one, other, policy))[0]


def debug_types(depth: int) -> str:
    """Debug info as a compiler writes it for structs that point to each other: a shared graph."""
    lines = ['#t0 = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "int">']
    for i in range(depth):
        pointer = f"tag = DW_TAG_pointer_type, baseType = #t{i}"
        member = f'tag = DW_TAG_member, name = "m", baseType = #t{i}'
        struct = f'tag = DW_TAG_structure_type, name = "t{i + 1}", elements = #p{i}, #m{i}'
        lines += [
            f"#p{i} = #llvm.di_derived_type<{pointer}>",
            f"#m{i} = #llvm.di_derived_type<{member}>",
            f"#t{i + 1} = #llvm.di_composite_type<{struct}>",
        ]
    return "\n".join(lines) + f'\n"t.o"() {{a = #t{depth}}} : () -> ()'


def test_shared_debug_info() -> None:
    """Printed, as MLIR prints it without aliases, each level would double the text."""
    one, other = parse(debug_types(25)), parse(debug_types(26))
    assert twinjit.fingerprint(one) != twinjit.fingerprint(other)
    assert twinjit.equivalent(one, one)
