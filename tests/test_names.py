"""Programs may call their functions what they like: no name is mixed up with LLVM's or ours."""

from __future__ import annotations

import math

import numpy as np
import pytest

import twinjit
from twinjit.errors import ExecutionError, LoweringError, UnsupportedProgramError


def unary(name, op):
    return f"func.func @{name}(%x: f64) -> f64 {{ %y = math.{op} %x : f64 return %y : f64 }}"


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(
    ("name", "op", "x", "expected"),
    [("exp", "exp", 1.0, math.e), ("cbrt", "cbrt", 8.0, 2.0), ("floor", "floor", 1.5, 1.0),
     ("erf", "erf", 0.0, 0.0), ("round", "round", 2.5, 3.0), ("tan", "tan", 0.0, 0.0)],
)  # fmt: skip
def test_function_named_as_what_it_calls_does_not_call_itself(run, level, name, op, x, expected):
    assert run(unary(name, op), opt_level=level)(x) == pytest.approx(expected)


@pytest.mark.parametrize("visibility", ["", "private "])
def test_own_function_and_library_function_of_one_name(compiler, visibility):
    main = compiler.compile(f"""
    func.func {visibility}@exp(%x: f64) -> f64 {{ return %x : f64 }}
    func.func @main() -> (f64, f64) {{
      %c = arith.constant 1.0 : f64
      %own = call @exp(%c) : (f64) -> f64
      %library = math.exp %c : f64
      return %own, %library : f64, f64
    }}""").main
    assert main() == (1.0, pytest.approx(math.e))


@pytest.mark.parametrize("name", ["malloc", "free", "memcpy", "memset", "aligned_alloc"])
def test_names_of_the_c_librarys_memory_functions(compiler, name):
    exe = compiler.compile(f"""
    func.func @{name}(%x: i64) -> i64 {{ return %x : i64 }}
    func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {{
      %0 = arith.addf %x, %x : tensor<?xf64>
      %1 = bufferization.alloc_tensor() copy(%0) : tensor<?xf64>
      return %1 : tensor<?xf64>
    }}
    func.func @zeros() -> tensor<3000xf64> {{
      %z = arith.constant dense<0.0> : tensor<3000xf64>
      return %z : tensor<3000xf64>
    }}""")
    assert exe[name](7) == 7
    np.testing.assert_array_equal(exe.f(np.ones(9)), np.full(9, 2.0))
    np.testing.assert_array_equal(exe.zeros(), np.zeros(3000))


def test_global_named_as_a_library_function(run):
    f = run("""memref.global "private" constant @malloc : memref<2xi64> = dense<[4, 5]>
    func.func @f(%n: index) -> memref<?xi64> {
      %g = memref.get_global @malloc : memref<2xi64>
      %c = arith.constant 1 : index
      %v = memref.load %g[%c] : memref<2xi64>
      %m = memref.alloc(%n) : memref<?xi64>
      %z = arith.constant 0 : index
      memref.store %v, %m[%z] : memref<?xi64>
      return %m : memref<?xi64>
    }""")
    assert f(1).tolist() == [5]


def test_names_of_our_own(compiler):
    exe = compiler.compile("""
    func.func @f(%x: i64) -> i64 { return %x : i64 }
    func.func @twinjit.call.f(%x: i64) -> i64 { %c = arith.constant 7 : i64 return %c : i64 }
    func.func @exp() -> i64 { %c = arith.constant 9 : i64 return %c : i64 }
    func.func @twinjit.program.exp() -> i64 { %c = arith.constant 8 : i64 return %c : i64 }
    func.func @both() -> (i64, i64) {
      %a = call @exp() : () -> i64
      %b = call @twinjit.program.exp() : () -> i64
      return %a, %b : i64, i64
    }""")
    assert exe.f(3) == 3
    assert exe["twinjit.call.f"](3) == 7
    assert exe["twinjit.program.exp"]() == 8
    assert exe.exp() == 9
    assert exe.both() == (9, 8)


@pytest.mark.parametrize(
    "own",
    ["func.func @twinjit_assertion_failed(%x: i64) -> i64 { return %x : i64 }",
     "llvm.func @twinjit_assertion_failed(%x: !llvm.ptr) { llvm.return }"],
)  # fmt: skip
def test_own_function_named_as_the_runtimes(compiler, own):
    exe = compiler.compile(f'{own}\nfunc.func @f(%x: i1) {{ cf.assert %x, "no" return }}')
    with pytest.raises(ExecutionError, match="no"):
        exe.f(False)


@pytest.mark.parametrize(
    "name", ["a\"b c\té.$", "", "a@b", "\x01exp", "llvm.trap", "llvm.used", "__dso_handle",
             "_GLOBAL_OFFSET_TABLE_"],
)  # fmt: skip
def test_unusual_names(compiler, name):
    spelled = "".join(f"\\{byte:02X}" for byte in name.encode())
    exe = compiler.compile(f'func.func @"{spelled}"(%x: i64) -> i64 {{ return %x : i64 }}')
    assert list(exe) == [name]
    assert exe[name](3) == 3


def test_names_that_cannot_be_expressed(compiler):
    with pytest.raises(LoweringError, match="NUL"):
        compiler.compile('func.func @"a\\00b"() { return }')
    with pytest.raises(UnsupportedProgramError, match="UTF-8"):
        compiler.compile('func.func @"a\\FFb"() { return }')


def test_renaming_leaves_the_program_alone(compiler):
    text = unary("exp", "exp")
    assert list(compiler.compile(text).signatures) == ["exp"]
    again = twinjit.Compiler(cache=compiler.store.root).compile(text)
    assert again.report.tier == "disk"
    assert again.exp(0.0) == 1.0
