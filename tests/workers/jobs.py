"""Jobs that crash, made of programs."""

from __future__ import annotations

import io

import mlir.ir as ir

from twinjit.build import BuildOptions
from twinjit.foreign import Bundle
from twinjit.policy import Policy
from twinjit.source import SourceBytes
from twinjit.target import Target
from twinjit.workers.ending import Ending
from twinjit.workers.limits import Limits
from twinjit.workers.reproducer import Reproducer

IDENTITY = "func.func @f(%x: i64) -> i64 { return %x : i64 }"

# MLIR 22.1.8's translation asserts that there are as many elements as the type has.
ASSERTION = "llvm.mlir.global @g(dense<[1, 2, 3]> : tensor<3xi32>) : !llvm.array<4 x i32>"

# LLVM 22.1.8 has no such addition for x86.
FATAL_ERROR = """
llvm.func @f(%x: !llvm.ppc_fp128) -> !llvm.ppc_fp128 {
  %y = llvm.fadd %x, %x : !llvm.ppc_fp128
  llvm.return %y : !llvm.ppc_fp128
}"""

# MLIR's parser recurses for each sign.
STACK_OVERFLOW = f"""
func.func @f(%i: index) -> index {{
  %j = affine.apply affine_map<(d) -> ({"-" * 4_000_000}d)>(%i)
  return %j : index
}}"""

LARGE = f"""
func.func @f() -> tensor<1000000xi64> {{
  %c = arith.constant dense<{list(range(1_000_000))}> : tensor<1000000xi64>
  return %c : tensor<1000000xi64>
}}"""


def job(
    program: str | bytes,
    *,
    limits: Limits | None = None,
    ending: Ending | None = None,
    output: str = "",
    bundle: Bundle | None = None,
    pipeline: str = "auto",
) -> Reproducer:
    """A compilation of a program for this machine."""
    data = program if isinstance(program, bytes) else program.encode()
    options = BuildOptions(pipeline, 3, Target.host(), Policy())
    source = SourceBytes(data, "<text>", bundle=bundle)
    return Reproducer.of_now(source, options, limits or Limits(), ending or Ending(), output)


def bytecode(flipped: tuple[int, int] | None = None) -> bytes:
    """A small program as bytecode, one bit of which (byte, bit) may be flipped."""
    with ir.Context():
        module = ir.Module.parse(
            "func.func @f(%x: i64) -> i64 { %c = arith.constant dense<[1,2,3]> : tensor<3xi64>\n"
            " return %x : i64 }"
        )
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    data = bytearray(file.getvalue())
    if flipped:
        data[flipped[0]] ^= 1 << flipped[1]
    return bytes(data)
