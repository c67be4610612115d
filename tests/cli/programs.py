"""Programs that the command line is tried on."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy.mlir")
MLP = str(EXAMPLES / "mlp.mlir")
TWICE = "func.func @twice(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"
