"""Evaluating a condition and outputs for rows: interpreted, compiled, or first one, then the other.

Which of the two handles a row makes no difference to what comes out. Kernels only say that a row
failed, or may have; then the interpreter handles the rows that the kernel was handling, and finds
out which one did, and how.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinjit._native import _sql
from twinjit.compiler import Compiler
from twinjit.forks import fork_lock
from twinjit.sql.codegen.cache import kernels_of
from twinjit.sql.codegen.cost import is_compilable
from twinjit.sql.codegen.layout import ColumnLayout, Inputs, layout_of
from twinjit.sql.codegen.lifting import Slots
from twinjit.sql.codegen.program import Kernel, KernelProgram, Signature
from twinjit.sql.columns import Dense, DenseColumn, address_words, arrow_array
from twinjit.sql.data.scan import Morsel
from twinjit.sql.data.values import value_of
from twinjit.sql.execution.counts import QueryCounts
from twinjit.sql.execution.stopping import QueryStop
from twinjit.sql.failures import raise_if_failed
from twinjit.sql.interpreter import Interpreter
from twinjit.sql.rewriting import size_of
from twinjit.sql.tree import Column, Expression, Value

__all__ = ["Aggregating", "Environment", "Evaluator", "JitMode"]

JitMode = Literal["auto", "force", "off"]

_INTERPRETED_ROWS = 16_384
"""Rows that are interpreted at a time: afterwards, a kernel may be ready."""

_AGGREGATED_ROWS = 4_096
"""Rows that a kernel writes before they are aggregated; few enough for a core's own cache."""

_UNCHECKED_ROWS = 1 << 17
"""Rows that are aggregated without a look at the deadline."""

_PROJECTED_ROWS = 65_536
"""Rows of a batch of results."""

_WORTH_COMPILING = 2_000_000
"""Rows times nodes of expressions that take as long to interpret as a kernel takes to compile."""

_PATIENCE = 0.01  # seconds between looks at the wish to stop, while a kernel is waited for


@dataclass(frozen=True)
class Environment:
    """What the steps of a query's execution share.

    Attributes
    ----------
    jit
        ``"off"`` to compile nothing, ``"force"`` to interpret nothing but what fails, ``"auto"`` to
        interpret until a kernel is ready, which is made where it is worth it.
    executor
        Where partitions of files are handled; None for here.
    """

    jit: JitMode
    compiler: Compiler
    parameters: tuple[Value, ...]
    threads: int
    stop: QueryStop
    counts: QueryCounts
    executor: object = None


class Aggregating(Protocol):
    """Takes rows in; `_sql.Aggregator` does."""

    @property
    def failure(self) -> int:
        """The code of how that failed; 0 for none."""
        ...

    def update(self, words: npt.NDArray[np.int64], rows: int) -> None:
        """Take dense columns in."""
        ...

    def run(
        self,
        kernel: int,
        inputs: npt.NDArray[np.int64],
        slots: npt.NDArray[np.int64],
        outputs: npt.NDArray[np.int64],
        begin: int,
        end: int,
        step: int,
        arena: _sql.Arena,
        stop: npt.NDArray[np.int64],
    ) -> int:
        """Take in what a kernel writes; give the first row that was not."""
        ...


