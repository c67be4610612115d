"""Calls of the runtime's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import BYTE, POINTER, VALUE_TYPES, WORD
from twinjit.sql.runtime import FUNCTIONS, Argument, RuntimeFunction

__all__ = ["call_runtime", "declare"]

_CODE = ir.IntType(32)
_ARGUMENTS: Final[dict[Argument, tuple[ir.Type, ...]]] = {
    "int4": (ir.IntType(32),),
    "int8": (WORD,),
    "float4": (ir.FloatType(),),
    "float8": (ir.DoubleType(),),
    "text": (POINTER, WORD),
    "numeric": (WORD, WORD),
    "arena": (POINTER,),
}
_RESULTS: Final[dict[Argument, ir.Type]] = {
    "bool": BYTE,
    "int2": ir.IntType(16),
    "int4": ir.IntType(32),
    "int8": WORD,
    "float4": ir.FloatType(),
    "float8": ir.DoubleType(),
    "text": VALUE_TYPES["text"],
    "numeric": VALUE_TYPES["numeric"],
}


def declare(module: ir.Module, function: RuntimeFunction) -> ir.Function:
    """Declare a function, unless the module has it."""
    known = module.globals.get(function.symbol)
    if isinstance(known, ir.Function):
        return known
    arguments = [each for kind in function.arguments for each in _ARGUMENTS[kind]]
    if function.can_fail:
        type_ = ir.FunctionType(_CODE, [*arguments, POINTER])
    else:
        type_ = ir.FunctionType(_RESULTS[function.result], arguments)
    return ir.Function(module, type_, function.symbol)


def call_runtime(
    emitter: Emitter, name: str, arguments: Sequence[ir.Value | int]
) -> tuple[ir.Value, ir.Value | None]:
    """Call a function.

    Parameters
    ----------
    arguments
        In registers' form, without the arena; Python's integers are for int4.

    Returns
    -------
    value, failure
        The failure is None where the function has none.
    """
    function = FUNCTIONS[name]
    builder = emitter.builder
    passed = list(_passed(emitter, function, arguments))
    callee = declare(emitter.module(), function)
    if not function.can_fail:
        return builder.call(callee, passed), None
    type_ = _RESULTS[function.result]
    with builder.goto_entry_block():
        place = builder.alloca(type_)
        place.align = 16
        # What it does not write where it fails is not to be undefined.
        builder.store(ir.Constant(type_, None), place)
    code = builder.call(callee, [*passed, place])
    value = builder.load(place, typ=type_)
    if function.result == "bool":
        value = builder.trunc(value, ir.IntType(1))
    return value, builder.icmp_signed("!=", code, _CODE(0))


def _passed(
    emitter: Emitter, function: RuntimeFunction, arguments: Sequence[ir.Value | int]
) -> Sequence[ir.Value]:
    builder = emitter.builder
    found: list[ir.Value] = []
    remaining = iter(arguments)
    for kind in function.arguments:
        if kind == "arena":
            found.append(emitter.arena)
            continue
        value = next(remaining)
        if isinstance(value, int):
            found.append(ir.Constant(_CODE, value))
        elif kind == "text":
            found += [builder.extract_value(value, 0), builder.extract_value(value, 1)]
        elif kind == "numeric":
            high = builder.lshr(value, value.type(64))
            found += [builder.trunc(value, WORD), builder.trunc(high, WORD)]
        else:
            found.append(value)
    return found
