"""A compiler at fault, to be found out."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from twinjit.build import BuildOptions
from twinjit.errors import LoweringError
from twinjit.report import Clock
from twinjit.source import Source
from twinjit.stop import Stop
from twinjit.subject import LocalBuilder, Subject

DOUBLE = "func.func @double(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"


class Fickle(LocalBuilder):
    """Leaves out the optimisation of the n-th program and those after it, under the same keys.

    A subclass for each test: it counts.
    """

    programs = count()
    first_bad = 1
    raises = False

    def __init__(self, options: BuildOptions) -> None:
        super().__init__(options)
        self._worse = LocalBuilder(replace(options, opt_level=0))

    def open(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        if next(self.programs) < self.first_bad:
            return super().open(source, clock, stop)
        if self.raises:
            raise LoweringError("not this time")
        return self._worse.open(source, clock, stop)


def fickle(first_bad: int = 1, *, raises: bool = False) -> type[Fickle]:
    attributes = {"programs": count(), "first_bad": first_bad, "raises": raises}
    return type("Fickle", (Fickle,), attributes)
