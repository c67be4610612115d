"""What the named pipelines make of programs, checked by their values."""

from __future__ import annotations

import cmath
import functools
import math
import operator

import ml_dtypes
import numpy as np
import pytest

import twinjit
from twinjit.errors import ExecutionError, PipelineError, SignatureError
from twinjit.pipeline import choose_pipeline

F32 = np.float32


def std(name, arguments, results, body):
    """Text of a function that returns the values of the operations in `body`."""
    return f"func.func @{name}({arguments}) -> {results} {{\n{body}\n}}"


# The choice


@pytest.mark.parametrize(
    ("dialects", "uses_tensors", "name"),
    [
        ({"builtin", "llvm"}, False, "llvm"),
        ({"builtin", "func", "arith", "llvm"}, False, "std"),
        ({"builtin", "func", "arith", "scf", "vector", "complex", "index"}, False, "std"),
        ({"builtin", "func", "linalg"}, False, "linalg-buffers"),
        ({"builtin", "func", "linalg", "tensor"}, True, "linalg"),
        ({"builtin", "func", "tosa"}, True, "linalg"),
        ({"builtin", "func", "arith"}, True, "linalg"),
    ],
)
def test_pipeline_follows_the_dialects(dialects, uses_tensors, name):
    assert choose_pipeline(frozenset(dialects), uses_tensors=uses_tensors).name == name


def test_unknown_dialects_are_named():
    with pytest.raises(PipelineError, match="gpu, spirv"):
        choose_pipeline(frozenset({"builtin", "gpu", "spirv"}), uses_tensors=False)


def test_report_names_the_pipeline(compiler):
    assert compiler.compile("func.func @f() { return }").report.pipeline == "std"


def test_llvm_dialect(run):
    f = run("""llvm.func @f(%x: i64, %y: f64) -> f64 {
      %z = llvm.sitofp %x : i64 to f64
      %r = llvm.fmul %z, %y : f64
      llvm.return %r : f64
    }""")
    assert f(6, 7.0) == 42.0


# std: arithmetic


def test_division_rounding(run):
    f = run(
        std(
            "f",
            "%a: i32, %b: i32",
            "(i32, i32, i32)",
            """
      %c = arith.ceildivsi %a, %b : i32
      %d = arith.floordivsi %a, %b : i32
      %e = arith.divsi %a, %b : i32
      return %c, %d, %e : i32, i32, i32""",
        )
    )
    assert f(7, 2) == (4, 3, 3)
    assert f(-7, 2) == (-3, -4, -3)


@pytest.mark.parametrize(
    ("op", "reference"),
    [("exp", math.exp), ("log", math.log), ("tanh", math.tanh), ("erf", math.erf),
     ("sin", math.sin), ("cos", math.cos), ("sqrt", math.sqrt), ("cbrt", lambda x: x ** (1 / 3)),
     ("atan", math.atan), ("log1p", math.log1p), ("expm1", math.expm1), ("exp2", lambda x: 2**x),
     ("rsqrt", lambda x: 1 / math.sqrt(x)), ("floor", math.floor), ("ceil", math.ceil),
     ("roundeven", round), ("absf", abs)],
)  # fmt: skip
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("f64", 1e-14), ("f32", 1e-6), ("f16", 2e-3), ("bf16", 2e-2)]
)
def test_math(run, op, reference, dtype, tolerance):
    f = run(std("f", f"%x: {dtype}", dtype, f"%y = math.{op} %x : {dtype}\nreturn %y : {dtype}"))
    for x in (0.5, 1.25, 2.5):
        assert f(x) == pytest.approx(reference(x), rel=tolerance, abs=tolerance)


def test_integer_powers(run):
    f = run(
        std(
            "f",
            "%x: f64, %n: i32",
            "(f64, i32)",
            """
      %a = math.fpowi %x, %n : f64, i32
      %b = math.ipowi %n, %n : i32
      return %a, %b : f64, i32""",
        )
    )
    assert f(1.5, 3) == (1.5**3, 27)


def test_complex(run):
    f = run(
        std(
            "f",
            "%a: complex<f64>, %b: complex<f64>",
            "(complex<f64>, complex<f64>, f64)",
            """
      %c = complex.mul %a, %b : complex<f64>
      %d = complex.exp %c : complex<f64>
      %e = complex.div %d, %b : complex<f64>
      %m = complex.abs %a : complex<f64>
      return %c, %e, %m : complex<f64>, complex<f64>, f64""",
        )
    )
    a, b = 1 + 2j, 0.5 - 0.25j
    product, quotient, modulus = f(a, b)
    assert product == a * b
    assert quotient == pytest.approx(cmath.exp(a * b) / b)
    assert modulus == pytest.approx(abs(a))


