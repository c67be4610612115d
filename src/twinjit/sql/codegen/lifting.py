"""Constants as parameters, so that expressions which differ in them alone share code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from twinjit.sql.rewriting import map_operands
from twinjit.sql.tree import Call, Column, Constant, Expression, Parameter, Value
from twinjit.sql.types import SqlType

__all__ = ["WORDS", "Lifted", "Slot", "Slots", "lift"]

_NARROW = 10**18 - 1
_ANY = 10**38 - 1

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
        Where the value of each comes from.
    """

    expressions: tuple[Expression | None, ...]
    slots: tuple[Constant | Parameter | Column, ...]


@dataclass(frozen=True)
class Slot(Parameter):
    """A slot, and a magnitude that its value does not exceed, if it is a numeric."""

    bound: int


def lift(
    expressions: Sequence[Expression | None],
    parameters: Sequence[Value] = (),
    constant_columns: Mapping[int, bool] = MappingProxyType({}),
) -> Lifted:
    """Lift all values, but for nulls and for constants that decide which code is made.

    Parameters
    ----------
    parameters
        The values of the query's parameters.
    constant_columns
        The columns that have one value, and whether that is null.
    """
    lifter = _Lifter(parameters, constant_columns)
    lifted = tuple(None if each is None else lifter.lift(each) for each in expressions)
    return Lifted(lifted, tuple(lifter.slots))


class _Lifter:
    def __init__(self, parameters: Sequence[Value], constant_columns: Mapping[int, bool]) -> None:
        self._parameters = parameters
        self._constant_columns = constant_columns
        self.slots: list[Constant | Parameter | Column] = []

    def lift(self, part: Any) -> Any:
        match part:
            case Constant(value):
                return self._slot(part, value)
            case Parameter(index):
                return self._slot(part, self._parameters[index])
            case Column(index) if index in self._constant_columns:
                # One code for all partitions, however large their values are.
                return self._slot(part, None if self._constant_columns[index] else _ANY)
            case Call() if part.function in _STRUCTURE:
                kept = _STRUCTURE[part.function]
                arguments = tuple(
                    each if place in kept else self.lift(each)
                    for place, each in enumerate(part.arguments)
                )
                return Call(part.function, arguments, part.type)
        return map_operands(part, self.lift)

    def _slot(self, source: Constant | Parameter | Column, value: Value) -> Constant | Parameter:
        if value is None:
            return Constant(None, source.type)
        # Each place has a slot of its own: equal values there are no reason for other code.
        self.slots.append(source)
        index = len(self.slots) - 1
        if source.type.kind != "numeric" or not isinstance(value, int):
            return Parameter(index, source.type)
        # Two bounds, so that literals make two kernels at most.
        return Slot(index, source.type, _NARROW if abs(value) <= _NARROW else _ANY)


class Slots:
    """The words that a kernel is given for its slots. Keeps alive what the addresses are of.

    Parameters
    ----------
    sources
        Where the value of each slot comes from; none is null.
    parameters
        The values of the query's parameters.
    columns
        Those of columns that have one value.

    Attributes
    ----------
    words
        Shape (slots * `WORDS`,), int64.
    """

    def __init__(
        self,
        sources: Sequence[Constant | Parameter | Column],
        parameters: Sequence[Value] = (),
        columns: Mapping[int, Value] = MappingProxyType({}),
    ) -> None:
        self._kept: list[object] = []
        self.words: npt.NDArray[np.int64] = np.zeros(max(1, len(sources)) * WORDS, np.int64)
        for place, each in enumerate(sources):
            value = (
                each.value
                if isinstance(each, Constant)
                else parameters[each.index]
                if isinstance(each, Parameter)
                else columns[each.index]
            )
            self._fill(self.words[place * WORDS : (place + 1) * WORDS], value, each.type)

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
