"""Other programs, which leave in contexts what compilations leave there."""

from __future__ import annotations

from collections.abc import Iterator

from twinjit.language import Language
from twinjit.source import SourceBytes

__all__ = ["other_programs"]

# Of several dialects and pipelines, with attributes, types and symbols by the number: each is new
# to contexts.
_MLIR = (
    """
func.func private @helper{n}(%x: i{width}) -> i{width} {{
  %c = arith.constant {n} : i{width}
  %y = arith.muli %x, %c : i{width}
  return %y : i{width}
}}
func.func @main(%x: i{width}, %k: index) -> i{width} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %k step %one iter_args(%s = %x) -> (i{width}) {{
    %t = func.call @helper{n}(%s) : (i{width}) -> i{width}
    scf.yield %t : i{width}
  }}
  return %sum : i{width}
}}
""",
    """
memref.global "private" constant @table : memref<{size}xf32> = dense<{n}.5>
func.func @main(%out: memref<{size}xf32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = arith.constant {size} : index
  %table = memref.get_global @table : memref<{size}xf32>
  scf.for %i = %zero to %size step %one {{
    %x = memref.load %table[%i] : memref<{size}xf32>
    %y = math.exp %x : f32
    memref.store %y, %out[%i] : memref<{size}xf32>
  }}
  return
}}
""",
    """
func.func @main(%a: tensor<{size}x4xf32>, %b: tensor<4x3xf32>) -> tensor<{size}x3xf32> {{
  %c = arith.constant {n}.25 : f32
  %empty = tensor.empty() : tensor<{size}x3xf32>
  %filled = linalg.fill ins(%c : f32) outs(%empty : tensor<{size}x3xf32>) -> tensor<{size}x3xf32>
  %product = linalg.matmul ins(%a, %b : tensor<{size}x4xf32>, tensor<4x3xf32>)
      outs(%filled : tensor<{size}x3xf32>) -> tensor<{size}x3xf32>
  return %product : tensor<{size}x3xf32>
}}
""",
    """
llvm.mlir.global internal constant @text{n}("number {n}")
llvm.func @main(%p: !llvm.ptr, %i: i64) -> i8 {{
  %text = llvm.mlir.addressof @text{n} : !llvm.ptr
  %at = llvm.getelementptr %text[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<{size} x i8>
  %x = llvm.load %at : !llvm.ptr -> i8
  %s = llvm.getelementptr %p[%i, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i{width}, i8)>
  llvm.store %x, %s : i8, !llvm.ptr
  llvm.return %x : i8
}}
""",
)

_LLVM = (
    """
%S{n} = type {{ i{width}, [{size} x float], ptr }}
@text = private constant [{size} x i8] c"{text}"
define ptr @main(ptr %p, i64 %i) {{
  %s = getelementptr %S{n}, ptr %p, i64 %i, i32 2
  %x = load ptr, ptr %s, !tbaa !0
  %c = icmp eq ptr %x, null
  %y = select i1 %c, ptr @text, ptr %x
  ret ptr %y
}}
!0 = !{{!1, !1, i64 0}}
!1 = !{{!"pointer {n}", !2, i64 0}}
!2 = !{{!"root"}}
""",
    """
define internal double @step(double %x) {{
  %y = fmul double %x, {n}.5
  %z = call double @llvm.sqrt.f64(double %y)
  ret double %z
}}
define double @main(double %x, i{width} %count) {{
entry:
  br label %loop
loop:
  %i = phi i{width} [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ %x, %entry ], [ %t, %loop ]
  %t = call double @step(double %s)
  %next = add i{width} %i, 1
  %more = icmp ult i{width} %next, %count
  br i1 %more, label %loop, label %done
done:
  ret double %t
}}
declare double @llvm.sqrt.f64(double)
""",
)

_TEMPLATES: dict[Language, tuple[str, ...]] = {"mlir": _MLIR, "llvm": _LLVM}


def other_programs(language: Language, start: int) -> Iterator[SourceBytes]:
    """Give programs without end, from number `start` on, each another one."""
    templates = _TEMPLATES[language]
    number = start
    while True:
        template = templates[number % len(templates)]
        size = 3 + number % 29
        text = template.format(n=number, width=32 + number % 33, size=size, text="t" * size)
        yield SourceBytes(text.encode(), f"<other program {number}>", language)
        number += 1
