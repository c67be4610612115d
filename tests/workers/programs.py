"""Programs for workers: good, crashing, and without end."""

from __future__ import annotations

__all__ = ["ENDLESS", "adds", "crashing"]


def adds(number: int) -> str:
    """Make a program of which no other number has the code."""
    return (
        f"func.func @f(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


def crashing(number: int) -> str:
    """Make a program whose translation to LLVM IR ends in an assertion of LLVM 22.1.8."""
    return (
        f"llvm.mlir.global internal constant @g(dense<[1, 2, {number}]> : tensor<3xi32>) "
        ": !llvm.array<4 x i32>\n"
        "llvm.func @f() -> !llvm.ptr { %0 = llvm.mlir.addressof @g : !llvm.ptr "
        "llvm.return %0 : !llvm.ptr }"
    )


# It is split into scalars, one by one: minutes, and gigabytes.
ENDLESS = (
    "func.func @f(%a: vector<1000000xf32>) -> vector<1000000xf32> "
    "{ %0 = arith.addf %a, %a : vector<1000000xf32> return %0 : vector<1000000xf32> }"
)
