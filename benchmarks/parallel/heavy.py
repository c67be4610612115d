"""Programs that take seconds to compile."""

from __future__ import annotations

from benchmarks.programs import program

__all__ = ["ONE_FUNCTION", "PROGRAMS", "heavy"]

PROGRAMS = ("tensors", "scalars", "nests")
"""Many functions: of tensors; of scalars, loops and branches; of deep loop nests."""

ONE_FUNCTION = "one function"
"""A single function of a single block."""

_SIZES = {"tensors": 100, "scalars": 20_000, "nests": 170, ONE_FUNCTION: 60_000}


def heavy(name: str, scale: float) -> str:
    """Text of a program that takes some `scale` × 2.5 to 3 s on one core."""
    size = max(1, round(_SIZES[name] * scale))
    if name == "tensors":
        return "\n".join(_tensors(number) for number in range(size))
    if name == "nests":
        return "\n".join(_nest(number) for number in range(size))
    return program(size) if name == "scalars" else _chain(size)


def _tensors(number: int) -> str:
    rows, columns = 8 + number % 24, 11 + number % 24
    a, b, c = f"tensor<{rows}x16xf32>", f"tensor<16x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    return f"""func.func @f{number}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
      %z = arith.constant {number}.5 : f32
      %m = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
      %e = tensor.empty() : {c}
      %r = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]
      }} ins(%m : {c}) outs(%e : {c}) {{
      ^bb0(%x: f32, %y: f32):
        %u = arith.mulf %x, %z : f32
        %v = math.exp %u : f32
        linalg.yield %v : f32
      }} -> {c}
      return %r : {c}
    }}"""


def _nest(number: int) -> str:
    depth = 5
    type_ = f"memref<{'4x' * depth}xf32>".replace("xxf32", "xf32")
    indices = ", ".join(f"%i{level}" for level in range(depth))
    body = (
        f"%x = memref.load %a[{indices}] : {type_}\n%y = math.exp %x : f32\n"
        f"%w = arith.mulf %y, %x : f32\nmemref.store %w, %b[{indices}] : {type_}"
    )
    for level in reversed(range(depth)):
        body = f"affine.for %i{level} = 0 to 4 {{\n{body}\n}}"
    return f"func.func @f{number}(%a: {type_}, %b: {type_}) {{\n{body}\nreturn\n}}"


def _chain(operations: int) -> str:
    names = ("addi", "muli", "xori", "andi", "ori", "subi", "shrsi")
    lines = [
        f"%v{i} = arith.{names[i * 7919 % 7]} %v{i - 1}, %v{i * 31337 % i} : i32"
        for i in range(1, operations)
    ]
    body = "\n".join(lines)
    return f"func.func @f(%v0: i32) -> i32 {{\n{body}\nreturn %v{operations - 1} : i32\n}}"
