"""Fingerprints from many threads, and while passes run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import mlir.ir as ir
import pytest
from mlir.passmanager import PassManager

import twinjit
from tests.live_programs import PROGRAMS, fingerprint, parse

THREADS = 8


def at_once(work: Callable[[int], None]) -> None:
    """Run `work(0)` … `work(THREADS - 1)`, all started at once; raise what they raise."""
    barrier = threading.Barrier(THREADS)
    errors: list[BaseException] = []

    def run(index: int) -> None:
        barrier.wait()
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("multithreading", [True, False])
def test_one_module(path: Path, multithreading: bool) -> None:
    expected = fingerprint(path.read_text())
    for _ in range(3):  # each with a cold memo
        module = parse(path.read_text())
        module.context.enable_multithreading(multithreading)

        def work(_: int, module: ir.Module = module) -> None:
            for _ in range(20):
                assert fingerprint(module) == expected

        at_once(work)


def test_many_modules_of_one_context() -> None:
    context = ir.Context()
    context.allow_unregistered_dialects = True
    texts = [path.read_text() for path in PROGRAMS]
    with context:
        modules = [ir.Module.parse(text) for text in texts]
    expected = [fingerprint(text) for text in texts]

    def work(index: int) -> None:
        for i in range(len(modules)):
            k = (i + index) % len(modules)
            assert fingerprint(modules[k]) == expected[k]

    at_once(work)


def test_many_contexts() -> None:
    texts = [path.read_text() for path in PROGRAMS]
    expected = [fingerprint(text) for text in texts]

    def work(index: int) -> None:
        for i in range(2 * len(texts)):
            k = (i + index) % len(texts)
            assert fingerprint(texts[k]) == expected[k]
            assert twinjit.fingerprint(texts[k], allow_unregistered=True) == expected[k]

    at_once(work)


@pytest.mark.parametrize("multithreading", [True, False])
def test_first_fingerprint_inside_a_pass(multithreading: bool) -> None:
    """Nothing may be loaded into a context then; MLIR would abort the process."""
    seen: list[str] = []
    module = parse(PROGRAMS[0].read_text())
    with module.context:
        module.context.enable_multithreading(multithreading)
        passes = PassManager("any")
        passes.add(lambda op, _: seen.append(twinjit.fingerprint(op)))
        passes.run(module.operation)
    assert seen == [fingerprint(PROGRAMS[0].read_text())]
