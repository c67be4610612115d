"""Rounds that each bring something new, and leave nothing behind."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable

import mlir.ir
import numpy as np
import pytest

import twinjit
from tests.images import maps
from tests.nightly import rounds
from twinjit import Policy, Settings
from twinjit.errors import CompilationError, TwinjitError, UnresolvedSymbolError
from twinjit.resident import heap

ROUNDS = rounds(150, 5_000)
KEPT = 600  # bytes of a round: what the index of requests, which is bounded, keeps
SLACK = 3 << 20  # a pooled context more or less


@pytest.fixture(scope="module")
def compiler() -> twinjit.Compiler:
    settings = Settings.load(memory_max_bytes=1 << 20)
    return twinjit.Compiler(cache=False, shared=False, opt_level=0, settings=settings)


def adds(number: int, name: str = "f") -> str:
    return (
        f"func.func @{name}(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


def check_flat(work: Callable[[int], object]) -> None:
    """Repeat work with new numbers; memory, objects, mappings and descriptors must stay as is."""
    for number in range(ROUNDS):
        work(number)
    before = _state()
    for number in range(ROUNDS, 2 * ROUNDS):
        work(number)
    grown = [now - then for now, then in zip(_state(), before, strict=True)]
    assert grown[0] < SLACK + KEPT * ROUNDS
    assert grown[1] < ROUNDS / 2  # some thirty come once, when the first context is replaced
    assert grown[2] < 30
    assert grown[3] == 0


def _state() -> tuple[int, int, int, int]:
    gc.collect()
    now = heap()
    return (
        now.in_heaps + now.mapped,
        len(gc.get_objects()),
        maps(),
        len(os.listdir("/proc/self/fd")),
    )


def test_compile_call_evict(compiler):
    def work(number: int) -> None:
        assert compiler.compile(adds(number)).f(1) == number + 1

    check_flat(work)
    assert compiler.stats()["code_bytes"] <= 1 << 20


def test_new_names(compiler):
    check_flat(lambda number: compiler.compile(adds(1, f"f{number}"))[f"f{number}"](1))


def test_live_modules(compiler):
    def work(number: int) -> None:
        with mlir.ir.Context():
            module = mlir.ir.Module.parse(adds(-number))
            assert compiler.compile(module).f(0) == -number

    check_flat(work)


def test_programs_that_cannot_be_read(compiler):
    def work(number: int) -> None:
        with pytest.raises(CompilationError):
            compiler.compile(f"func.func @f{number}() {{ retur }}")

    check_flat(work)


def test_programs_that_cannot_be_lowered(compiler):
    def work(number: int) -> None:
        with pytest.raises(CompilationError):
            compiler.compile(
                f"func.func @f{number}(%x: tensor<?xi64>) -> i64 {{ "
                '%y = "shape.size_to_index"(%x) : (tensor<?xi64>) -> i64 return %y : i64 }'
            )

    check_flat(work)


def test_symbols_that_nothing_defines(compiler):
    def work(number: int) -> None:
        with pytest.raises(UnresolvedSymbolError):
            compiler.compile(
                f"func.func private @nowhere{number}() "
                f"func.func @f() {{ call @nowhere{number}() : () -> () return }}"
            )

    check_flat(work)


def test_pipelines_that_do_not_exist():
    def work(number: int) -> None:
        pipeline = f"builtin.module(canonicalize{{max-iterations={number}}},nonsense)"
        with pytest.raises(TwinjitError):
            twinjit.Compiler(cache=False, shared=False, pipeline=pipeline).compile(adds(1))

    check_flat(work)


def test_hits_on_disk(tmp_path):
    settings = Settings.load(memory_max_bytes=0)
    compiler = twinjit.Compiler(cache=tmp_path, shared=False, opt_level=0, settings=settings)

    def work(number: int) -> None:
        assert compiler.compile(adds(number % 20)).f(1) == number % 20 + 1

    check_flat(work)
    assert compiler.stats()["disk"] == 2 * ROUNDS - 20


def test_lifted_constants():
    policy = Policy(constants="lift", lift_bytes=1)
    settings = Settings.load(memory_max_bytes=1 << 20)
    compiler = twinjit.Compiler(cache=False, shared=False, policy=policy, settings=settings)

    def work(number: int) -> None:
        data = np.arange(number, number + 64, dtype=np.int32).tobytes().hex()
        executable = compiler.compile(
            f'func.func @f(%i: index) -> i32 {{ %c = arith.constant dense<"0x{data}"> : '
            "tensor<64xi32> %v = tensor.extract %c[%i] : tensor<64xi32> return %v : i32 }"
        )
        assert executable.f(0) == number

    check_flat(work)


def test_a_leak_is_found():
    kept = []

    def work(number: int) -> None:
        kept.append(ctypes.create_string_buffer(32 << 10))

    with pytest.raises(AssertionError):
        check_flat(work)
