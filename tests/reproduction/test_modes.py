"""That each mode is what it says."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from itertools import islice

import pytest

import twinjit
from tests.reproduction.fickle import DOUBLE
from tests.workers.jobs import ASSERTION
from twinjit import Policy
from twinjit._native import _mlir
from twinjit.build import BuildOptions
from twinjit.code_comparison import compare_artifacts
from twinjit.errors import CompilationError, CompilerCrashed, TwinjitError
from twinjit.language import Language
from twinjit.report import Clock
from twinjit.reproduction.modes import MODES, Trial
from twinjit.reproduction.others import other_programs
from twinjit.settings import environment_of_workers
from twinjit.source import Source, SourceBytes
from twinjit.stop import Stop
from twinjit.subject import LocalBuilder, Subject

OPTIONS = BuildOptions("auto", 3, twinjit.Target.host(), Policy())


def trial(text: str = DOUBLE) -> Trial:
    return Trial(SourceBytes(text.encode(), "<text>"), OPTIONS)


def made_by(mode: str) -> int:
    """Contexts that a mode makes where one is kept."""
    twinjit.release_contexts()
    trial().compile()
    before = _mlir.pool_stats()["made"]
    MODES[mode](trial(), 0)  # type: ignore[index]
    return _mlir.pool_stats()["made"] - before


def test_again_and_used_have_the_context_that_is_kept() -> None:
    assert made_by("again") == 0
    assert made_by("used") == 0


def test_fresh_has_a_new_one() -> None:
    assert made_by("fresh") == 1


def test_used_compiles_others_before(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = record(monkeypatch)
    MODES["used"](trial(), 2)
    names = [name for name, _ in opened]
    assert names == [*(f"<other program {number}>" for number in range(24, 36)), "<text>"]


def test_thread_compiles_in_another_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = record(monkeypatch)
    MODES["thread"](trial(), 0)
    threads = {"<text>" if name == "<text>" else "others": ident for name, ident in opened}
    assert len({*threads.values(), threading.get_ident()}) == 3
    assert opened[0][0] == "<other program 1000>"


def record(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """List names of programs and the threads in which they are compiled."""
    opened: list[tuple[str, int]] = []

    class Recording(LocalBuilder):
        def open(self, source: Source, clock: Clock, stop: Stop) -> Subject:
            assert isinstance(source, SourceBytes)
            opened.append((source.name, threading.get_ident()))
            return super().open(source, clock, stop)

    monkeypatch.setattr("twinjit.reproduction.modes.LocalBuilder", Recording)
    return opened


def test_a_fault_of_the_others_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "twinjit.reproduction.modes.other_programs", lambda *_: iter([trial("func").source])
    )
    for mode in ("used", "thread"):
        with pytest.raises(TwinjitError, match="what is compiled in between cannot be") as caught:
            MODES[mode](trial(), 0)  # type: ignore[index]
        assert not isinstance(caught.value, CompilationError)


def test_process_gives_the_code_of_that_process() -> None:
    here, there = trial().compile(), MODES["process"](trial(), 0)
    assert here.report != there.report
    assert compare_artifacts(here, there) is None
    worse = replace(trial(), options=replace(OPTIONS, opt_level=0))
    found = compare_artifacts(here, MODES["process"](worse, 0))
    assert found
    assert found.what == "the keys differ in opt-level"


def test_process_has_another_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    environment = environment_of_workers(hash_seed=3)
    assert environment["PYTHONHASHSEED"] == "3"
    assert "PYTHONSTARTUP" not in environment
    assert environment["PATH"] == os.environ["PATH"]
    assert "PYTHONHASHSEED" not in environment_of_workers()


def test_process_refuses_and_crashes_as_exceptions() -> None:
    with pytest.raises(CompilationError, match="cannot parse"):
        MODES["process"](trial("func.func @f("), 0)
    with pytest.raises(CompilerCrashed, match="SIGABRT in phase translate") as caught:
        MODES["process"](trial(ASSERTION), 0)
    assert "Assertion" in caught.value.output


@pytest.mark.parametrize("language", ["mlir", "llvm"])
def test_other_programs_are_all_others(language: Language) -> None:
    compiler = twinjit.Compiler(cache=False, shared=False, opt_level=0)
    sources = list(islice(other_programs(language, 1000), 80))
    keys = {compiler.compile(source.data, language=language).key.hex for source in sources}
    assert len(keys) == 80
    assert list(islice(other_programs(language, 1070), 10)) == sources[70:]
