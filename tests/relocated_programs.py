"""Programs whose code refers to something outside of itself, or far from itself, in every way."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import twinjit
from tests.nightly import NIGHTLY
from twinjit import Policy

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"


@dataclass(frozen=True)
class Relocated:
    """A program, a call of it, and what that gives."""

    text: str
    call: Callable[[twinjit.Executable], Any]
    expected: Any
    policy: Policy | None = None


def _doubled_from(exe: twinjit.Executable) -> list[float]:
    return list(map(float, exe.f(np.arange(4, dtype=np.float32))))


def _failure(exe: twinjit.Executable) -> str:
    try:
        exe.f(-1)
    except twinjit.errors.ExecutionError as error:
        return str(error)
    return "none"


CALLS = {
    "C library": Relocated(
        """
llvm.mlir.global private constant @format("%d and %s\\00") : !llvm.array<10 x i8>
llvm.mlir.global private constant @word("others\\00") : !llvm.array<7 x i8>
llvm.func @snprintf(!llvm.ptr, i64, !llvm.ptr, ...) -> i32
llvm.func @strlen(!llvm.ptr) -> i64
llvm.func @f(%x: i32) -> i64 {
  %size = llvm.mlir.constant(64 : i64) : i64
  %buffer = llvm.alloca %size x i8 : (i64) -> !llvm.ptr
  %format = llvm.mlir.addressof @format : !llvm.ptr
  %word = llvm.mlir.addressof @word : !llvm.ptr
  %n = llvm.call @snprintf(%buffer, %size, %format, %x, %word)
    vararg(!llvm.func<i32 (ptr, i64, ptr, ...)>)
    : (!llvm.ptr, i64, !llvm.ptr, i32, !llvm.ptr) -> i32
  %length = llvm.call @strlen(%buffer) : (!llvm.ptr) -> i64
  llvm.return %length : i64
}""",
        lambda exe: exe.f(1234),
        len("1234 and others"),
    ),
    "output": Relocated(
        """
llvm.mlir.global private constant @line("printed by compiled code\\00") : !llvm.array<25 x i8>
llvm.func @puts(!llvm.ptr) -> i32
llvm.func @f() -> i32 {
  %line = llvm.mlir.addressof @line : !llvm.ptr
  %n = llvm.call @puts(%line) : (!llvm.ptr) -> i32
  llvm.return %n : i32
}""",
        lambda exe: exe.f() >= 0,
        True,
    ),
    "allocation": Relocated(
        """
func.func @f(%n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = memref.alloc(%n) : memref<?xindex>
  scf.for %i = %zero to %n step %one { memref.store %i, %m[%i] : memref<?xindex> }
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> index {
    %v = memref.load %m[%i] : memref<?xindex>
    %t = arith.addi %s, %v : index
    scf.yield %t : index
  }
  memref.dealloc %m : memref<?xindex>
  return %sum : index
}""",
        lambda exe: exe.f(100),
        4950,
    ),
    "mathematics": Relocated(
        """
func.func @f(%x: f64) -> f64 {
  %s = math.sin %x : f64
  %p = math.powf %s, %x : f64
  %e = math.exp %p : f64
  %t = math.atan2 %e, %x : f64
  return %t : f64
}""",
        lambda exe: round(exe.f(1.25), 9),
        round(math.atan2(math.exp(math.sin(1.25) ** 1.25), 1.25), 9),
    ),
    "compiler's library": Relocated(
        """
func.func @f(%x: i64, %y: i64) -> i64 {
  %a = arith.extui %x : i64 to i128
  %shift = arith.constant 70 : i128
  %b = arith.shli %a, %shift : i128
  %c = arith.extui %y : i64 to i128
  %d = arith.divui %b, %c : i128
  %e = arith.shrui %d, %shift : i128
  %r = arith.trunci %e : i128 to i64
  return %r : i64
}""",
        lambda exe: exe.f(1000, 7),
        142,
    ),
    "runtime": Relocated(
        """
func.func @f(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}""",
        lambda exe: float(exe.f(1.5)),
        1.5,
    ),
    "assertion": Relocated(
        """
func.func @f(%x: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi sge, %x, %zero : i64
  cf.assert %ok, "x must not be negative"
  return %x : i64
}""",
        _failure,
        "f: x must not be negative",
    ),
    "tables of addresses": Relocated(
        """
