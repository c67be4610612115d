"""Evaluating expressions over vectors.

Each operand is evaluated for the rows that reach it, and a row that has failed goes no further, so
that nothing fails which a row at a time would not have come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit._native import _sql
from twinjit.sql.arrow_types import sql_type_of
from twinjit.sql.columns import DenseColumn
from twinjit.sql.data.scan import Morsel
from twinjit.sql.data.values import value_of
from twinjit.sql.failures import raise_first
from twinjit.sql.interpreter.applying import Applier
from twinjit.sql.interpreter.loading import load
from twinjit.sql.interpreter.vectors import Bytes, Vector, constant, first_failures, nulls
from twinjit.sql.tree import (
    And,
    BooleanTest,
    Call,
    Case,
    Coalesce,
    Column,
    Constant,
    Expression,
    Extreme,
    IsDistinct,
    IsNull,
    NullIf,
    Or,
    Parameter,
    Value,
)

__all__ = ["Interpreter"]


class Interpreter:
    """Evaluates outputs for rows for which a condition is true.

    Parameters
    ----------
    where
        The condition; None for all rows.
    """

    def __init__(self, where: Expression | None, outputs: Sequence[Expression]) -> None:
        self._where = where
        self._outputs = outputs
        self._texts: dict[bytes, bytes] = {}

    def run(
        self, morsel: Morsel, parameters: Sequence[Value], arena: _sql.Arena
    ) -> tuple[list[DenseColumn], int]:
        """Evaluate all rows of a morsel.

        Returns
        -------
        columns, rows
            Outputs of the rows for which the condition is true, in order; and how many. Texts lie
            in the morsel, in the arena, or in what the interpreter keeps.

        Raises
        ------
        SqlError
            Of the first row that fails; of its failures, that of the condition, or of the first
            output.
        """
        evaluation = _Evaluation(morsel, parameters, arena, self._texts)
        active = np.ones(morsel.rows, np.uint8)
        failures = np.zeros(morsel.rows, np.uint8)
        if self._where is not None:
            condition = evaluation.evaluate(self._where, active)
            failures |= condition.failures
            active = condition.is_true() & (failures == 0)
        found = []
        for output in self._outputs:
            vector = evaluation.evaluate(output, active & (failures == 0))
            np.copyto(failures, vector.failures, where=failures == 0)
            found.append(vector)
        raise_first(failures)
        if self._where is None:
            columns = [DenseColumn(np.ascontiguousarray(each.values), each.valid) for each in found]
            return columns, morsel.rows
        kept = np.flatnonzero(active)
        return [DenseColumn(each.values[kept], each.valid[kept]) for each in found], len(kept)


class _Evaluation:
    """What is evaluated for the rows of a morsel."""

    def __init__(
        self,
        morsel: Morsel,
        parameters: Sequence[Value],
        arena: _sql.Arena,
        texts: dict[bytes, bytes],
    ) -> None:
        self._texts = texts
        self._morsel = morsel
        self._parameters = parameters
        self._arena = arena
        self._columns: dict[Column, Vector] = {}

    @property
    def _rows(self) -> int:
        return self._morsel.rows

    def evaluate(self, expression: Expression, active: Bytes) -> Vector:
        """Evaluate an expression for the rows that are active."""
        match expression:
            case Column():
                return self._column(expression, active)
            case Constant():
                return self._constant(expression.value, expression)
            case Parameter():
                return self._constant(self._parameters[expression.index], expression)
            case Call():
                return self._call(expression, active)
            case And():
                return self._chain(expression.operands, active, ends=0)
            case Or():
                return self._chain(expression.operands, active, ends=1)
            case Case():
                return self._case(expression, active)
            case Coalesce():
                return self._coalesce(expression, active)
            case Extreme():
                return self._extreme(expression, active)
            case NullIf():
                return self._null_if(expression, active)
            case IsNull():
                operand = self.evaluate(expression.operand, active)
                return self._never_null(1 - operand.valid, operand)
            case IsDistinct():
                return self._is_distinct(expression, active)
            case BooleanTest():
                return self._boolean_test(expression, active)

    def _constant(self, value: Value, expression: Constant | Parameter) -> Vector:
        return constant(value, expression.type, self._rows, self._texts)

    def _never_null(self, values: npt.NDArray[Any], *operands: Vector) -> Vector:
        failures = first_failures(operands, self._rows)
        return Vector(values, np.ones(self._rows, np.uint8), failures)

    # Columns

    def _column(self, column: Column, active: Bytes) -> Vector:
        """Load a column; converting it may fail, which counts only for rows that reach it."""
        loaded = self._columns.get(column)
        if loaded is None:
            loaded = self._columns[column] = self._loaded(column)
        if not loaded.failures.any():
            return loaded
        return Vector(loaded.values, loaded.valid, loaded.failures * active)

    def _loaded(self, column: Column) -> Vector:
        found = self._morsel.columns[column.index]
        if isinstance(found, pa.Scalar):
            return self._constant(value_of(found, column.type), Constant(None, column.type))
        if pa.types.is_null(found.type):
            return nulls(column.type.kind, self._rows)
        loaded = load(found)
        source = sql_type_of(found.type)
        if source == column.type:
            return loaded
        applier = Applier(loaded.valid, loaded.failures, self._arena)
        values = applier.convert(loaded.values, source, column.type)
        return Vector(values, loaded.valid, loaded.failures)

    # Strict calls

    def _call(self, call: Call, active: Bytes) -> Vector:
        operands = [self.evaluate(each, active) for each in call.arguments]
        valid = np.ones(self._rows, np.uint8)
        for operand in operands:
            valid &= operand.valid
        failures = first_failures(operands, self._rows)
        applier = Applier(active & valid, failures, self._arena)
        return Vector(applier.call(call, [each.values for each in operands]), valid, failures)

    def _compared(self, name: str, left: Vector, right: Vector, *types: Any) -> Bytes:
        """Compare what is not null."""
        valid = left.valid & right.valid
        applier = Applier(valid, np.zeros(self._rows, np.uint8), self._arena)
        return applier.compare(name, [left.values, right.values], types)

    # What guards its operands

    def _chain(self, operands: Sequence[Expression], active: Bytes, ends: int) -> Vector:
        """Evaluate operands of which the first that is `ends`, and not null, is the result."""
        values = np.full(self._rows, 1 - ends, np.uint8)
        valid = np.ones(self._rows, np.uint8)
        failures = np.zeros(self._rows, np.uint8)
        for operand in operands:
            found = self.evaluate(operand, active)
            is_end = found.valid & (found.values == ends) & active
            values[is_end == 1] = ends
            valid &= found.valid | (1 - active)
            failures |= found.failures * active
            active = active & (is_end == 0) & (found.failures == 0)
        valid |= values == ends
        return Vector(values, valid, failures)

    def _case(self, case: Case, active: Bytes) -> Vector:
        result = nulls(case.type.kind, self._rows)
        for condition, value in case.branches:
            tested = self.evaluate(condition, active)
            failures = tested.failures * active
            np.copyto(result.failures, failures, where=failures != 0)
            active = active & (failures == 0)
            taken = active & tested.is_true()
            self._take(result, self.evaluate(value, taken), taken)
            active = active & (1 - taken)
        self._take(result, self.evaluate(case.otherwise, active), active)
        return result

    def _take(self, result: Vector, found: Vector, taken: Bytes) -> None:
        """Take rows over into a result."""
        rows = taken != 0
        result.values[rows] = found.values[rows]
        result.valid[rows] = found.valid[rows]
        result.failures[rows] = found.failures[rows]

    def _coalesce(self, coalesce: Coalesce, active: Bytes) -> Vector:
        result = nulls(coalesce.type.kind, self._rows)
        for operand in coalesce.operands:
            found = self.evaluate(operand, active)
            self._take(result, found, active)
            active = active & (found.valid == 0) & (found.failures == 0)
        return result

    def _extreme(self, extreme: Extreme, active: Bytes) -> Vector:
        name = "greater" if extreme.which == "greatest" else "less"
        operands = [self.evaluate(each, active) for each in extreme.operands]
        best = nulls(extreme.type.kind, self._rows)
        for each in operands:
            is_better = self._compared(name, each, best, extreme.type, extreme.type)
            self._take(best, each, each.valid & (is_better | (1 - best.valid)))
        return Vector(best.values, best.valid, first_failures(operands, self._rows))

    def _null_if(self, null_if: NullIf, active: Bytes) -> Vector:
        equal = self.evaluate(null_if.equal, active)
        operand = self.evaluate(null_if.operand, active)
        valid = operand.valid & (1 - equal.is_true())
        return Vector(operand.values, valid, first_failures([equal, operand], self._rows))

    def _is_distinct(self, distinct: IsDistinct, active: Bytes) -> Vector:
        left = self.evaluate(distinct.left, active)
        right = self.evaluate(distinct.right, active)
        types = distinct.left.type, distinct.right.type
        differs = self._compared("not_equal", left, right, *types)
        values = np.where(left.valid & right.valid, differs, left.valid ^ right.valid)
        return self._never_null(values.astype(np.uint8), left, right)

    def _boolean_test(self, test: BooleanTest, active: Bytes) -> Vector:
        operand = self.evaluate(test.operand, active)
        if test.value is None:
            return self._never_null(1 - operand.valid, operand)
        values = operand.values if test.value else 1 - operand.values
        return self._never_null(values & operand.valid, operand)
