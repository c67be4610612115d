"""Strict calls: null where an argument is, and never failing there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from twinjit.sql.codegen.emitter import Emitter
from twinjit.sql.codegen.values import Emitted
from twinjit.sql.tree import Call

__all__ = ["Compute", "emit_branching", "emit_strict"]

Compute = Callable[[Emitter, Call, Sequence[ir.Value]], "tuple[ir.Value, ir.Value | None]"]
"""Emits an operation on values that are not null; gives its value and its failure."""


def emit_strict(emitter: Emitter, call: Call, compute: Compute) -> Emitted:
    """Emit a call whose computation is harmless whatever the values, without branches."""
    arguments = [emitter.emit(each) for each in call.arguments]
    is_null = emitter.any(*(each.is_null for each in arguments))
    value, failure = compute(emitter, call, [each.value for each in arguments])
    before = [each.failure for each in arguments]
    return Emitted(value, is_null, emitter.any(*before, emitter.unless(is_null, failure)))


def emit_branching(emitter: Emitter, call: Call, compute: Compute) -> Emitted:
    """Emit a call that is computed only where no argument is null and none has failed."""
    arguments = [emitter.emit(each) for each in call.arguments]
    is_null = emitter.any(*(each.is_null for each in arguments))
    before = emitter.any(*(each.failure for each in arguments))
    skipped = emitter.any(is_null, before if before is not None else None)
    values = [each.value for each in arguments]

    def work() -> Emitted:
        value, failure = compute(emitter, call, values)
        return Emitted(value, None, failure)

    if skipped is None:
        return work()
    otherwise = Emitted(emitter.null(call.type).value, None, None)
    found = emitter.guarded(emitter.builder.not_(skipped), work, otherwise)
    return Emitted(found.value, is_null, emitter.any(before, found.failure))
