"""Programs as live `mlir.ir` modules, each in a context of its own, and their fingerprints."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import mlir.ir as ir

import twinjit

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))


def parse(source: str | bytes, *, multithreading: bool = True) -> ir.Module:
    """In a new context that takes operations of any dialect.

    With `multithreading`, a symbol defined twice in a nested module aborts the process: the
    verifier's thread reports to the bindings' handler, which needs the GIL (MLIR 22.1.8).
    """
    context = ir.Context()
    context.enable_multithreading(multithreading)
    context.allow_unregistered_dialects = True
    with context:
        return ir.Module.parse(source)


def fingerprint(program: str | bytes | Any) -> str:
    """Of text or bytecode, parsed in a new context, or of a live module or operation."""
    if isinstance(program, str | bytes):
        program = parse(program)
    return twinjit.fingerprint(program)


def generic(module: ir.Module) -> str:
    """The text that two modules share if and only if they are the same but for locations."""
    return str(module.operation.get_asm(print_generic_op_form=True))


def bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def attribute(text: str) -> str:
    """A program that is little more than one attribute."""
    return f'"t.o"() {{a = {text}}} : () -> ()'


_modules: list[ir.Module] = []  # an operation of MLIR 22.1's bindings does not keep its own alive


def loop(text: str) -> ir.Operation:
    """The loop of a function, alone: live, for no text could hold it."""
    module = parse(text)
    _modules.append(module)
    (function,) = module.body
    (block,) = function.regions[0]
    return next(each for each in block if each.operation.name == "scf.for")
