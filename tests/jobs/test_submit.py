"""`Compiler.submit`, from real programs to executables."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import CancelledError, wait

import pytest

import twinjit
from tests.jobs.programs import PATIENCE, adds, own_threads, takes_long, wait_for
from tests.live_programs import parse
from tests.threads import at_once
from twinjit.errors import (
    CompilationTimeoutError,
    ConfigError,
    ExecutorError,
    ParseError,
    UnsupportedProgramError,
)
from twinjit.request import RequestHasher
from twinjit.settings import Settings
from twinjit.stop import Stop, stop_after

WRONG = "func.func @f( { }"


@pytest.fixture
def compiler():
    with twinjit.Compiler(cache=False) as made:
        yield made
    wait_for(lambda: not own_threads())


def test_a_future_of_a_program(compiler):
    future = compiler.submit(adds(3))
    assert isinstance(future, twinjit.CompileFuture)
    executable = future.result(PATIENCE)
    assert executable.f(1) == 4
    assert executable.report.tier == "compiled"
    assert compiler.submit(adds(3)).result(PATIENCE).report.tier == "memory"
    assert compiler.submit(adds(3).encode()).result(PATIENCE) == executable


def test_64_submissions_of_one_program(compiler):
    futures = []
    at_once(lambda _: futures.append(compiler.submit(adds(1))), count=64)
    assert {future.result(PATIENCE) for future in futures} == {compiler.compile(adds(1))}
    assert compiler.stats()["compiled"] == 1


def test_a_text_is_digested_once(compiler, monkeypatch):
    digested = []
    of_source = RequestHasher.of_source

    def counted(hasher, source):
        digested.append(source.data)
        return of_source(hasher, source)

    monkeypatch.setattr(RequestHasher, "of_source", counted)
    compiler.submit(adds(7)).result(PATIENCE)
    assert digested == [adds(7).encode()]


def test_one_program_in_many_spellings_is_compiled_once():
    compiler = twinjit.Compiler(cache=False, max_workers=8)
    futures = [compiler.submit(f"{adds(1)}\n// {n}") for n in range(32)]
    wait(futures, PATIENCE)
    assert compiler.stats()["compiled"] == 1


def test_a_live_module_is_taken_as_it_is(compiler):
    module = parse(adds(5))
    future = compiler.submit(module)
    first = next(iter(module.body.operations[0].regions[0].blocks[0].operations))
    with module.context:
        first.attributes["value"] = type(first.attributes["value"]).parse("6 : i64")
    changed = compiler.submit(module)
    del module, first
    gc.collect()
    assert (future.result(PATIENCE).f(1), changed.result(PATIENCE).f(1)) == (6, 7)
    assert compiler.submit(parse(adds(5))).result(PATIENCE).report.tier == "memory"
    assert compiler.compile(parse(adds(5))).report.tier == "memory"


def test_a_live_module_has_the_key_of_its_text_and_its_locations():
    for policy in (twinjit.Policy(), twinjit.Policy(locations="keep")):
        compiler = twinjit.Compiler(cache=False, policy=policy)
        module = parse(adds(7))
        assert compiler.submit(module).result(PATIENCE) == compiler.compile(module)


LIFTED = """func.func @f(%i: index) -> i64 {{
  %t = arith.constant dense<{}> : tensor<4xi64>
  %x = tensor.extract %t[%i] : tensor<4xi64>
  return %x : i64
}}"""


def test_modules_that_differ_in_lifted_constants_share_no_future():
    policy = twinjit.Policy(constants="lift", lift_bytes=1)
    with twinjit.Compiler(cache=False, policy=policy, max_workers=1) as compiler:
        busy = compiler.submit(takes_long(500))
        texts = [LIFTED.format(f"[{n}, 2, 3, 4]") for n in range(3)]
        futures = [compiler.submit(parse(text)) for text in texts]
        assert [each.result(PATIENCE).f(0) for each in futures] == [0, 1, 2]
        busy.result(PATIENCE)
        assert compiler.stats()["compiled"] == 2


@pytest.mark.parametrize(
    ("program", "options", "error"),
    [
        (3, {}, UnsupportedProgramError),
        ("missing.mlir", {}, FileNotFoundError),
        ("\udc80", {}, ParseError),
        (adds(1), {"language": "c"}, ConfigError),
        (adds(1), {"priority": "high"}, ConfigError),
        (adds(1), {"priority": True}, ConfigError),
    ],
)
def test_what_cannot_be_taken_is_refused_at_once(compiler, program, options, error):
    with pytest.raises(error):
        compiler.submit(program, **options)


def test_what_cannot_be_compiled_fails_later(compiler):
    future, other = compiler.submit(WRONG), compiler.submit(WRONG)
    error = future.exception(PATIENCE)
    assert isinstance(error, ParseError)
    assert error.diagnostics
    assert other.exception(PATIENCE) is not error


def test_workers_from_settings_and_given():
    settings = Settings(workers=3)
    assert twinjit.Compiler(cache=False, settings=settings).max_workers == 3
    assert twinjit.Compiler(cache=False, settings=settings, max_workers=2).max_workers == 2
    for bad in (0, True, 1.5, "2", 5000):
        with pytest.raises(ConfigError, match="max_workers"):
            twinjit.Compiler(cache=False, max_workers=bad)


def test_cancel_while_it_is_compiled(compiler):
    future = compiler.submit(takes_long())
    wait_for(future.running)
    assert future.cancel()
    with pytest.raises(CancelledError):
        future.result()
    compiler.close()
    assert compiler.stats()["compiled"] == 0


def test_a_closed_compiler_takes_nothing(compiler):
    future = compiler.submit(adds(1))
    compiler.close()
    compiler.close(cancel=True)
    executable = future.result(0)
    assert executable.f(1) == 2
    for use in (compiler.submit, compiler.compile, compiler.explain, compiler.would_hit):
        with pytest.raises(ExecutorError, match="closed"):
            use(adds(1))
    with pytest.raises(ExecutorError, match="closed"):
        compiler.map([adds(1)])


def test_an_exception_in_a_with_statement_cancels():
    with pytest.raises(KeyError), twinjit.Compiler(cache=False, max_workers=1) as compiler:
        futures = [compiler.submit(takes_long(500 + n)) for n in range(5)]
        raise KeyError
    assert futures[-1].cancelled()
    assert not own_threads()


def test_a_dropped_compiler_does_its_work_and_leaves_nothing():
    compiler = twinjit.Compiler(cache=False)
    futures = [compiler.submit(adds(n)) for n in range(4)]
    dropped = weakref.ref(compiler)
    engine = weakref.ref(compiler._engine)
    gc.disable()
    try:
        del compiler
        assert dropped() is None
        assert [each.result(PATIENCE).f(1) for each in futures] == [1, 2, 3, 4]
        wait_for(lambda: not own_threads())
        assert engine() is None
    finally:
        gc.enable()


# asyncio


def test_await(compiler):
    async def run() -> list[int]:
        executables = await asyncio.gather(*(each() for each in [one] * 5))
        return [each.f(1) for each in executables]

    async def one() -> twinjit.Executable:
        return await compiler.submit(adds(1))

    assert asyncio.run(run()) == [2] * 5
    assert compiler.stats()["compiled"] == 1


def test_await_raises_what_the_program_caused(compiler):
    async def run() -> None:
        with pytest.raises(ParseError):
            await compiler.submit(WRONG)
        with pytest.raises(CompilationTimeoutError):
            await compiler.submit(takes_long(), timeout=0.02)

    asyncio.run(run())


def test_a_cancelled_task_cancels_its_future(compiler):
    async def run() -> None:
        future = compiler.submit(takes_long())

        async def use() -> None:
            await future

        task = asyncio.create_task(use())
        await asyncio.sleep(0)  # until it awaits
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert future.cancelled()

    asyncio.run(run())


def test_a_cancelled_future_cancels_who_awaits_it(compiler):
    async def run() -> None:
        future = compiler.submit(takes_long())
        task = asyncio.ensure_future(asyncio.wrap_future(future))
        await asyncio.sleep(0.01)
        future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_asyncio_timeouts(compiler):
    async def run() -> None:
        future = compiler.submit(takes_long())
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.wrap_future(future), 0.02)
        assert future.cancelled()

    asyncio.run(run())


# Those who wait for a turn


@pytest.fixture(params=["store", "no store"])
def shared(request, tmp_path):
    """A compiler, and an entered turn of the program `adds(1)` that it waits for."""
    cache = tmp_path if request.param == "store" else False
    compiler = twinjit.Compiler(cache=cache, max_workers=2)
    key = compiler.explain(adds(1)).key.digest
    entered, leave = threading.Event(), threading.Event()

    def own() -> None:
        with compiler._engine.turns.of_key(key, Stop(), waits=True):
            entered.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=own)
    thread.start()
    entered.wait()
    yield compiler, leave
    leave.set()
    thread.join()


def test_a_compilation_that_waits_for_another_ends_in_time(shared):
    compiler, leave = shared
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(adds(1), timeout=0.05)
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(adds(1), timeout=0.05)
    future = compiler.submit(adds(1))
    wait_for(future.running)
    future.cancel()
    wait_for(lambda: not own_threads())  # while the turn is another's
    other = compiler.submit(adds(1))
    leave.set()
    assert other.result(PATIENCE).f(1) == 2
    assert compiler.stats()["compiled"] == 1


def test_a_compilation_that_waits_for_another_process_ends_in_time(tmp_path):
    owner = twinjit.Compiler(cache=tmp_path)
    digest = owner.explain(adds(1)).key.digest
    request = owner._engine.intake.take(twinjit.source.open_source(adds(1)))[1]
    waiting = twinjit.Compiler(cache=tmp_path)
    for turn in (owner.store.direct_turn(request, 0), owner.store.turn(digest, 0)):
        with turn as outcome:
            assert outcome == "owner"
            with pytest.raises(CompilationTimeoutError):
                waiting.compile(adds(1), timeout=0.05)
            future = waiting.submit(adds(1))
            wait_for(future.running)
            future.cancel()
            wait_for(lambda: not own_threads())
    assert waiting.compile(adds(1)).f(1) == 2


def test_a_stop_that_came_true_ends_a_wait_for_a_turn_that_is_free(tmp_path):
    turns = twinjit.Compiler(cache=tmp_path)._engine.turns
    with (
        pytest.raises(CompilationTimeoutError),
        turns.of_key(bytes(32), stop_after(-1), waits=True),
    ):
        pass
    with turns.of_key(bytes(32), Stop(), waits=True) as outcome:
        assert outcome == "owner"
