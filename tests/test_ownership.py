"""Results own their memory, and nothing is computed in the caller's arrays."""

from __future__ import annotations

import gc

import numpy as np
import pytest

F32 = np.float32


def test_result_is_the_argument(run):
    f = run("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }")
    a = np.arange(4, dtype=F32)
    got = f(a)
    assert not np.shares_memory(got, a)
    np.testing.assert_array_equal(got, a)


def test_one_value_twice_and_a_view_of_it(run):
    f = run("""func.func @f(%a: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>) {
      %0 = arith.addf %a, %a : tensor<4xf32>
      %s = tensor.extract_slice %0[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
      %e = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
      return %0, %0, %s, %e : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>
    }""")
    a = np.arange(4, dtype=F32)
    results = f(a)
    for got, expected in zip(
        results, [2 * a, 2 * a, 2 * a[1:3], (2 * a).reshape(2, 2)], strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    assert not np.shares_memory(results[0], results[1])


def test_dynamic_results_that_would_share(run):
    f = run("""func.func @f(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x1xf32>) {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %a, %c0 : tensor<?xf32>
      %e = tensor.expand_shape %a [[0, 1]] output_shape [%d, 1]
        : tensor<?xf32> into tensor<?x1xf32>
      return %a, %a, %e : tensor<?xf32>, tensor<?xf32>, tensor<?x1xf32>
    }""")
    a = np.arange(5, dtype=F32)
    for _ in range(100):
        one, two, three = f(a)
        one[0] = 7
        assert (a[0], two[0], three[0, 0]) == (0, 0, 0)
        del one, two, three
        gc.collect()


def test_constant_results_are_writable_copies(run):
    f = run("""func.func @f() -> tensor<4xf32> {
      %s = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      return %s : tensor<4xf32>
    }""")
    first = f()
    first[:] = 0
    np.testing.assert_array_equal(f(), [1, 2, 3, 4])


def test_returned_global_memref_is_a_copy(run):
    f = run("""
    memref.global "private" constant @g : memref<3xi32> = dense<[1, 2, 3]>
    func.func @f() -> memref<3xi32> {
      %g = memref.get_global @g : memref<3xi32>
      return %g : memref<3xi32>
    }""")
    first = f()
    first[:] = 0
    np.testing.assert_array_equal(f(), [1, 2, 3])


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_returned_memref_outlives_its_function(compiler, size):
    exe = compiler.compile("""func.func @f(%n: index) -> memref<?xi64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.alloc(%n) {alignment = 64} : memref<?xi64>
      scf.for %i = %c0 to %n step %c1 {
        %v = arith.index_cast %i : index to i64
        memref.store %v, %m[%i] : memref<?xi64>
      }
      return %m : memref<?xi64>
    }""")
    result = exe.f(size)
    del exe
    compiler.clear_memory()
    gc.collect()
    np.testing.assert_array_equal(result, np.arange(size))
    result[:] = 1


def test_inputs_are_not_overwritten(run):
    f = run("""func.func @f(%a: tensor<4xf32>, %x: f32, %i: index) -> tensor<4xf32> {
      %0 = tensor.insert %x into %a[%i] : tensor<4xf32>
      return %0 : tensor<4xf32>
    }""")
    a = np.arange(4, dtype=F32)
    a.flags.writeable = False
    np.testing.assert_array_equal(f(a, 9.0, 2), [0, 1, 9, 3])
    np.testing.assert_array_equal(a, [0, 1, 2, 3])


def test_output_given_by_the_caller(run):
    f = run("""func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = math.exp %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }""")
    a, out = np.zeros(4, F32), np.empty(4, F32)
    assert f(a, out=out) is out
    np.testing.assert_array_equal(out, np.ones(4))


def test_output_that_overlaps_an_input(run):
    f = run("""
    #id = affine_map<(d0) -> (d0)>
    #rev = affine_map<(d0) -> (-d0 + 3)>
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
          outs(%e : tensor<4xf32>) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %c = arith.constant 3 : index
          %j = arith.subi %c, %i : index
          %v = tensor.extract %a[%j] : tensor<4xf32>
          linalg.yield %v : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }""")
    a = np.arange(4, dtype=F32)
    expected = a[::-1].copy()
    np.testing.assert_array_equal(f(a, out=a), expected)