# std: memory, loops, vectors


def test_vectors(run):
    f = run("""func.func @f(%m: memref<4x8xf32>, %n: memref<8x4xf32>) -> f32 {
      %p = arith.constant 0.0 : f32
      %c = arith.constant 0 : index
      %v = vector.transfer_read %m[%c, %c], %p : memref<4x8xf32>, vector<4x8xf32>
      %t = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
      vector.transfer_write %t, %n[%c, %c] : vector<8x4xf32>, memref<8x4xf32>
      %s = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>
      %r = vector.reduction <maximumf>, %s : vector<32xf32> into f32
      return %r : f32
    }""")
    m = np.arange(32, dtype=F32).reshape(4, 8)
    n = np.zeros((8, 4), F32)
    assert f(m, n) == 31
    np.testing.assert_array_equal(n, m.T)


def test_masked_tail_of_a_transfer(run):
    f = run("""func.func @f(%m: memref<?xf32>) -> f32 {
      %p = arith.constant 0.0 : f32
      %c = arith.constant 0 : index
      %v = vector.transfer_read %m[%c], %p : memref<?xf32>, vector<16xf32>
      %r = vector.reduction <add>, %v : vector<16xf32> into f32
      return %r : f32
    }""")
    assert f(np.ones(5, F32)) == 5


def test_structured_control_flow(run):
    f = run("""func.func @f(%m: memref<?xf32, strided<[?], offset: ?>>, %n: index) -> index {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %v = memref.load %m[%i] : memref<?xf32, strided<[?], offset: ?>>
        %w = arith.addf %v, %v : f32
        memref.store %w, %m[%i] : memref<?xf32, strided<[?], offset: ?>>
      }
      %r = scf.index_switch %n -> index
      case 2 { scf.yield %c0 : index }
      default { scf.yield %c1 : index }
      return %r : index
    }""")
    m = np.arange(6, dtype=F32)
    assert f(m[::-2], 3) == 1
    np.testing.assert_array_equal(m, [0, 2, 2, 6, 4, 10])
    assert f(m, 2) == 0


def test_affine_index_and_atomics(run):
    f = run("""func.func @f(%m: memref<16xi64>) -> i64 {
      affine.for %i = 0 to 16 {
        %v = arith.index_cast %i : index to i64
        affine.store %v, %m[15 - %i] : memref<16xi64>
      }
      %two = index.constant 2
      %c = arith.constant 5 : i64
      %r = memref.atomic_rmw addi %c, %m[%two] : (i64, memref<16xi64>) -> i64
      return %r : i64
    }""")
    m = np.zeros(16, np.int64)
    assert f(m) == 13
    np.testing.assert_array_equal(m[:4], [15, 14, 18, 12])


def test_copies_between_layouts(run):
    f = run("""func.func @f(%a: memref<?x?xi16, strided<[?, ?], offset: ?>>,
                           %b: memref<?x?xi16, strided<[?, ?], offset: ?>>) {
      memref.copy %a, %b : memref<?x?xi16, strided<[?, ?], offset: ?>>
                        to memref<?x?xi16, strided<[?, ?], offset: ?>>
      return
    }""")
    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    b = np.zeros((4, 3), np.int16)
    f(a[::-1], b.T)
    np.testing.assert_array_equal(b.T, a[::-1])


# i1 elements are bytes (MLIR 22.1.8 aborts on them: native/ir/passes/bool_buffers.cpp)


def test_bool_buffers(run):
    f = run("""
    memref.global "private" constant @g : memref<4xi1> = dense<[true, false, true, true]>
    func.func @f(%m: memref<4xi1>, %i: index) -> i1 {
      %g = memref.get_global @g : memref<4xi1>
      %a = memref.load %g[%i] : memref<4xi1>
      %b = memref.load %m[%i] : memref<4xi1>
      %c = arith.xori %a, %b : i1
      memref.store %c, %m[%i] : memref<4xi1>
      %t = memref.alloca() : memref<4xi1>
      memref.copy %m, %t : memref<4xi1> to memref<4xi1>
      %d = memref.load %t[%i] : memref<4xi1>
      return %d : i1
    }""")
    m = np.array([True, True, False, True])
    assert [f(m, i) for i in range(4)] == [False, True, True, False]
    np.testing.assert_array_equal(m, [False, True, True, False])


