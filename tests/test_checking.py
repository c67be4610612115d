"""Check mode: everything is compiled twice, and code that differs reaches nobody."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import mlir.ir as ir
import pytest

import twinjit
from tests.threads import at_once, failures_at_once
from twinjit import Compiler, Policy, Settings
from twinjit._native import _mlir
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.checking import CheckingBuilder, Sample
from twinjit.clusters.job import run
from twinjit.clusters.remote import RemoteBuilder
from twinjit.errors import (
    CompilationCancelledError,
    CompilationError,
    CompilationTimeoutError,
    ParseError,
    ReproducibilityError,
)
from twinjit.report import Clock
from twinjit.source import LiveModule, Source, SourceBytes
from twinjit.stop import Stop
from twinjit.subject import LocalBuilder, Subject
from twinjit.workers.messages import Message
from twinjit.workers.worker_process import Check, Worker

T = TypeVar("T")

DOUBLE = "func.func @double(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"
OPTIONS = BuildOptions("auto", 3, twinjit.Target.host(), Policy())


# The optimiser has something to do.
NARROW = """
define i64 @narrow(i64 %x) {
  %slot = alloca i64
  store i64 %x, ptr %slot
  %y = load i64, ptr %slot
  %z = sub i64 %y, 1
  ret i64 %z
}
"""


def numbered(number: int) -> str:
    return (
        f"func.func @add(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


def checking(hits: float = 0, **options: Any) -> Compiler:
    settings = Settings.load(check=True, check_hits=hits)
    return Compiler(settings=settings, shared=False, **{"cache": False, **options})


def counts(compiler: Compiler) -> dict[str, int]:
    return {name: count for name, count in compiler.stats().items() if count and "_" not in name}


class Fickle(LocalBuilder):
    """At fault: it optimises the first and the second compilation otherwise, under one key."""

    levels = (3, 0)

    def __init__(self, options: BuildOptions) -> None:
        super().__init__(options)
        first, second = self.levels
        self._first = LocalBuilder(replace(options, opt_level=first))
        self._second = LocalBuilder(replace(options, opt_level=second))

    def open(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        return self._first.open(source, clock, stop)

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        return self._second.open(source, clock, stop)


@pytest.fixture
def fickle(monkeypatch: pytest.MonkeyPatch) -> type[Fickle]:
    """Have compilers compile in this way."""
    monkeypatch.setattr("twinjit.executors.LocalBuilder", Fickle)
    monkeypatch.setattr(Fickle, "levels", Fickle.levels)
    return Fickle


def test_a_miss_counts_once_and_is_checked() -> None:
    compiler = checking()
    executable = compiler.compile(DOUBLE)
    assert executable.double(4) == 8
    assert executable.report.tier == "compiled"
    assert counts(compiler) == {"compiled": 1, "checked": 1}
    phases = list(executable.report.phases)
    assert phases.index("codegen") < phases.index("check") < phases.index("load")


def test_without_it_nothing_is_checked() -> None:
    compiler = Compiler(cache=False, shared=False, settings=Settings())
    executable = compiler.compile(DOUBLE)
    assert counts(compiler) == {"compiled": 1}
    assert "check" not in executable.report.phases


def test_the_second_has_a_context_of_its_own() -> None:
    twinjit.release_contexts()
    before = _mlir.pool_stats()["made"]
    checking().compile(DOUBLE)
    assert _mlir.pool_stats()["made"] - before == 2


@pytest.mark.usefixtures("fickle")
def test_different_code_is_not_kept(tmp_path) -> None:
    compiler = checking(cache=tmp_path)
    with pytest.raises(ReproducibilityError) as caught:
        compiler.compile(DOUBLE)
    difference = caught.value.difference
    assert difference
    assert (difference.part, difference.section, difference.function) == (
        *("object", ".text", "double"),
    )
    assert "<text>, key " in str(caught.value)
    assert "  + " in str(caught.value)
    assert counts(compiler) == {}
    assert compiler.store.stats().puts == 0
    assert not compiler.would_hit(DOUBLE)
    assert not Compiler(cache=tmp_path, shared=False).would_hit(DOUBLE)


@pytest.mark.usefixtures("fickle")
def test_all_threads_fail() -> None:
    compiler = checking()

    def compile_(_: int) -> None:
        compiler.compile(DOUBLE)

    errors = failures_at_once(compile_, 4)
    assert [type(error) for error in errors] == [ReproducibilityError] * 4
    assert all(error.difference for error in errors if isinstance(error, ReproducibilityError))


@pytest.mark.usefixtures("fickle")
def test_futures_fail_with_it() -> None:
    with checking() as compiler:
        future = compiler.submit(DOUBLE)
        with pytest.raises(ReproducibilityError) as caught:
            future.result()
        assert caught.value.difference


def test_hits_in_memory_are_compiled_again() -> None:
    compiler = checking(hits=1)
    compiler.compile(DOUBLE)
    executable = compiler.compile(DOUBLE)
    assert executable.report.tier == "memory"
    assert list(executable.report.phases) == ["check"]
    assert executable.double(2) == 4
    assert counts(compiler) == {"compiled": 1, "memory": 1, "checked": 2}


def test_hits_on_disk_and_by_key_are_compiled_again(tmp_path) -> None:
    Compiler(cache=tmp_path, shared=False, settings=Settings()).compile(DOUBLE)
    compiler = checking(hits=1, cache=tmp_path)
    assert compiler.compile(DOUBLE).report.tier == "disk"
    assert compiler.compile(DOUBLE + "\n").report.tier == "memory"
    assert counts(compiler) == {"disk": 1, "memory": 1, "checked": 2}


def test_hits_are_left_alone_without_a_share() -> None:
    compiler = checking()
    for _ in range(5):
        compiler.compile(DOUBLE)
    assert counts(compiler) == {"compiled": 1, "memory": 4, "checked": 1}


def test_a_hit_of_other_code_is_dropped_everywhere(fickle: type[Fickle], tmp_path) -> None:
    fickle.levels = (0, 0)
    bad = Compiler(cache=tmp_path, shared=False, settings=Settings()).compile(DOUBLE)
    fickle.levels = (3, 3)
    compiler = checking(hits=1, cache=tmp_path)
    with pytest.raises(ReproducibilityError, match="other code than was kept"):
        compiler.compile(DOUBLE)
    assert counts(compiler) == {}
    assert compiler.store.get(bad.key.digest) is None
    assert bad.double(3) == 6  # who holds it can go on
    good = Compiler(cache=tmp_path, shared=False, settings=Settings()).compile(DOUBLE)
    assert good.report.tier == "compiled"
    assert good.object_code != bad.object_code


def test_lazy_functions_are_checked(fickle: type[Fickle], tmp_path) -> None:
    fickle.levels = (3, 3)
    compiler = checking(hits=1, cache=tmp_path)
    assert [compiler.compile(NARROW, lazy=True).narrow(4) for _ in range(2)] == [3, 3]
    assert counts(compiler) == {"compiled": 1, "memory": 1, "checked": 2}
    fickle.levels = (0, 0)
    for hits in (1, 0):  # dropped by the first, so that the second compiles it
        other = checking(hits=hits, cache=tmp_path)
        executable = other.compile(NARROW, lazy=True)
        if hits:
            with pytest.raises(ReproducibilityError, match="other code than was kept"):
                executable.narrow(4)
        else:
            assert executable.narrow(4) == 3
        assert counts(other) == ({} if hits else {"compiled": 1, "checked": 1})


def test_what_has_no_identity_is_checked() -> None:
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(
            DOUBLE.replace("i64 {", "i64 attributes {t.x = dense_resource<gone> : tensor<2xi64>} {")
        )
    compiler = checking()
    assert compiler.compile(module).double(3) == 6
    assert counts(compiler) == {"compiled": 1, "uncacheable": 1, "checked": 1}


def test_live_modules_and_many_at_once() -> None:
    with ir.Context():
        module = ir.Module.parse(DOUBLE)
    with checking(hits=1) as compiler:
        assert compiler.compile(module).double(3) == 6
        assert compiler.compile(module).report.tier == "memory"
        executables = compiler.map([numbered(number) for number in range(6)])
    assert [executable.add(1) for executable in executables] == list(range(1, 7))
    assert counts(compiler) == {"compiled": 7, "memory": 1, "checked": 8}


def test_llvm_ir() -> None:
    text = "define i64 @double(i64 %x) { %y = add i64 %x, %x ret i64 %y }"
    with checking(hits=1) as compiler, checking(executor="process") as isolated:
        for _ in range(2):
            assert compiler.compile(text).double(4) == 8
        assert isolated.compile(text).double(4) == 8
    assert counts(compiler) == {"compiled": 1, "memory": 1, "checked": 2}
    assert counts(isolated) == {"compiled": 1, "checked": 1}


def test_lifted_constants() -> None:
    values = ", ".join(str(float(number)) for number in range(512))
    text = (
        f"func.func @f() -> f32 {{ %c = arith.constant dense<[{values}]> : tensor<512xf32> "
        "%i = arith.constant 7 : index %y = tensor.extract %c[%i] : tensor<512xf32> "
        "return %y : f32 }"
    )
    compiler = checking(hits=1, policy=Policy(constants="lift"))
    assert compiler.compile(text).f() == 7.0
    assert compiler.compile(text).f() == 7.0
    assert counts(compiler) == {"compiled": 1, "memory": 1, "checked": 2}


def test_confirmed_hits() -> None:
    compiler = checking(hits=1, confirm="always")
    compiler.compile(DOUBLE)
    compiler.compile(DOUBLE)
    assert counts(compiler) == {"compiled": 1, "memory": 1, "confirmed": 1, "checked": 2}


def test_errors_stay_what_they_are() -> None:
    compiler = checking()
    with pytest.raises(ParseError, match="cannot parse"):
        compiler.compile("func.func @f(")
    assert counts(compiler) == {}


def test_workers_of_which_there_is_one_for_many_threads() -> None:
    with checking(hits=1, executor="process", max_workers=1) as compiler:
        at_once(lambda number: compiler.compile(numbered(number)).add(1), 3)
        at_once(lambda number: compiler.compile(numbered(number)).add(1), 3)
    assert counts(compiler) == {"compiled": 3, "memory": 3, "checked": 6}


def test_workers_do_not_wait_for_each_other() -> None:
    """One who waits for the key has a worker, and who compiles wants two."""
    with checking(executor="process", max_workers=1) as compiler:
        for number in range(5):
            spelled = [numbered(number) + "\n" * more for more in range(4)]
            at_once(lambda index, texts=spelled: compiler.compile(texts[index]), 4)  # type: ignore[misc]
    assert compiler.stats()["compiled"] == 5


def test_the_second_has_a_worker_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []
    exchange = Worker.exchange

    def noted(worker: Worker, message: Message, check: Check, read: Callable[[Message], T]) -> T:
        if message.header["do"] == "build":
            pids.append(worker.pid)
        return exchange(worker, message, check, read)

    monkeypatch.setattr(Worker, "exchange", noted)
    with checking(executor="process", max_workers=1) as compiler:
        compiler.compile(DOUBLE)
    assert len(set(pids)) == 2


def test_executors_of_others() -> None:
    with ThreadPoolExecutor(1) as pool:
        compiler = checking(hits=1, executor=pool)
        compiler.compile(DOUBLE)
        compiler.compile(DOUBLE)
    assert counts(compiler) == {"compiled": 1, "memory": 1, "checked": 2}


def test_on_clusters_the_second_is_another_job() -> None:
    """Which share jobs by their names."""
    names: list[str | None] = []

    class Here:
        def run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any]:
            stop.check()
            names.append(name)
            return run(job)

    builder = CheckingBuilder(RemoteBuilder(OPTIONS, Here()), OPTIONS, 0)
    build(builder)
    assert len(set(names)) == 2
    assert all(name and name.startswith("twinjit-") for name in names)


def build(builder: CheckingBuilder, stop: Stop | None = None) -> Artifact:
    source = SourceBytes(DOUBLE.encode(), "<text>")
    subject = builder.open(source, Clock(), stop or Stop())
    try:
        return subject.build(OPTIONS.key(subject.fingerprint, subject.resolved))
    finally:
        subject.close()


class AtSecond(LocalBuilder):
    """Does something before the second compilation."""

    def __init__(self, act: Any) -> None:
        super().__init__(OPTIONS)
        self._act = act

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        subject = super().open_again(source, clock, stop)
        self._act()
        return subject


def test_a_stop_ends_the_second_compilation() -> None:
    stop = Stop()
    with pytest.raises(CompilationCancelledError):
        build(CheckingBuilder(AtSecond(stop.cancel), OPTIONS, 0), stop)


def test_time_runs_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinjit.executors.LocalBuilder", Endless)
    with pytest.raises(CompilationTimeoutError):
        checking().compile(DOUBLE, timeout=0.2)


class Endless(LocalBuilder):
    """The second compilation ends by its stop alone."""

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        while True:
            stop.check()


def test_another_fingerprint_is_a_difference() -> None:
    class Other(LocalBuilder):
        def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
            assert not isinstance(source, LiveModule)
            return self.open(replace(source, data=numbered(1).encode()), clock, stop)

    with pytest.raises(ReproducibilityError, match="the keys differ in mlir") as caught:
        build(CheckingBuilder(Other(OPTIONS), OPTIONS, 0))
    assert isinstance(caught.value, CompilationError)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.25, 0.5, 1.0])
def test_a_sample_is_the_share_of_any_keys(share: float) -> None:
    for digest in (bytes(32), b"\xff" * 32, b"\x13\x57\x9b" * 11):
        sample = Sample(share)
        picked = sum(sample.picks(digest) for _ in range(1000))
        assert abs(picked - 1000 * share) <= 1
    digests = [number.to_bytes(4, "little") * 8 for number in range(0, 1 << 32, 1 << 22)]
    firsts = sum(Sample(share).picks(digest) for digest in digests)
    assert abs(firsts - 1024 * share) <= 2


def test_a_sample_is_the_same_each_time() -> None:
    digests = [number.to_bytes(4, "little") * 8 for number in range(7, 1 << 30, 12345678)]
    once, again = Sample(0.3), Sample(0.3)
    assert [once.picks(each) for each in digests] == [again.picks(each) for each in digests]
