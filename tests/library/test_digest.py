"""Digests of what can be imported: what counts, and where they are the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.library.samples import COUNTS, library
from twinjit import ImportPolicy, Library

EVERYTHING = ["weigh", "add_two", "first", "loops", "reads_shared"]


def digests(text: bytes, **options: object) -> dict[str, bytes | None]:
    lib = library(text, **options)
    return {name: lib.digest([name]) for name in EVERYTHING}


def changed(old: bytes, new: bytes, **options: object) -> set[str]:
    """Names whose digest a change of the library alters."""
    assert old in COUNTS
    before, after = digests(COUNTS, **options), digests(COUNTS.replace(old, new), **options)
    assert library(COUNTS).identity != library(COUNTS.replace(old, new)).identity
    return {name for name in EVERYTHING if before[name] != after[name]}


@pytest.mark.parametrize("provided", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (b"add i64 %x, 2", b"add i64 %x, 3", {"add_two", "weigh"}),
        (b"lshr i64 %x, 1", b"lshr i64 %x, 2", {"weigh"}),
        (b"i64 7, i64 11", b"i64 7, i64 13", {"weigh"}),
        (b"add i64 %old, %x", b"sub i64 %old, %x", set()),
        (b"{ i64, i64 }", b"{ i64, i32 }", {"first"}),
        (b"%pair", b"%couple", set()),
        (b"%weight", b"%heaviness", set()),
        (b'!"llvm.loop.mustprogress"', b'!"llvm.loop.unroll.disable"', {"loops"}),
    ],
)
def test_a_change_counts_where_it_can_be_imported(old, new, names, provided):
    assert changed(old, new, provided=provided) == names


def test_a_constant_of_the_process_does_not_count():
    old, new = b"constant i64 40", b"constant i64 41"
    assert changed(old, new) == {"reads_shared"}
    assert changed(old, new, provided=True) == set()


def test_a_callee_that_is_not_imported_does_not_count():
    policy = ImportPolicy(decay=0)
    names = changed(b"add i64 %x, 2", b"add i64 %x, 3", provided=True, policy=policy)
    assert names == {"add_two"}


def test_policy_and_mode_count():
    options = [
        {},
        {"provided": True},
        {"provided": True, "policy": ImportPolicy(max_instructions=100)},
        {"provided": True, "policy": ImportPolicy(decay=0.4)},
        {"provided": True, "policy": ImportPolicy(constant_bytes=8)},
    ]
    libraries = [library(**each) for each in options]
    assert len({lib.digest(["add_two"]) for lib in libraries}) == len(options)
    assert len({lib.identity for lib in libraries}) == len(options)


def test_order_of_names_and_of_questions_does_not_count():
    one, two = library(), library()
    for name in EVERYTHING:
        one.digest([name])
    assert two.digest(EVERYTHING) == one.digest(reversed(EVERYTHING))


def test_unknown_names_do_not_count():
    lib = library()
    assert lib.digest(["missing"]) is None
    assert lib.digest([]) is None
    assert lib.digest(["missing", "weigh"]) == lib.digest(["weigh"])


def test_place_in_the_library_does_not_count():
    moved = Library.from_bitcode([b"define i64 @alone(i64 %x) {\n  ret i64 %x\n}", COUNTS])
    assert moved.digest(EVERYTHING) == library().digest(EVERYTHING)


def test_same_in_another_process():
    code = (
        "from tests.library.samples import library\n"
        "from tests.library.test_digest import EVERYTHING\n"
        "print(library().digest(EVERYTHING).hex())"
    )
    command = [sys.executable, "-X", "utf8", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    expected = library().digest(EVERYTHING)
    assert expected is not None
    assert done.stdout.strip() == expected.hex()


def test_golden():
    # Of this LLVM's text: another one may print the same function otherwise.
    digest = library().digest(["add_two"])
    assert digest is not None
    assert digest.hex() == "204801460d63729ac6acfcc2173e835c5560d5892780fd77c62497dea7dbab74"