def test_bool_vectors_read_one_byte_an_element(run):
    f = run("""func.func @f(%m: memref<?xi1>, %n: memref<8xi1>, %o: memref<8xi1>) {
      %c = arith.constant 0 : index
      %p = arith.constant true
      %v = vector.transfer_read %m[%c], %p : memref<?xi1>, vector<8xi1>
      vector.transfer_write %v, %n[%c] : vector<8xi1>, memref<8xi1>
      %w = vector.load %n[%c] : memref<8xi1>, vector<8xi1>
      vector.store %w, %o[%c] : memref<8xi1>, vector<8xi1>
      return
    }""")
    m = np.array([True, False, False, True, False])
    n, o = np.zeros(8, bool), np.zeros(8, bool)
    f(m, n, o)
    np.testing.assert_array_equal(n, [*m, True, True, True])
    np.testing.assert_array_equal(o, n)
    assert o.view(np.uint8).max() == 1


def test_bool_tensors(run):
    f = run("""func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
      %0 = arith.cmpf olt, %a, %b : tensor<4xf32>
      return %0 : tensor<4xi1>
    }""")
    got = f(np.array([1, 2, 3, np.nan], F32), np.array([2, 2, 4, 4], F32))
    assert got.dtype == np.bool_
    np.testing.assert_array_equal(got, [True, False, True, False])


# Assertions in programs


def test_assertion_stops_the_call_not_the_process(run):
    f = run("""func.func @f(%i: index) -> index {
      %c = arith.constant 3 : index
      %ok = arith.cmpi ult, %i, %c : index
      cf.assert %ok, "index out of range"
      scf.if %ok { cf.assert %ok, "never" }
      return %i : index
    }""")
    assert f(2) == 2
    with pytest.raises(ExecutionError, match="index out of range"):
        f(3)
    assert f(1) == 1


def test_assertion_in_a_region_that_stays(run):
    f = run("""func.func @f(%c: i1) -> i64 {
      memref.alloca_scope { cf.assert %c, "not so" }
      %r = scf.execute_region -> i64 {
        cf.assert %c, "nor so"
        %x = arith.constant 7 : i64
        scf.yield %x : i64
      }
      return %r : i64
    }""")
    assert f(True) == 7
    with pytest.raises(ExecutionError, match="not so"):
        f(False)


# linalg


def test_elementwise_chain_is_one_loop_into_the_output(run):
    f = run("""func.func @f(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
      %0 = arith.addf %x, %y : tensor<100xf32>
      %1 = math.sqrt %0 : tensor<100xf32>
      %2 = arith.mulf %1, %x : tensor<100xf32>
      return %2 : tensor<100xf32>
    }""")
    x, y = np.random.default_rng(1).random((2, 100), F32)
    np.testing.assert_array_equal(f(x, y), np.sqrt(x + y) * x)


def test_tosa(run):
    f = run("""func.func @f(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
      %0 = tosa.add %a, %b : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
      %1 = tosa.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }""")
    a = np.linspace(-1, 1, 32, dtype=F32).reshape(4, 8)
    b = np.ones((1, 8), F32)
    np.testing.assert_allclose(f(a, b), np.tanh(a + b), rtol=1e-6)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 5, 7), (17, 33, 9)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_matmul(run, m, k, n, dynamic):
    def tensor(*shape):
        return f"tensor<{'x'.join('?' if dynamic else str(each) for each in shape)}xf32>"

    f = run(f"""func.func @f(%a: {tensor(m, k)}, %b: {tensor(k, n)}, %c: {tensor(m, n)})
        -> {tensor(m, n)} {{
      %0 = linalg.matmul ins(%a, %b : {tensor(m, k)}, {tensor(k, n)})
                         outs(%c : {tensor(m, n)}) -> {tensor(m, n)}
      return %0 : {tensor(m, n)}
    }}""")
    random = np.random.default_rng(2)
    a, b, c = (random.random(shape, F32) for shape in ((m, k), (k, n), (m, n)))
    before = c.copy()
    np.testing.assert_allclose(f(a, b, c), a @ b + c, rtol=1e-5)
    np.testing.assert_array_equal(c, before)  # an input is never the place of the result