class Evaluator:
    """Evaluates the same for any number of morsels, in any number of threads.

    Parameters
    ----------
    where
        The condition; None for all rows.
    outputs
        What is evaluated for rows for which it is true.
    """

    def __init__(
        self, environment: Environment, where: Expression | None, outputs: Sequence[Expression]
    ) -> None:
        self._environment = environment
        self._where = where
        self._outputs = tuple(outputs)
        self._types = [each.type for each in outputs]
        self._interpreter = Interpreter(where, outputs)
        self._kernels = kernels_of(environment.compiler)
        expressions = [each for each in (where, *outputs) if each is not None]
        self._nodes = sum(map(size_of, expressions))
        self._is_compiled = environment.jit != "off" and all(map(is_compilable, expressions))
        self._lock = fork_lock()  # guards the following
        self._known_slots: dict[KernelProgram, Slots] = {}
        self._programs: dict[tuple[tuple[ColumnLayout, ...], tuple[bool, ...]], KernelProgram] = {}
        self._rows_seen: defaultdict[Signature, int] = defaultdict(int)

    def project(self, morsel: Morsel) -> Iterator[list[DenseColumn]]:
        """Give the outputs, some rows at a time; texts are valid until the next ones are given."""
        rows = _Rows(self, morsel)
        while rows.remain:
            kernel = rows.kernel()
            columns = (
                rows.interpreted(_INTERPRETED_ROWS) if kernel is None else rows.projected(kernel)
            )
            if len(columns[0].validity):
                yield columns

    def arrays(self, columns: Sequence[DenseColumn]) -> list[Any]:
        """Give outputs as Arrow arrays."""
        return [arrow_array(*each) for each in zip(self._types, columns, strict=True)]

    def aggregate(self, morsel: Morsel, aggregator: Aggregating) -> None:
        """Have the outputs aggregated."""
        rows = _Rows(self, morsel)
        while rows.remain:
            kernel = rows.kernel()
            if kernel is None:
                rows.aggregate_interpreted(aggregator, _INTERPRETED_ROWS)
            else:
                rows.aggregate_compiled(kernel, aggregator)

    def _program(self, morsel: Morsel) -> KernelProgram | None:
        if not self._is_compiled:
            return None
        layouts = layout_of(morsel)
        constants = {
            index: not column.is_valid
            for index, column in enumerate(morsel.columns)
            if isinstance(column, pa.Scalar)
        }
        key = layouts, tuple(constants.values())
        with self._lock:
            found = self._programs.get(key)
        if found is None:
            found = KernelProgram.of(
                layouts, self._where, self._outputs, self._environment.parameters, constants
            )
            with self._lock:
                self._programs[key] = found
        self._environment.counts.kernels.ask(found.signature)
        return found

    def _exact_program(self, program: KernelProgram) -> KernelProgram:
        """Give the exact form of a program, which takes its place from now on."""
        with self._lock:
            (key,) = (
                key for key, known in self._programs.items() if known.lifted is program.lifted
            )
            if not self._programs[key].is_exact:
                self._programs[key] = replace(program, is_exact=True)
            exact = self._programs[key]
        self._environment.counts.kernels.ask(exact.signature)
        return exact

    def _slots(self, program: KernelProgram, columns: Mapping[int, Value]) -> Slots:
        """Fill a program's slots; once, where partitions do not differ in them."""
        with self._lock:
            known = self._known_slots.get(program)
        if known is not None:
            return known
        slots = Slots(program.lifted.slots, self._environment.parameters, columns)
        if not any(isinstance(each, Column) for each in program.lifted.slots):
            with self._lock:
                self._known_slots[program] = slots
        return slots

    def _is_worth_compiling(self, signature: Signature, rows: int) -> bool:
        """Say so, counting rows that are about to be handled."""
        with self._lock:
            self._rows_seen[signature] += rows
            return self._rows_seen[signature] * self._nodes >= _WORTH_COMPILING


