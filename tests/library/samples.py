"""Small libraries of LLVM IR, and programs that call their functions."""

from __future__ import annotations

from twinjit import Library
from twinjit._native import _llvm

COUNTS = b"""
%pair = type { i64, i64 }
@weights = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
@calls = internal global i64 0
@shared = constant i64 40
@current = thread_local global i64 0

define i64 @add_two(i64 %x) {
  %sum = add i64 %x, 2
  ret i64 %sum
}
define i64 @weigh(i64 %x) {
  %slot = and i64 %x, 3
  %cell = getelementptr [4 x i64], ptr @weights, i64 0, i64 %slot
  %weight = load i64, ptr %cell
  %two = call i64 @add_two(i64 %weight)
  %half = call i64 @helper(i64 %two)
  ret i64 %half
}
define internal i64 @helper(i64 %x) {
  %half = lshr i64 %x, 1
  ret i64 %half
}
define i64 @count(i64 %x) {
  %old = load i64, ptr @calls
  %new = add i64 %old, %x
  store i64 %new, ptr @calls
  ret i64 %new
}
define i64 @calls_count(i64 %x) {
  %n = call i64 @count(i64 %x)
  ret i64 %n
}
define i64 @apart(i64 %x) noinline {
  ret i64 %x
}
define weak i64 @replaceable(i64 %x) {
  ret i64 %x
}
define i64 @many(i64 %x, ...) {
  ret i64 %x
}
define i64 @reads_shared(i64 %x) {
  %v = load i64, ptr @shared
  %sum = add i64 %v, %x
  ret i64 %sum
}
define i64 @of_thread(i64 %x) {
  %v = load i64, ptr @current
  ret i64 %v
}
define i64 @jumps(i64 %x) {
  %to = select i1 true, ptr blockaddress(@jumps, %one), ptr blockaddress(@jumps, %two)
  indirectbr ptr %to, [label %one, label %two]
one:
  ret i64 1
two:
  ret i64 2
}
define i64 @first(ptr %p) {
  %cell = getelementptr %pair, ptr %p, i64 0, i32 1
  %v = load i64, ptr %cell
  ret i64 %v
}
define i64 @loops(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i64 %next
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
"""
"""A function for each thing that a policy looks at."""


def bitcode(text: bytes) -> bytes:
    """Assemble."""
    return _llvm.parse_module(text, "sample.ll").bitcode()


def text_of(program: bytes) -> str:
    """Print."""
    return str(_llvm.parse_module(program, "program"))


def caller(*names: str, type_: str = "i64") -> bytes:
    """Bitcode of a program that calls functions one after the other."""
    declared = "\n".join(f"declare i64 @{name}({type_})" for name in names)
    calls = "\n".join(f"  %r{i} = call i64 @{name}({type_} %x)" for i, name in enumerate(names))
    body = f"define i64 @main({type_} %x) {{\n{calls}\n  ret i64 %r{len(names) - 1}\n}}"
    return bitcode(f"{declared}\n{body}".encode())


def program(*names: str) -> str:
    """MLIR that calls functions, each with the result of the one before."""
    declared = "\n".join(f"func.func private @{name}(i64) -> i64" for name in names)
    calls = "\n".join(
        f"  %{i + 1} = call @{name}(%{i}) : (i64) -> i64" for i, name in enumerate(names)
    )
    calls = calls.replace("%0)", "%x)")
    return (
        f"{declared}\nfunc.func @main(%x: i64) -> i64 {{\n{calls}\n  return %{len(names)} : i64\n}}"
    )


def library(text: bytes = COUNTS, **options: object) -> Library:
    """Open one of LLVM IR."""
    return Library.from_bitcode(text, **options)  # type: ignore[arg-type]  # as the caller says
