"""Loops and branches that carry tensors, however these alternate between iterations."""

from __future__ import annotations

import numpy as np
import pytest

TYPES = ["tensor<5xf64>", "tensor<?xf64>"]


def for_loop(tensor, body):
    return f"""func.func @f(%n: index, %a: {tensor}, %b: {tensor}) -> ({tensor}, {tensor}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> ({tensor}, {tensor}) {{
        {body}
      }}
      return %r#0, %r#1 : {tensor}, {tensor}
    }}"""


def arrays():
    return np.arange(5.0), np.full(5, 2.0)


@pytest.mark.parametrize("tensor", TYPES)
def test_loop_accumulates(run, tensor):
    f = run(for_loop(tensor, f"""%s = arith.addf %x, %y : {tensor}
        scf.yield %s, %y : {tensor}, {tensor}"""))  # fmt: skip
    a, b = arrays()
    for n in (0, 1, 4):
        x, y = f(n, a, b)
        np.testing.assert_array_equal(x, a + n * b)
        np.testing.assert_array_equal(y, b)
    np.testing.assert_array_equal(a, arrays()[0])


@pytest.mark.parametrize("tensor", TYPES)
def test_loop_swaps(run, tensor):
    f = run(for_loop(tensor, f"scf.yield %y, %x : {tensor}, {tensor}"))
    a, b = arrays()
    for n in (0, 1, 2, 5):
        x, y = f(n, a, b)
        expected = (b, a) if n % 2 else (a, b)
        np.testing.assert_array_equal(x, expected[0])
        np.testing.assert_array_equal(y, expected[1])


@pytest.mark.parametrize("tensor", TYPES)
def test_loop_of_fibonacci(run, tensor):
    f = run(for_loop(tensor, f"""%s = arith.addf %x, %y : {tensor}
        scf.yield %y, %s : {tensor}, {tensor}"""))  # fmt: skip
    a, b = arrays()
    x, y = a, b
    for _ in range(30):
        x, y = y, x + y
    got = f(30, a, b)
    np.testing.assert_array_equal(got[0], x)
    np.testing.assert_array_equal(got[1], y)


@pytest.mark.parametrize("tensor", TYPES)
def test_while_loop(run, tensor):
    f = run(f"""func.func @f(%n: index, %a: {tensor}, %b: {tensor}) -> ({tensor}, index) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.while (%x = %a, %i = %c0) : ({tensor}, index) -> ({tensor}, index) {{
        %more = arith.cmpi slt, %i, %n : index
        scf.condition(%more) %x, %i : {tensor}, index
      }} do {{
      ^bb0(%x: {tensor}, %i: index):
        %s = arith.addf %x, %b : {tensor}
        %j = arith.addi %i, %c1 : index
        scf.yield %s, %j : {tensor}, index
      }}
      return %r#0, %r#1 : {tensor}, index
    }}""")
    a, b = arrays()
    for n in (0, 1, 4):
        x, i = f(n, a, b)
        np.testing.assert_array_equal(x, a + n * b)
        assert i == n


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_loops_free_what_they_carry(run):
    f = run(for_loop(TYPES[1], f"""%s = arith.addf %x, %y : {TYPES[1]}
        scf.yield %y, %s : {TYPES[1]}, {TYPES[1]}"""))  # fmt: skip
    a = np.ones(500)
    for _ in range(500):
        f(7, a, a)
    before = resident()
    for _ in range(2000):  # 4 KB a buffer: 56 MB if each iteration lost one
        f(7, a, a)
    assert resident() - before < 4 << 20
