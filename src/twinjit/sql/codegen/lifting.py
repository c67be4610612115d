"""Constants as parameters, so that expressions which differ in them alone share code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.sql.rewriting import map_operands
from twinjit.sql.tree import Call, Column, Constant, Expression, Parameter, Value
from twinjit.sql.types import SqlType

__all__ = ["WORDS", "Lifted", "Slots", "lift"]

WORDS = 2
"""Words of a slot: a value of at most 128 bits, or a text's address and length."""

# Of these, the arguments at these places say which code is to be made.
_STRUCTURE = {"extract": (0,), "date_trunc": (0,), "numeric_limit": (1,)}


@dataclass(frozen=True)
class Lifted:
    """Expressions whose values come from slots.

    Attributes
    ----------
    expressions
        With `Parameter`s that count the slots.
    slots
        What each is filled with; never null.
    """

    expressions: tuple[Expression | None, ...]
    slots: tuple[Constant, ...]


def lift(
    expressions: Sequence[Expression | None],
    parameters: Sequence[Value],
    columns: Mapping[int, Value],
) -> Lifted:
    """Lift all values, but for nulls and for constants that decide which code is made.

    Parameters
    ----------
    parameters
        The values of the query's parameters.
    columns
        Those of columns that have one value.
    """
    lifter = _Lifter(parameters, columns)
    lifted = tuple(None if each is None else lifter.lift(each) for each in expressions)
    return Lifted(lifted, tuple(lifter.slots))


class _Lifter:
    def __init__(self, parameters: Sequence[Value], columns: Mapping[int, Value]) -> None:
        self._parameters = parameters
        self._columns = columns
        self.slots: list[Constant] = []

    def lift(self, part: Any) -> Any:
        if isinstance(part, Constant):
            return self._slot(part)
        if isinstance(part, Parameter):
            return self._slot(Constant(self._parameters[part.index], part.type))
        if isinstance(part, Column) and part.index in self._columns:
            return self._slot(Constant(self._columns[part.index], part.type))
        if isinstance(part, Call) and part.function in _STRUCTURE:
            kept = _STRUCTURE[part.function]
            arguments = tuple(
                each if place in kept else self.lift(each)
                for place, each in enumerate(part.arguments)
            )
            return Call(part.function, arguments, part.type)
        return map_operands(part, self.lift)

    def _slot(self, constant: Constant) -> Constant | Parameter:
        if constant.value is None:
            return constant
        # Each place has a slot of its own: equal values there are no reason for other code.
        self.slots.append(constant)
        return Parameter(len(self.slots) - 1, constant.type)


class Slots:
    """The words that a kernel is given for its slots. Keeps alive what the addresses are of.

    Attributes
    ----------
    words
        Shape (slots * `WORDS`,), int64.
    """

    def __init__(self, values: Sequence[Constant]) -> None:
        self._kept: list[object] = []
        self.words: npt.NDArray[np.int64] = np.zeros(max(1, len(values)) * WORDS, np.int64)
        for place, each in enumerate(values):
            self._fill(self.words[place * WORDS : (place + 1) * WORDS], each.value, each.type)

    def _fill(self, words: npt.NDArray[np.int64], value: Value, type_: SqlType) -> None:
        if isinstance(value, bytes):
            text = np.frombuffer(value or b"\0", np.uint8)
            self._kept.append(text)
            words[:2] = text.ctypes.data, len(value)
        elif type_.kind == "float4":
            words.view(np.float32)[0] = value
        elif type_.kind == "float8":
            words.view(np.float64)[0] = value
        else:
            words.view(np.uint8)[:16] = np.frombuffer(
                int(value or 0).to_bytes(16, "little", signed=True), np.uint8
            )
