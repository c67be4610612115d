"""Loops in machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from twinjit.sql.codegen.values import word

__all__ = ["counted"]


def counted(
    builder: ir.IRBuilder,
    start: ir.Value,
    end: ir.Value,
    body: Callable[[ir.Value, Sequence[ir.Value]], Sequence[ir.Value]],
    carried: Sequence[ir.Value] = (),
    step: int = 1,
) -> Sequence[ir.Value]:
    """Emit a loop over words from `start` to below `end`.

    Parameters
    ----------
    body
        Emits a turn, given the word and what is carried from turn to turn; gives what the next one
        gets.
    carried
        What the first one gets.

    Returns
    -------
    sequence of value
        What the last turn gave.
    """
    before = builder.block
    head, inside, after = (builder.append_basic_block(n) for n in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(start.type)
    index.add_incoming(start, before)
    values = []
    for each in carried:
        phi = builder.phi(each.type)
        phi.add_incoming(each, before)
        values.append(phi)
    builder.cbranch(builder.icmp_signed("<", index, end), inside, after)
    builder.position_at_end(inside)
    results = body(index, values)
    index.add_incoming(builder.add(index, word(step), flags=["nsw"]), builder.block)
    for phi, result in zip(values, results, strict=True):
        phi.add_incoming(result, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return values
