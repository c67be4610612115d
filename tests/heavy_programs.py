"""Programs that take a while to compile."""

from __future__ import annotations

__all__ = ["chain", "matmuls"]


def matmuls(count: int) -> str:
    """Text of functions of tensors, each of another shape."""
    return "\n".join(_matmul(number) for number in range(count))


def _matmul(number: int) -> str:
    rows, columns = 8 + number % 24, 11 + number % 24
    a, b, c = f"tensor<{rows}x16xf32>", f"tensor<16x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    return f"""
    func.func @f{number}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
      %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
      return %r : {c}
    }}"""


def chain(operations: int) -> str:
    """Text of one function of one block."""
    names = ["addi", "muli", "xori", "subi"]
    lines = [
        f"%v{i} = arith.{names[i % 4]} %v{i - 1}, %v{i * 7919 % i} : i32"
        for i in range(1, operations)
    ]
    body = "\n".join(lines)
    return f"func.func @f(%v0: i32) -> i32 {{\n{body}\nreturn %v{operations - 1} : i32 }}"
