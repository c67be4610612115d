"""What holds for the identity of any program.

MLIR's own comparison, `OperationEquivalence`, is an oracle within one context for what it takes for
equal. It tells apart what is equal where blocks are listed in another order, where values are used
before they are defined, and where there are distinct attributes or resources;
test_identity_cases.py shows each.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random

import mlir.ir as ir
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import twinjit
from tests.live_programs import bytecode, fingerprint, generic, parse
from tests.nightly import rounds
from tests.strategies import (
    Program,
    Spelling,
    either,
    mutants,
    policies,
    programs,
    random_program,
    random_symbols,
    render,
    same_program,
    spellings,
    spelt_otherwise,
)
from twinjit._native import _mlir

MUTANTS = rounds(1_000, 20_000)


@pytest.fixture(scope="module")
def context() -> ir.Context:
    context = ir.Context()
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = True
    return context


def read(context: ir.Context, text: str) -> ir.Module | None:
    """None for text that is no valid program: not all random ones are."""
    with context:
        try:
            return ir.Module.parse(text)
        except ir.MLIRError:
            return None


def valid(program: Program) -> ir.Module:
    try:
        return parse(render(program), multithreading=False)
    except ir.MLIRError:
        assume(False)
        raise


def test_mutants(context: ir.Context) -> None:
    """A program with one change is another, unless a search finds that the two are the same."""
    tried: Counter[str] = Counter()
    seed = 0
    while sum(tried.values()) < MUTANTS:
        seed += 1
        program = random_program(seed, size=3 + seed % 25)
        module = read(context, render(program))
        if module is None:
            continue
        for what, mutant in mutants(program, Random(seed)):
            if (changed := read(context, render(mutant))) is None:
                continue
            place = f"{what}, seed {seed}:\n{module}\nand\n{changed}"
            same = generic(changed) == generic(module) or same_program(program, mutant)
            tried["the same" if same else what.partition(" of ")[0]] += 1
            assert (twinjit.fingerprint(changed) == twinjit.fingerprint(module)) == same, place
            assert twinjit.equivalent(changed, module) == same, place
            assert same or not _mlir.upstream_equivalent(
                changed.operation._CAPIPtr, module.operation._CAPIPtr
            ), place
    print(f"{sum(tried.values())} mutants:", *tried.most_common(), sep="\n  ")
    assert len(tried) > 20, "some sorts of change have not been tried"
    assert tried["the same"] < 0.2 * MUTANTS


@settings(max_examples=rounds(60, 1_000), deadline=None)
@given(programs, st.lists(spellings, min_size=3, max_size=3))
def test_spelling_does_not_count(program: Program, spelt: list[Spelling]) -> None:
    module = valid(program)
    expected = fingerprint(module)
    for spelling in spelt:
        other = parse(render(program, spelling), multithreading=False)
        assert fingerprint(other) == expected
        assert twinjit.equivalent(module, other)
        assert fingerprint(generic(other)) == expected


@settings(max_examples=rounds(40, 500), deadline=None)
@given(programs)
def test_form_does_not_count(program: Program) -> None:
    module = valid(program)
    expected = fingerprint(module)
    for form in forms(module):
        again = parse(form, multithreading=False)
        assert fingerprint(again) == expected
        assert twinjit.equivalent(module, again)
    assert twinjit.fingerprint(str(module), allow_unregistered=True) == expected


def forms(module: ir.Module) -> Iterator[str | bytes]:
    """All that MLIR can write, but for what it leaves out."""
    operation = module.operation
    yield str(module)
    yield operation.get_asm(enable_debug_info=True)
    text = generic(module)
    yield text
    if "dense_resource<" in text:  # lost with the local scope, and in attributes that hide it
        return
    yield operation.get_asm(use_local_scope=True)
    if any("#dlti" in line and "distinct" in line for line in text.splitlines()):
        return  # bytecode has DLTI's attributes as text, which makes a distinct one in it another
    yield bytecode(module)
    has_properties = "<{" in text  # of unregistered operations: lost by older versions
    for version in (5, 6) if has_properties else range(7):
        file = io.BytesIO()
        operation.write_bytecode(file, desired_version=version)
        yield file.getvalue()


def test_process_does_not_count() -> None:
    code = (
        "import json, sys\n"
        "from tests.live_programs import fingerprint\n"
        "print(json.dumps([fingerprint(text) for text in json.load(sys.stdin)]))"
    )
    texts = [render(random_program(seed, size=15)) for seed in range(60)]
    texts = [text for text in texts if is_valid(text)]
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(texts), capture_output=True, text=True
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [fingerprint(text) for text in texts]
    assert len(texts) > 10


def is_valid(text: str) -> bool:
    try:
        parse(text, multithreading=False)
    except ir.MLIRError:
        return False
    return True


@settings(max_examples=rounds(60, 1_500), deadline=None)
@given(programs, st.integers(0, 2**32), policies, policies)
def test_policies(program: Program, seed: int, one: twinjit.Policy, other: twinjit.Policy) -> None:
    """Fingerprints agree with comparison, and a policy that ignores more merges more."""
    module = valid(program)
    both = either(one, other)
    expected = {policy: twinjit.fingerprint(module, policy) for policy in (one, other, both)}
    changes = list(mutants(program, Random(seed)))
    for what, mutant in Random(seed).sample(changes, k=min(5, len(changes))):
        if (changed := read(module.context, render(mutant, Spelling(Random(seed))))) is None:
            continue
        same = {}
        for policy in expected:
            same[policy] = twinjit.fingerprint(changed, policy) == expected[policy]
            assert twinjit.equivalent(module, changed, policy) == same[policy], what
        assert same[both] or not (same[one] or same[other]), what


@settings(max_examples=rounds(200, 10_000), deadline=None)
@given(st.integers(0, 2**32), st.lists(policies, min_size=4, max_size=4))
def test_symbols(seed: int, settings: list[twinjit.Policy]) -> None:
    """Programs of symbols are the same exactly if a search finds one text for both."""
    program = random_symbols(seed)
    other = spelt_otherwise(program, Random(seed))
    one, two = (parse(each.text(), multithreading=False) for each in (program, other))
    for policy in settings:
        same = program.canonical(policy) == other.canonical(policy)
        assert (twinjit.fingerprint(one, policy) == twinjit.fingerprint(two, policy)) == same
        assert twinjit.equivalent(one, two, policy) == same
        assert twinjit.equivalent(two, one, policy) == same
