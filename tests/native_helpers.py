"""Small programs through the native core alone: no compiler, no cache, upstream's passes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from twinjit._native import _llvm, _mlir
from twinjit.stop import Stop

LOWER = (
    "builtin.module(convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,convert-math-to-llvm,"
    "convert-cf-to-llvm,convert-index-to-llvm,convert-complex-to-llvm,reconcile-unrealized-casts)"
)


@functools.cache
def build(text: str) -> tuple[_llvm.Image, dict[str, Any], dict[str, tuple[int, int]]]:
    """Compile a program; return its image, and by function its signature and slots."""
    program = _mlir.parse(text.encode(), "test.mlir")
    signatures = {each["name"]: each for each in program.signatures()}
    bitcode, _, _ = program.lower(LOWER, False, Stop())
    object_code, slots, _, _ = _llvm.emit(
        bitcode, list(signatures), *_llvm.host_target(), 2, Stop()
    )
    return _llvm.load(object_code, list(signatures)), signatures, slots


def emit_llvm(text: str, entries: Sequence[str]) -> bytes:
    """Make the object code of LLVM IR whose functions have names that stand for themselves."""
    bitcode = _llvm.parse_module(text.encode(), "test.ll").bitcode()
    return _llvm.emit(bitcode, entries, *_llvm.host_target(), 2, Stop())[0]


def function(
    text: str,
    name: str = "f",
    *,
    arguments: Sequence[Mapping[str, Any]] | None = None,
    results: Sequence[Mapping[str, Any]] | None = None,
    fresh: bool = False,
) -> _llvm.Function:
    """Compile a program and return one function.

    `arguments` and `results` replace what its signature says: so a function of memrefs stands for
    what bufferisation would make of one of tensors. `fresh` links the code anew.
    """
    compiled = build.__wrapped__(text) if fresh else build(text)
    image, signatures, slots = compiled
    signature = signatures[name]
    return _llvm.Function(
        image,
        name,
        signature["arguments"] if arguments is None else arguments,
        signature["results"] if results is None else results,
        slots[name],
    )


def value(kind: str, dtype: str, *shape: int, read_only: bool = False) -> dict[str, Any]:
    """Describe a row-major parameter or result."""
    sizes = "".join(f"{'?' if size == -1 else size}x" for size in shape)
    return {
        "kind": kind,
        "dtype": dtype,
        "shape": list(shape),
        "strides": None,
        "offset": None,
        "text": dtype if kind == "scalar" else f"{kind}<{sizes}{dtype}>",
        "read_only": read_only,
    }


def loops(rank: int, body: str, *, over: str, type: str) -> str:  # noqa: A002  # MLIR's word
    """Text of nested loops over a memref's dimensions; `body` may use ``$i``, the indices."""
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    for d in range(rank):
        lines += [
            f"%d{d} = arith.constant {d} : index",
            f"%n{d} = memref.dim {over}, %d{d} : {type}",
            f"scf.for %i{d} = %c0 to %n{d} step %c1 {{",
        ]
    lines.append(body.replace("$i", ", ".join(f"%i{d}" for d in range(rank))))
    return "\n".join([*lines, *["}"] * rank])


def copies(source: str, target: str, dtype: str, rank: int) -> str:
    """Text of a function that copies one memref into another, element by element."""
    body = f"""
      %x = memref.load %a[$i] : {source}
      memref.store %x, %b[$i] : {target}"""
    return f"""func.func @f(%a: {source}, %b: {target}) {{
      {loops(rank, body, over="%a", type=source)}
      return
    }}"""