class _Rows:
    """The rows of a morsel, and how far they are handled."""

    def __init__(self, evaluator: Evaluator, morsel: Morsel) -> None:
        self._evaluator = evaluator
        self._environment = evaluator._environment
        self._morsel = morsel
        self._begin = 0
        self._arena = _sql.Arena()
        self._program = evaluator._program(morsel)
        self._compiled: _Compiled | None = None
        self._is_counted = False

    @property
    def remain(self) -> bool:
        """Whether there are rows to handle; ends the query if it is to end."""
        self._environment.stop.check()
        return self._begin < self._morsel.rows

    def kernel(self) -> Kernel | None:
        """Choose how the next rows are handled; None for interpreting them."""
        program, environment = self._program, self._environment
        if program is None:
            return None
        kernels = self._evaluator._kernels
        found = kernels.find(program)
        if found is not None:
            self._use(is_reused=self._begin == 0)
            return found
        if environment.jit == "auto":
            rows = self._morsel.rows if self._begin == 0 else 0
            if self._evaluator._is_worth_compiling(program.signature, rows):
                kernels.start(program, environment.compiler, environment.counts.kernels)
            return None
        future = kernels.start(program, environment.compiler, environment.counts.kernels)
        with environment.counts.timed("wait"):
            while not future.done():
                environment.stop.check()
                wait([future], timeout=_PATIENCE)
        self._use(is_reused=False)
        return future.result()

    def _use(self, *, is_reused: bool) -> None:
        """Count the morsel as a kernel's, once."""
        if self._program is not None and not self._is_counted:
            self._is_counted = True
            counts = self._environment.counts.kernels
            counts.use(self._program.signature, is_reused=is_reused)

    # Interpreting

    def interpreted(self, rows: int) -> list[DenseColumn]:
        """Interpret rows, which count as handled then."""
        return self._interpret(rows)[0]

    def _interpret(self, rows: int) -> tuple[list[DenseColumn], int]:
        environment = self._environment
        self._arena.reset()
        part = self._morsel.slice(self._begin, rows)
        with environment.counts.timed("interpreted"):
            columns, count = self._evaluator._interpreter.run(
                part, environment.parameters, self._arena
            )
        environment.counts.add_rows(part.rows, is_compiled=False)
        self._begin += part.rows
        return columns, count

    def aggregate_interpreted(self, aggregator: Aggregating, rows: int) -> None:
        """Have aggregated what was interpreted."""
        columns, count = self._interpret(rows)
        aggregator.update(address_words(columns), count)
        raise_if_failed(aggregator.failure)

    # Compiled

    def _inputs(self) -> _Compiled:
        program = self._program
        if program is None:
            raise AssertionError("nothing is to be compiled")
        if self._compiled is None:
            values = {
                index: value_of(column, layout.source)
                for index, (column, layout) in enumerate(
                    zip(self._morsel.columns, program.layouts, strict=True)
                )
                if isinstance(column, pa.Scalar)
            }
            slots = self._evaluator._slots(program, values)
            self._compiled = _Compiled(Inputs(self._morsel.columns), slots)
        return self._compiled

    def projected(self, kernel: Kernel) -> list[DenseColumn]:
        """Give what a kernel wrote."""
        given, counts = self._inputs(), self._environment.counts
        end = min(self._begin + _PROJECTED_ROWS, self._morsel.rows)
        outputs = Dense(self._evaluator._types, end - self._begin)
        self._arena.reset()
        with counts.timed("compiled"):
            words = given.inputs.words, given.slots.words, outputs.words
            written = kernel.run(*words, self._begin, end, self._arena.address)
        if written < 0:
            columns = self.interpreted(end - self._begin)
            self._make_exact()
            return columns
        counts.add_rows(end - self._begin, is_compiled=True)
        self._begin = end
        return outputs.columns(written)

    def _make_exact(self) -> None:
        """Go over to an exact kernel, after a false alarm."""
        program = self._program
        if program is not None and not program.is_exact:
            self._program = self._evaluator._exact_program(program)
            self._is_counted = False

    def aggregate_compiled(self, kernel: Kernel, aggregator: Aggregating) -> None:
        """Have aggregated what a kernel writes."""
        given, environment = self._inputs(), self._environment
        if given.outputs is None:
            given.outputs = Dense(self._evaluator._types, _AGGREGATED_ROWS)
        words = given.inputs.words, given.slots.words, given.outputs.words
        begin = self._begin
        end = min(begin + _UNCHECKED_ROWS, self._morsel.rows)
        with environment.counts.timed("compiled"):
            self._begin = aggregator.run(
                kernel.address, *words, begin, end, _AGGREGATED_ROWS, self._arena,
                environment.stop.flag,
            )  # fmt: skip
        environment.counts.add_rows(self._begin - begin, is_compiled=True)
        raise_if_failed(aggregator.failure)
        environment.stop.check()
        if self._begin < end:
            self.aggregate_interpreted(aggregator, min(_AGGREGATED_ROWS, end - self._begin))
            self._make_exact()


@dataclass
class _Compiled:
    inputs: Inputs
    slots: Slots
    outputs: Dense | None = None
