"""Arrays that compiled code returns: whose memory they are, and that it is freed exactly once."""

from __future__ import annotations

import array
import functools
import gc
import os
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest

from tests.call.test_arrays import ELEMENTS
from tests.native_helpers import build, function, loops, value

F32 = np.float32
DYNAMIC = "memref<?x?xf32, strided<[?, ?], offset: ?>>"


def maker(dtype="f32"):
    """f(n, m) returns a new n by m array."""
    kind = f"memref<?x?x{dtype}>"
    return f"""func.func @f(%n: index, %m: index, %v: {dtype}) -> {kind} {{
      %r = memref.alloc(%n, %m) : {kind}
      {loops(2, f"memref.store %v, %r[$i] : {kind}", over="%r", type=kind)}
      return %r : {kind}
    }}"""


IDENTITY = "func.func @f(%a: memref<?xf32>) -> memref<?xf32> { return %a : memref<?xf32> }"
TWICE = """func.func @f(%n: index) -> (memref<?xf32>, memref<?xf32>) {
  %r = memref.alloc(%n) : memref<?xf32>
  %v = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  memref.store %v, %r[%c0] : memref<?xf32>
  return %r, %r : memref<?xf32>, memref<?xf32>
}"""
VECTOR = value("tensor", "f32", -1)
MEMREF = value("memref", "f32", -1)


@pytest.mark.parametrize("dtype", sorted(ELEMENTS))
def test_new_memory(dtype):
    three = 3 + 0j if "complex" in dtype else 3
    got = function(maker(dtype))(2, 3, three)
    assert type(got) is np.ndarray
    assert got.dtype == ELEMENTS[dtype][0]
    assert (got.shape, got.flags.c_contiguous, got.flags.writeable) == ((2, 3), True, True)
    assert (got == 3).all()
    got[:] = 4


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_elements(shape):
    got = function(maker())(*shape, 1.0)
    assert got.shape == shape
    assert got.dtype == F32


def test_no_dimensions():
    f = function("""func.func @f(%v: f64) -> memref<f64> {
      %r = memref.alloc() : memref<f64>
      memref.store %v, %r[] : memref<f64>
      return %r : memref<f64>
    }""")
    assert f(2.5).shape == ()
    assert f(2.5) == 2.5


@functools.cache
def strider():
    """f(a, offset, n, m, s, t) returns a view of a."""
    return function(f"""func.func @f(%a: memref<?xf32>, %o: index, %n: index, %m: index,
                             %s: index, %t: index) -> {DYNAMIC} {{
      %r = memref.reinterpret_cast %a to offset: [%o], sizes: [%n, %m], strides: [%s, %t]
        : memref<?xf32> to {DYNAMIC}
      return %r : {DYNAMIC}
    }}""")


def test_offset_and_strides():
    a = np.arange(40, dtype=F32)
    got = strider()(a, 30, 2, 3, -20, 4)
    np.testing.assert_array_equal(got, [[30, 34, 38], [10, 14, 18]])
    assert np.shares_memory(got, a)
    got[0, 0] = -1
    assert a[30] == -1


def test_view_keeps_the_argument():
    for make in (
        lambda: np.arange(4, dtype=F32),
        lambda: np.arange(8, dtype=F32)[2:6],
        lambda: array.array("f", range(4)),
        lambda: memoryview(np.arange(4, dtype=F32)),
    ):
        a = make()
        expected = np.array(a).tolist()
        got = function(IDENTITY)(a)
        assert np.shares_memory(got, np.asarray(a))
        del a
        gc.collect()
        [np.empty(4, F32) for _ in range(100)]
        assert got.tolist() == expected


def test_view_holds_no_more_than_the_argument():
    a = np.zeros(4, F32)
    gone = weakref.ref(a)
    before = sys.getrefcount(a)
    got = function(IDENTITY)(a)
    assert got.base is a
    assert sys.getrefcount(a) == before + 1
    del got
    assert sys.getrefcount(a) == before
    del a
    assert gone() is None


def test_view_of_read_only_memory_is_read_only():
    f = function(IDENTITY.replace("%a: memref<?xf32>", "%a: memref<?xf32> {llvm.readonly}"))
    a = np.arange(4, dtype=F32)
    assert f(a).flags.writeable
    a.flags.writeable = False
    assert not f(a).flags.writeable
    assert not f(memoryview(bytes(16)).cast("f")).flags.writeable


def test_tensor_results_never_share_with_arguments():
    f = function(IDENTITY, arguments=[VECTOR], results=[VECTOR])
    for a in (np.arange(4, dtype=F32), np.arange(8, dtype=F32)[::2], array.array("f", range(4))):
        got = f(a)
        np.testing.assert_array_equal(got, a)
        assert not np.shares_memory(got, np.asarray(a))
        assert got.flags.writeable


def test_memref_result_on_a_copied_tensor_keeps_the_copy():
    f = function(IDENTITY, arguments=[VECTOR])
    a = np.arange(8, dtype=F32)[::2]
    got = f(a)
    gc.collect()
    [np.empty(4, F32) for _ in range(100)]
    assert got.tolist() == [0, 2, 4, 6]
    assert not np.shares_memory(got, a)


