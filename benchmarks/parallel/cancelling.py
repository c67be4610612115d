"""How soon a compilation ends that is cancelled while it runs in a thread."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from statistics import median
from time import perf_counter, sleep

import twinjit
from benchmarks.harness import Figures, interleave
from benchmarks.parallel.heavy import ONE_FUNCTION, PROGRAMS, heavy
from twinjit._native import _llvm, _mlir
from twinjit.build import BuildOptions
from twinjit.errors import CompilationCancelledError
from twinjit.lowering import resolve_pipeline
from twinjit.pipeline import AUTO
from twinjit.report import Clock
from twinjit.source import open_source
from twinjit.stop import Stop
from twinjit.subject import LocalBuilder

__all__ = ["cancelling"]

_PHASES = ("parse", "fingerprint", "passes", "translate", "optimise", "codegen")
_OPTIONS = BuildOptions(AUTO, 3, twinjit.Target.host(), twinjit.Policy())


def cancelling(*, quick: bool) -> Figures:
    """Cancel compilations of several seconds at many moments of each phase.

    Returns
    -------
    Figures
        ``cancel_ms``: from the cancellation to the exception in the thread that compiled, the worst
        of all phases and programs of many functions; ``cancel_median_ms``; by phase in which it
        ended, ``cancel_PHASE_ms``, the worst. ``cancel_one_function_ms`` and its ``_median_ms``:
        of a program that is a single block, where passes cannot end before they are through it.
        ``cancel_seconds`` and ``cancel_one_function_seconds``: what compiling takes, at least.
        ``cancel_overhead``: time with a stop that is looked at, in parts of that without.
    """
    scale, moments = (0.3, 2) if quick else (1.0, 6)
    many = [_Victim(heavy(name, scale)) for name in PROGRAMS]
    one = _Victim(heavy(ONE_FUNCTION, scale))
    for victim in [*many, one]:
        victim.cancel_in_each_phase(moments)
    worst = {
        f"cancel_{phase}_ms": max(max(each.delays.get(phase, [0.0])) for each in many)
        for phase in _PHASES
    }
    return {
        "cancel_ms": max(max(each.all_delays()) for each in many),
        "cancel_median_ms": median(delay for each in many for delay in each.all_delays()),
        **worst,
        "cancel_seconds": min(each.seconds for each in many),
        "cancels": sum(len(each.all_delays()) for each in many),
        "cancel_one_function_ms": max(one.all_delays()),
        "cancel_one_function_median_ms": median(one.all_delays()),
        "cancel_one_function_seconds": one.seconds,
        "cancel_overhead": _overhead(5 if quick else 15),
    }


@dataclass
class _Victim:
    """A program that is compiled again and again, and cancelled.

    Attributes
    ----------
    text
        The program.
    seconds
        What compiling it takes.
    delays
        Milliseconds from each cancellation to the exception, by the phase that it ended in.
    """

    text: str
    seconds: float = 0
    delays: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def cancel_in_each_phase(self, moments: int) -> None:
        """Cancel at so many moments of each phase that takes long enough to be hit."""
        random = Random(1)
        _compile(self.text, Stop())  # the first of a process takes longer
        phases = _compile(self.text, Stop())
        self.seconds = sum(phases.values())
        begin = 0.0
        for seconds in phases.values():
            for _ in range(moments if seconds > 0.005 else 0):
                self._cancel_at(begin + random.random() * seconds)
            begin += seconds

    def all_delays(self) -> list[float]:
        """Return those of all phases."""
        return [delay for delays in self.delays.values() for delay in delays]

    def _cancel_at(self, moment: float) -> None:
        stop, ended = Stop(), list[tuple[float, str]]()

        def work() -> None:
            try:
                _compile(self.text, stop)
            except CompilationCancelledError as error:
                ended.append((perf_counter(), error.message))

        thread = threading.Thread(target=work)
        thread.start()
        sleep(moment)
        asked = perf_counter()
        stop.cancel()
        thread.join()
        for when, message in ended:
            where = re.search(r" in (\w+)", message)
            self.delays[where[1] if where else ""].append(1e3 * (when - asked))


def _compile(text: str, stop: Stop) -> dict[str, float]:
    """Compile without a cache, and return the seconds by phase."""
    clock = Clock()
    subject = LocalBuilder(_OPTIONS).open(open_source(text), clock, stop)
    try:
        subject.build(_OPTIONS.key(subject.fingerprint, subject.resolved))
    finally:
        subject.close()
    return {phase: clock.phases.get(phase, 0.0) for phase in _PHASES}


def _overhead(rounds: int) -> float:
    text = heavy("scalars", 0.03).encode()
    target = _OPTIONS.target

    def compile_with(stop: Stop | None) -> None:
        program = _mlir.parse(text, "heavy.mlir", stop=stop)
        pipeline = resolve_pipeline(AUTO, program).pipeline.text
        bitcode, _, _ = program.lower(pipeline, True, stop)
        _llvm.emit(bitcode, [], target.triple, target.cpu, target.features, 3, stop)

    times = interleave(
        {"watched": lambda: compile_with(Stop(1e9)), "free": lambda: compile_with(None)},
        rounds=rounds,
        repeat={"watched": 1, "free": 1},
    )
    return times["watched"] / times["free"]