llvm.mlir.global internal constant @one(1 : i64) : i64
llvm.mlir.global internal constant @two(2 : i64) : i64
llvm.mlir.global internal @table() : !llvm.array<2 x ptr> {
  %none = llvm.mlir.undef : !llvm.array<2 x ptr>
  %one = llvm.mlir.addressof @one : !llvm.ptr
  %two = llvm.mlir.addressof @two : !llvm.ptr
  %a = llvm.insertvalue %one, %none[0] : !llvm.array<2 x ptr>
  %b = llvm.insertvalue %two, %a[1] : !llvm.array<2 x ptr>
  llvm.return %b : !llvm.array<2 x ptr>
}
llvm.mlir.global external @visible(40 : i64) : i64
llvm.func @f(%i: i64) -> i64 {
  %table = llvm.mlir.addressof @table : !llvm.ptr
  %place = llvm.getelementptr %table[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %element = llvm.load volatile %place : !llvm.ptr -> !llvm.ptr
  %value = llvm.load %element : !llvm.ptr -> i64
  %visible = llvm.mlir.addressof @visible : !llvm.ptr
  %base = llvm.load volatile %visible : !llvm.ptr -> i64
  %sum = llvm.add %value, %base : i64
  llvm.return %sum : i64
}""",
        lambda exe: [exe.f(0), exe.f(1)],
        [41, 42],
    ),
    "indirect calls": Relocated(
        """
llvm.func internal @up(%x: i64) -> i64 attributes {passthrough = ["noinline"]} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %y = llvm.add %x, %one : i64
  llvm.return %y : i64
}
llvm.func internal @down(%x: i64) -> i64 attributes {passthrough = ["noinline"]} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %y = llvm.sub %x, %one : i64
  llvm.return %y : i64
}
llvm.mlir.global internal @chosen() : !llvm.ptr {
  %up = llvm.mlir.addressof @up : !llvm.ptr
  llvm.return %up : !llvm.ptr
}
llvm.func @f(%c: i1, %x: i64) -> i64 {
  %up = llvm.mlir.addressof @up : !llvm.ptr
  %down = llvm.mlir.addressof @down : !llvm.ptr
  %g = llvm.select %c, %up, %down : i1, !llvm.ptr
  %y = llvm.call %g(%x) : !llvm.ptr, (i64) -> i64
  %place = llvm.mlir.addressof @chosen : !llvm.ptr
  %h = llvm.load volatile %place : !llvm.ptr -> !llvm.ptr
  %z = llvm.call %h(%y) : !llvm.ptr, (i64) -> i64
  llvm.return %z : i64
}""",
        lambda exe: [exe.f(True, 5), exe.f(False, 5)],
        [7, 5],
    ),
    "jump table": Relocated(
        "llvm.func @getpid() -> i32\nllvm.func @f(%x: i32) -> i32 {\n  llvm.switch %x : i32, ^d [\n"
        + ",\n".join(f"    {case}: ^c{case}" for case in range(12))
        + "\n  ]\n"
        + "".join(
            f"^c{case}:\n  %r{case} = llvm.mlir.constant({case * case * 7 % 31} : i32) : i32\n"
            f"  %p{case} = llvm.call @getpid() : () -> i32\n"
            f"  %z{case} = llvm.xor %p{case}, %p{case} : i32\n"
            f"  %s{case} = llvm.add %r{case}, %z{case} : i32\n  llvm.return %s{case} : i32\n"
            for case in range(12)
        )
        + "^d:\n  %m = llvm.mlir.constant(-1 : i32) : i32\n  llvm.return %m : i32\n}",
        lambda exe: [exe.f(case) for case in (0, 1, 5, 11, 12)],
        [0, 7, 20, 10, -1],
    ),
    "variable": Relocated(
        """
memref.global "private" @count : memref<1xi64> = dense<40>
func.func @f() -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %m = memref.get_global @count : memref<1xi64>
  %v = memref.load %m[%zero] : memref<1xi64>
  %w = arith.addi %v, %one : i64
  memref.store %w, %m[%zero] : memref<1xi64>
  return %w : i64
}""",
        lambda exe: [exe.f(), exe.f()],
        [41, 42],
    ),
    "large constant": Relocated(
        "func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {\n"
        f"  %c = arith.constant dense<[{', '.join(f'{i}.5' for i in range(4096))}]> : "
        "tensor<4096xf32>\n  %y = arith.addf %x, %c : tensor<4096xf32>\n"
        "  return %y : tensor<4096xf32>\n}",
        lambda exe: float(exe.f(np.ones(4096, np.float32))[4095]),
        4096.5,
    ),
    "lifted constant": Relocated(
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
        "  %y = arith.mulf %x, %c : tensor<4xf32>\n  return %y : tensor<4xf32>\n}",
        _doubled_from,
        [0.0, 2.0, 6.0, 12.0],
        Policy(constants="lift", lift_bytes=1),
    ),
    "stack protector": Relocated(
        """