def test_two_results_in_one_block():
    one, two = function(TWICE)(4)
    assert np.shares_memory(one, two)
    del one
    two[0] = 5
    assert two[0] == 5
    one, two = function(TWICE, results=[VECTOR, VECTOR])(4)
    assert not np.shares_memory(one, two)
    assert one[0] == two[0] == 1
    for mixed in ([VECTOR, MEMREF], [MEMREF, VECTOR]):
        one, two = function(TWICE, results=mixed)(4)
        assert not np.shares_memory(one, two)


def test_static_results_of_other_pipelines():
    """A tensor of static shape may be returned, instead of written into an array handed over."""
    f = function(
        "func.func @f(%a: memref<4xf32>) -> memref<4xf32> { return %a : memref<4xf32> }",
        arguments=[value("tensor", "f32", 4)],
        results=[value("tensor", "f32", 4)],
    )
    a = np.arange(4, dtype=F32)
    got = f(a)
    np.testing.assert_array_equal(got, a)
    assert not np.shares_memory(got, a)


def test_result_in_an_array_given_as_out():
    """A returned memref may lie in the array that another result is written into."""
    f = function(
        """func.func @f(%a: memref<4xf32>, %x: memref<4xf32>) -> memref<4xf32> {
          memref.copy %a, %x : memref<4xf32> to memref<4xf32>
          return %x : memref<4xf32>
        }""",
        arguments=[value("tensor", "f32", 4)],
        results=[value("tensor", "f32", 4), value("memref", "f32", 4)],
    )
    a = np.arange(4, dtype=F32)
    one, two = f(a)
    assert np.shares_memory(one, two)
    one, two = f(a, out=(a,))
    assert one is a
    assert two.tolist() == a.tolist() == [0, 1, 2, 3]


GLOBAL = """
memref.global "private" {constant} @g : memref<3xi32> = dense<[1, 2, 3]>
func.func @f() -> memref<3xi32> {{
  %g = memref.get_global @g : memref<3xi32>
  return %g : memref<3xi32>
}}"""


@pytest.mark.parametrize("constant", ["constant", ""])
def test_globals_are_copied(constant):
    f = function(GLOBAL.format(constant=constant), fresh=True)
    first, second = f(), f()
    assert not np.shares_memory(first, second)
    assert first.flags.writeable
    first[:] = 0
    assert f().tolist() == [1, 2, 3]
    del f
    gc.collect()
    assert (first.tolist(), second.tolist()) == ([0, 0, 0], [1, 2, 3])


def test_results_outlive_the_code():
    f = function(maker(), fresh=True)
    got = f(100, 100, 2.0)
    image = weakref.ref(f)
    del f
    gc.collect()
    assert image() is None
    assert (got == 2).all()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


BLOCK = 16384  # floats: 64 KiB a call


@pytest.mark.parametrize(
    ("text", "results", "arguments"),
    [
        (TWICE, None, (BLOCK,)),
        (TWICE, [VECTOR, VECTOR], (BLOCK,)),
        (TWICE, [VECTOR, MEMREF], (BLOCK,)),
        (maker(), None, (128, 128, 1.0)),
        (maker(), None, (0, 128, 1.0)),
        (IDENTITY, None, (np.zeros(BLOCK, F32),)),
        (IDENTITY, None, (memoryview(np.zeros(BLOCK, F32)),)),
        (IDENTITY, [VECTOR], (np.zeros(BLOCK, F32),)),
    ],
)
def test_memory_is_freed(text, results, arguments):
    """A second free would abort; no free at all would take gigabytes."""
    f = function(text, results=results)
    before = None
    for call in range(20_000):
        f(*arguments)
        if call == 1000:
            before = resident()
    assert resident() - before < 20e6


def test_a_hundred_thousand_small_results():
    f = function(maker())
    kept = [f(1, 3, float(i)) for i in range(1000)]
    before = resident()
    for _ in range(100_000):
        f(2, 2, 1.0)
    assert resident() - before < 5e6
    assert [int(each[0, 2]) for each in kept] == list(range(1000))


def test_what_cannot_become_an_array_is_freed():
    f = function(
        """func.func @f(%n: index, %size: index) -> (memref<?xf32>, memref<?xi32>) {
          %a = memref.alloc(%n) : memref<?xf32>
          %b = memref.alloc(%n) : memref<?xi32>
          %c = memref.reinterpret_cast %b to offset: [0], sizes: [%size], strides: [1]
            : memref<?xi32> to memref<?xi32>
          return %a, %c : memref<?xf32>, memref<?xi32>
        }"""
    )
    before = resident()
    for _ in range(2000):
        with pytest.raises(ValueError, match="negative"):
            f(BLOCK, -1)
        f(BLOCK, BLOCK)
    assert resident() - before < 20e6


def test_pointers():
    f = function("""
    llvm.mlir.global internal @g(7 : i32) : i32
    llvm.func @f() -> (!llvm.ptr) {
      %p = llvm.mlir.addressof @g : !llvm.ptr
      llvm.return %p : !llvm.ptr
    }""")
    image, _, _ = build("""
    llvm.mlir.global internal @g(7 : i32) : i32
    llvm.func @f() -> (!llvm.ptr) {
      %p = llvm.mlir.addressof @g : !llvm.ptr
      llvm.return %p : !llvm.ptr
    }""")
    got = f()
    assert type(got) is int
    assert image.contains(got)


def test_bfloat16_views():
    f = function(IDENTITY.replace("f32", "bf16"))
    a = np.arange(3).astype(ml_dtypes.bfloat16)
    assert f(a).dtype == ml_dtypes.bfloat16
    assert np.shares_memory(f(a), a)
