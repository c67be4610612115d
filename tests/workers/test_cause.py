"""What a process said last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinjit.workers.cause import find_cause

PLACE = "/build/llvm-project/mlir/lib/IR/Block.cpp:12"


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("", ""),
        ("\n \n", ""),
        ("one\ntwo\n\n", "two"),
        (
            f'python3: {PLACE}: void f(int): Assertion `a && "why"\' failed.\n#0 frame\n',
            'Assertion `a && "why"\' failed at mlir/lib/IR/Block.cpp:12',
        ),
        (
            "remark\n/usr/include/c++/14/bits/vector.h:1: T f(): Assertion '!empty()' failed.\n",
            "Assertion `!empty()' failed at bits/vector.h:1",
        ),
        (
            f"p: {PLACE}: f: Assertion `first' failed.\nq: x.c:1: g: Assertion `second' failed.\n",
            "Assertion `first' failed at mlir/lib/IR/Block.cpp:12",
        ),
        (f"what\nUNREACHABLE executed at {PLACE}!", "what: reached at mlir/lib/IR/Block.cpp:12"),
        ("UNREACHABLE executed at x.cpp:1!\n", "unreachable code: reached at x.cpp:1"),
        ("LLVM ERROR: Cannot select: t1\nIn function: f\n", "LLVM ERROR: Cannot select: t1"),
        (
            "terminate called after throwing an instance of 'std::length_error'\n  what():  long\n",
            "std::length_error was thrown: long",
        ),
        (
            "terminate called after throwing an instance of 'int'\n",
            "int was thrown: nothing caught it",
        ),
        ("Fatal Python error: Aborted\n\nThread 1:\n", "Fatal Python error: Aborted"),
        ("\x1b[31mred\x07\n", r"\x1b[31mred\x07"),
    ],
)
def test_each_form(output: str, cause: str) -> None:
    assert find_cause(output) == cause


@given(st.text() | st.text("LVM ERO:\n'`.!Assertion failed\x1b9/"))
def test_it_is_one_short_line(output: str) -> None:
    cause = find_cause(output)
    assert len(cause) <= 500
    assert cause.isprintable()


def test_it_is_cut() -> None:
    assert find_cause("LLVM ERROR: " + "x" * 1000) == "LLVM ERROR: " + "x" * 487 + "…"