llvm.func @memset(!llvm.ptr, i32, i64) -> !llvm.ptr
llvm.func @f(%n: i64) -> i8 attributes {passthrough = ["sspreq"]} {
  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr
  %seven = llvm.mlir.constant(7 : i32) : i32
  %q = llvm.call @memset(%p, %seven, %n) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  %r = llvm.load volatile %p : !llvm.ptr -> i8
  llvm.return %r : i8
}""",
        lambda exe: exe.f(100),
        7,
    ),
    "large frame": Relocated(
        """
llvm.func @memset(!llvm.ptr, i32, i64) -> !llvm.ptr
llvm.func @f(%x: i32) -> i8 attributes {passthrough = [["probe-stack", "inline-asm"]]} {
  %size = llvm.mlir.constant(65536 : i64) : i64
  %p = llvm.alloca %size x i8 : (i64) -> !llvm.ptr
  %q = llvm.call @memset(%p, %x, %size) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  %r = llvm.load volatile %p : !llvm.ptr -> i8
  llvm.return %r : i8
}""",
        lambda exe: exe.f(9),
        9,
    ),
    "exceptions": Relocated(
        """
llvm.func @__gxx_personality_v0(...) -> i32
llvm.func @labs(%x: i64) -> i64
llvm.func @f(%x: i64) -> i64 attributes {personality = @__gxx_personality_v0} {
  %y = llvm.invoke @labs(%x) to ^good unwind ^bad : (i64) -> i64
^good:
  llvm.return %y : i64
^bad:
  %e = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
  llvm.resume %e : !llvm.struct<(ptr, i32)>
}""",
        lambda exe: exe.f(-3),
        3,
    ),
    "alias": Relocated(
        """
llvm.mlir.global internal @g(5 : i64) : i64
llvm.mlir.alias external @h : i64 {
  %g = llvm.mlir.addressof @g : !llvm.ptr
  llvm.return %g : !llvm.ptr
}
llvm.func @f() -> i64 {
  %h = llvm.mlir.addressof @h : !llvm.ptr
  %r = llvm.load volatile %h : !llvm.ptr -> i64
  llvm.return %r : i64
}""",
        lambda exe: exe.f(),
        5,
    ),
    "constant pool": Relocated(
        """
func.func @f(%x: f64) -> f64 {
  %a = arith.constant 3.25 : f64
  %b = arith.constant 1.7e10 : f64
  %y = arith.mulf %x, %a : f64
  %z = arith.addf %y, %b : f64
  return %z : f64
}""",
        lambda exe: exe.f(2.0),
        17000000006.5,
    ),
    "recursion": Relocated(
        """
func.func private @g(%n: i64) -> i64 attributes {no_inline} {
  %r = func.call @f(%n) : (i64) -> i64
  return %r : i64
}
func.func @f(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %end = arith.cmpi sle, %n, %zero : i64
  %r = scf.if %end -> i64 {
    scf.yield %zero : i64
  } else {
    %m = arith.subi %n, %one : i64
    %s = func.call @g(%m) : (i64) -> i64
    %t = arith.addi %s, %n : i64
    scf.yield %t : i64
  }
  return %r : i64
}""",
        lambda exe: exe.f(10),
        55,
    ),
    "assembly": Relocated(
        'llvm.func @f(%x: i64) -> i64 {\n  %r = llvm.inline_asm "leaq 1($1), $0", "=r,r" %x '
        ": (i64) -> i64\n  llvm.return %r : i64\n}",
        lambda exe: exe.f(41),
        42,
    ),
}
"""Programs with a call, by what is special about them."""


def every_text() -> dict[str, str]:
    """All programs that this repository has, whether they can be compiled or not.

    Those of the cases only nightly: hundreds that differ little, to the code generator.
    """
    found = {name: each.text for name, each in CALLS.items()}
    for file in sorted([*HERE.glob("programs/*.mlir"), *EXAMPLES.glob("*.mlir")]):
        found[file.name] = file.read_text()
    for file in sorted(HERE.glob("cases/identity*.json")) if NIGHTLY else []:
        for case in json.loads(file.read_text()):
            found[f"{case['name']} (a)"], found[f"{case['name']} (b)"] = case["a"], case["b"]
    return found