AXPY = """func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


@pytest.mark.parametrize("sizes", [(50_000_000, 4), (6, 3), (3, 6), (1, 0)])
def test_dynamic_sizes_that_do_not_fit_stop_the_call(run, sizes):
    f = run(AXPY)
    with pytest.raises(ExecutionError, match=r"dimension #0 .* incompatible .* in .*linalg"):
        f(*(np.ones(size, F32) for size in sizes))
    np.testing.assert_array_equal(f(np.ones(3, F32), np.ones(3, F32)), [2, 2, 2])


def test_dynamic_contraction_that_does_not_fit_stops_the_call(run):
    f = run("""func.func @f(%a: tensor<?x8xf32>, %b: tensor<9x4xf32>, %c: tensor<?x4xf32>)
        -> tensor<?x4xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<9x4xf32>)
                         outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }""")
    with pytest.raises(ExecutionError, match="incompatible"):
        f(np.ones((2, 8), F32), np.ones((9, 4), F32), np.ones((2, 4), F32))


@pytest.mark.parametrize("index", [-1, 4, 1 << 40])
def test_index_out_of_a_tensor_stops_the_call(run, index):
    f = run("""func.func @f(%a: tensor<4xf32>, %i: index) -> f32 {
      %0 = tensor.extract %a[%i] : tensor<4xf32>
      return %0 : f32
    }""")
    assert f(np.arange(4, dtype=F32), 3) == 3
    with pytest.raises(ExecutionError, match="out-of-bounds"):
        f(np.arange(4, dtype=F32), index)


def test_reduction_keeps_its_order(run):
    f = run("""
    #in = affine_map<(d0, d1) -> (d0, d1)>
    #out = affine_map<(d0, d1) -> (d0)>
    func.func @f(%a: tensor<3x5xf64>) -> tensor<3xf64> {
      %z = arith.constant dense<0.0> : tensor<3xf64>
      %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<3x5xf64>) outs(%z : tensor<3xf64>) {
        ^bb0(%x: f64, %s: f64):
          %t = arith.addf %s, %x : f64
          linalg.yield %t : f64
      } -> tensor<3xf64>
      return %0 : tensor<3xf64>
    }""")
    a = np.random.default_rng(3).random((3, 5))
    # Not sum(), which compensates for rounding from Python 3.12 on.
    expected = [functools.reduce(operator.add, row, 0.0) for row in a.tolist()]
    assert f(a).tolist() == expected


def test_linalg_on_buffers_that_the_program_frees(run):
    f = run("""func.func @f(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
      %t = memref.alloc() : memref<4x4xf32>
      linalg.add ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%t : memref<4x4xf32>)
      linalg.matmul ins(%a, %t : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
      memref.dealloc %t : memref<4x4xf32>
      return
    }""")
    a, b = np.random.default_rng(4).random((2, 4, 4), F32)
    c = np.zeros((4, 4), F32)
    f(a, b, c)
    np.testing.assert_allclose(c, a @ (a + b), rtol=1e-5)


def test_public_function_called_from_within(compiler):
    exe = compiler.compile("""
    func.func @double(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %a, %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @quadruple(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }""")
    a = np.arange(4, dtype=F32)
    np.testing.assert_array_equal(exe.double(a), 2 * a)
    np.testing.assert_array_equal(exe.quadruple(a), 4 * a)


def test_bfloat16_tensors(run):
    f = run("""func.func @f(%a: tensor<8xbf16>) -> tensor<8xbf16> {
      %0 = arith.mulf %a, %a : tensor<8xbf16>
      return %0 : tensor<8xbf16>
    }""")
    a = np.arange(8).astype(ml_dtypes.bfloat16)
    got = f(a)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, a * a)


# Pipelines of the caller's own

OWN = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries=true},"
    "func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts)"
)


def test_own_pipeline_that_returns_its_tensors(run):
    f = run(
        """func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
          %0 = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>)
                          outs(%b : tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }""",
        pipeline=OWN,
    )
    a = np.arange(4, dtype=F32)
    np.testing.assert_array_equal(f(a, a.copy()), 2 * a)


def test_own_pipeline_with_a_convention_of_its_own():
    bare = OWN.replace(
        "convert-func-to-llvm", "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}"
    )
    exe = twinjit.Compiler(cache=False, pipeline=bare).compile("""
    func.func @f(%a: memref<4xf32>) { return }
    func.func @g(%x: i64) -> i64 { return %x : i64 }""")
    with pytest.raises(SignatureError, match=r"'f' cannot be called .* takes 1 and gives 0"):
        exe.f  # noqa: B018 -- looking it up is the test
    assert exe.g(3) == 3


@pytest.mark.parametrize("text", ["builtin.module(cse", "cse)", "builtin.module(no-such-pass)",
                                  "cse{no-such-option=1}", "no-such-pass"])  # fmt: skip
def test_wrong_pipeline_quotes_mlir(text):
    with pytest.raises(PipelineError) as raised:
        twinjit.Compiler(cache=False, pipeline=text).compile("func.func @f() { return }")
    assert str(raised.value) != ""


def test_pipeline_spelling_does_not_matter(tmp_path):
    text = "func.func @f() { return }"
    spellings = ["convert-func-to-llvm,cse", " builtin.module( convert-func-to-llvm , cse ) "]
    keys = {twinjit.Compiler(cache=False, pipeline=p).explain(text).key.hex for p in spellings}
    assert len(keys) == 1


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_optimisation_levels(run, level):
    f = run(
        "func.func @f(%x: i64) -> i64 { %y = arith.muli %x, %x : i64 return %y : i64 }",
        opt_level=level,
    )
    assert f(9) == 81
