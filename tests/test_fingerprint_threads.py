"""Fingerprints from many threads, and while passes run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mlir.ir as ir
import pytest
from mlir.passmanager import PassManager

import twinjit
from tests.live_programs import PROGRAMS, fingerprint, parse
from tests.strategies.symbols import Symbols, random_symbols
from tests.threads import at_once
from twinjit import Policy

THREADS = 8


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


POLICIES = (
    Policy(),
    Policy(private_symbols="rename"),
    Policy(private_symbols="rename", symbol_order="ignore"),
    Policy(locations="keep"),
    Policy(discardable="ignore", commutative="ignore"),
    Policy(constants="lift", lift_bytes=1, module_name="ignore"),
)


@pytest.mark.parametrize("one_context", [True, False])
def test_policies_at_once(one_context: bool) -> None:
    """Digests of attributes are kept in the context for all policies: none may see another's."""
    programs = [random_symbols(seed) for seed in range(12)]
    texts = [text for program in programs for text in (program.text(), renamed(program).text())]
    expected = [[fingerprint_alone(text, policy) for policy in POLICIES] for text in texts]
    assert all(a[1] == b[1] for a, b in zip(expected[::2], expected[1::2], strict=True))

    for _ in range(3):
        context = ir.Context()
        context.allow_unregistered_dialects = True
        with context:
            modules = [ir.Module.parse(text) if one_context else parse(text) for text in texts]

        def work(index: int, modules: list[ir.Module] = modules) -> None:
            for i in range(len(modules) * len(POLICIES)):
                k, p = divmod((i * 7 + index * 5) % (len(modules) * len(POLICIES)), len(POLICIES))
                assert twinjit.fingerprint(modules[k], POLICIES[p]) == expected[k][p]
                twin = modules[k ^ 1]
                same = expected[k][p] == expected[k ^ 1][p]
                assert twinjit.equivalent(modules[k], twin, POLICIES[p]) == same

        at_once(work)


def renamed(program: Symbols) -> Symbols:
    """With other names for what is private: only some policies take it for the same."""
    names = [
        name if function.public else f"other{name}"
        for name, function in zip(program.names, program.functions, strict=True)
    ]
    return replace(program, names=tuple(names))


def fingerprint_alone(text: str, policy: Policy) -> str:
    return twinjit.fingerprint(parse(text), policy)


def test_while_passes_run_on_other_modules() -> None:
    context = ir.Context()
    context.allow_unregistered_dialects = True
    texts = [random_symbols(seed).text() for seed in range(THREADS)]
    expected = [[fingerprint_alone(text, policy) for policy in POLICIES] for text in texts]
    with context:
        modules = [ir.Module.parse(text) for text in texts]

    def work(index: int) -> None:
        if index % 2:
            for _ in range(30):
                with context:
                    other = ir.Module.parse(PROGRAMS[1].read_text())
                    passes = PassManager.parse("builtin.module(canonicalize,cse)", context)
                passes.run(other.operation)
            return
        for _ in range(10):
            for module, digests in zip(modules, expected, strict=True):
                found = [twinjit.fingerprint(module, policy) for policy in POLICIES]
                assert found == digests

    at_once(work)
