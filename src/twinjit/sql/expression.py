"""Single expressions, for batches of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from twinjit.compiler import Compiler
from twinjit.errors import QueryError
from twinjit.sql.arrow_types import arrow_type_of
from twinjit.sql.binder import bind_expression
from twinjit.sql.data.scan import Morsel
from twinjit.sql.execution.evaluation import Evaluator, JitMode
from twinjit.sql.execution.stopping import QueryStop
from twinjit.sql.options import QueryOptions
from twinjit.sql.parameters import parameter_values
from twinjit.sql.rewriting import columns_of, map_operands
from twinjit.sql.tree import Column, Expression

__all__ = ["CompiledExpression", "compile_expression"]


class CompiledExpression:
    """An expression over the columns of a schema; called with a batch, it gives an array."""

    def __init__(self, expression: Expression, schema: pa.Schema, evaluator: Evaluator) -> None:
        self._names, self._evaluator = list(schema.names), evaluator
        self._schema = schema
        self._type = arrow_type_of(expression.type)
        self._columns = sorted({each.index for each in columns_of(expression)})

    @property
    def type(self) -> pa.DataType:
        """The type of the arrays."""
        return self._type

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        """Evaluate the expression for each row.

        Parameters
        ----------
        batch
            With a column for each of the schema that is read, found by name, whatever else it has.

        Raises
        ------
        SqlError
            If it fails for a row, as it does in PostgreSQL.
        QueryError
            If a column is missing, or of another type.
        CompilationError
            If a kernel cannot be compiled.
        """
        columns = tuple(self._column(batch, index) for index in self._columns)
        morsel = Morsel(columns, batch.num_rows)
        chunks = [self._evaluator.arrays(dense)[0] for dense in self._evaluator.project(morsel)]
        if len(chunks) == 1:
            return chunks[0]
        return pa.concat_arrays(chunks) if chunks else pa.array([], self._type)

    def _column(self, batch: pa.RecordBatch, index: int) -> pa.Array:
        field = self._schema.field(index)
        places = batch.schema.get_all_field_indices(field.name)
        if len(places) != 1:
            raise QueryError(f"the batch has {len(places)} columns {field.name}", "42703")
        column = batch.column(places[0])
        if column.type != field.type:
            raise QueryError(
                f"column {field.name} is of type {column.type} in the batch, and {field.type} in "
                "the schema that the expression was compiled for",
                "42804",
            )
        return column


def compile_expression(
    text: str,
    schema: pa.Schema,
    *,
    parameters: Sequence[object] = (),
    jit: JitMode = "force",
    compiler: Compiler | None = None,
) -> CompiledExpression:
    """Compile an expression over the columns of a schema.

    Parameters
    ----------
    text
        In PostgreSQL's SQL, without aggregates.
    schema
        Of the batches that it is for. Machine code is made when the first batch of a layout comes:
        one with nulls has another than one without.
    parameters
        Values of ``$1``, ``$2`` ….
    jit, compiler
        As for `query`.

    Raises
    ------
    QueryError
        If it is no expression, or has what is not supported, or a parameter is of another type.
    ConfigError
        If an option cannot be used.
    """
    options = QueryOptions(jit=jit, compiler=compiler)
    expression, types = bind_expression(text, schema)
    values = parameter_values(parameters, types)
    used = sorted({each.index for each in columns_of(expression)})
    places = {index: place for place, index in enumerate(used)}

    def over_used(part: Any) -> Any:
        if isinstance(part, Column):
            return Column(places[part.index], part.type)
        return map_operands(part, over_used)

    environment = options.environment(values, QueryStop(None))
    return CompiledExpression(
        expression, schema, Evaluator(environment, None, [over_used(expression)])
    )
