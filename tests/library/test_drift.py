"""Importing again gives the same, and leaves the library as it was."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.library.heap import heap_bytes
from tests.library.postgres import postgres_library
from tests.library.samples import bitcode, caller, library
from tests.threads import at_once
from twinjit import Library, Target
from twinjit._native import _llvm
from twinjit.stop import Stop

SMALL = ["weigh", "add_two", "first", "loops", "reads_shared", "apart"]


def object_of(program: bytes) -> bytes:
    target = Target.host()
    return _llvm.emit(program, [], target.triple, target.cpu, target.features, 2, Stop())[0]


def import_at_random(
    lib: Library, names: Sequence[str], times: int, type_: str
) -> dict[str, set[bytes]]:
    """Import on two threads in random order; return all that came out, by name."""
    callers = {name: caller(name, type_=type_) for name in names}
    found: dict[str, set[bytes]] = {name: set() for name in names}

    def work(seed: int) -> None:
        chosen = random.Random(seed)
        for _ in range(times // 2):
            name = chosen.choice(names)
            found[name].add(lib.import_into(callers[name], [name])[0])

    at_once(work, 2)
    return found


def changed_modules(lib: Library, fresh: Library) -> list[str]:
    """Names of modules, types and all, that are not as they are in a library without a past."""
    fresh._native.open_all()
    expected = set(fresh._native.module_digests())
    used = lib._native.module_digests()
    assert used, "nothing was read"
    return [name for name, digest in used if (name, digest) not in expected]


def test_ten_thousand_imports_are_the_same():
    lib = library()
    found = import_at_random(lib, SMALL, 10_000, "i64")
    for name, programs in found.items():
        texts = {str(_llvm.parse_module(each, "program")) for each in programs}
        fresh = library().import_into(caller(name), [name])[0]
        assert texts == {str(_llvm.parse_module(fresh, "program"))}
        assert {object_of(each) for each in programs} == {object_of(fresh)}
    assert changed_modules(lib, library()) == []


def test_postgres_does_not_drift():
    lib = postgres_library()
    chosen = random.Random(7)
    names = chosen.sample(
        [each for each in chosen.sample(lib.functions, 200) if lib.explain(each).imported], 60
    )
    found = import_at_random(lib, names, 10_000, "ptr")
    other = postgres_library()
    for name in reversed(names):  # in another order of loading
        fresh = other.import_into(caller(name, type_="ptr"), [name])[0]
        texts = {str(_llvm.parse_module(each, "program")) for each in (*found[name], fresh)}
        assert len(texts) == 1
        assert {object_of(each) for each in found[name]} == {object_of(fresh)}
    assert changed_modules(lib, postgres_library()) == []


def test_memory_does_not_grow():
    lib = library(provided=True)
    program, names = caller(*SMALL), list(SMALL)
    for _ in range(200):
        lib.import_into(program, names)
    before = heap_bytes()
    for _ in range(2000):
        lib.import_into(program, names)
    assert (heap_bytes() - before) / 2000 < 64


def test_contexts_are_given_up():
    files = _llvm.BitcodeFiles()
    files.add("sample", bitcode(b"define i64 @f(i64 %x) {\n  ret i64 %x\n}"))
    program = caller("f")
    lib = _llvm.Library(files, None, None, 2 * len(program))
    first = lib.import_into(program, ["f"], "", [])
    for used in (1, 2):
        assert len(lib.module_digests()) == 1, f"after {used} programs"
        assert lib.import_into(program, ["f"], "", []) == first
    assert lib.module_digests() == []  # too much was read in it
    assert lib.import_into(program, ["f"], "", []) == first
