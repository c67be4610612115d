"""Calls of lazy functions with each calling convention, and results of each kind."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.lazy.parts import Parts
from twinjit._native import _llvm
from twinjit.errors import UnsupportedProgramError

I64 = ctypes.c_int64

# Results, and how to make one of a number and a number of one.
_RESULTS = {
    "i256": ("%r = zext i64 %s to i256", "%v = trunc i256 %w to i64"),
    "{i64, i64, i64, i64}": (
        "%r = insertvalue {i64, i64, i64, i64} undef, i64 %s, 3",
        "%v = extractvalue {i64, i64, i64, i64} %w, 3",
    ),
    "[5 x double]": (
        "%f = sitofp i64 %s to double %r = insertvalue [5 x double] undef, double %f, 4",
        "%g = extractvalue [5 x double] %w, 4 %v = fptosi double %g to i64",
    ),
    "<64 x i32>": (
        "%f = trunc i64 %s to i32 %r = insertelement <64 x i32> undef, i32 %f, i32 63",
        "%g = extractelement <64 x i32> %w, i32 63 %v = sext i32 %g to i64",
    ),
    "<2 x i128>": (
        "%f = zext i64 %s to i128 %r = insertelement <2 x i128> undef, i128 %f, i32 1",
        "%g = extractelement <2 x i128> %w, i32 1 %v = trunc i128 %g to i64",
    ),
    "i64": ("%r = add i64 %s, 0", "%v = add i64 %w, 0"),
}
_CONVENTIONS = [
    "ccc",
    "fastcc",
    "tailcc",
    "swiftcc",
    "swifttailcc",
    "coldcc",
    "preserve_mostcc",
    "preserve_allcc",
    "preserve_nonecc",
    "win64cc",
    "x86_64_sysvcc",
    "x86_regcallcc",
]


def program(convention: str, result: str, rest: str = "") -> str:
    """Pass nine numbers and a float, so that some are on the stack, and give one."""
    make, take = _RESULTS[result]
    names = [f"i64 %a{i}" for i in range(9)]
    sums = "\n".join(f"%d{i + 1} = add i64 %d{i}, %a{i + 1}" for i in range(8))
    return f"""
define i64 @outer(i64 %x) {{
  %w = call {convention} {result} ({", ".join(["i64"] * 9)}, double{rest}) @inner(
    {", ".join(f"i64 {i}" for i in range(8))}, i64 %x, double 3.0)
  {take}
  ret i64 %v
}}
define {convention} {result} @inner({", ".join(names)}, double %d{rest}) noinline {{
  %d0 = add i64 %a0, 0
  {sums}
  %e = fptosi double %d to i64
  %s = mul i64 %d8, %e
  {make}
  ret {result} %r
}}
"""


@pytest.mark.parametrize("result", _RESULTS)
@pytest.mark.parametrize("convention", _CONVENTIONS)
def test_arguments_and_results_arrive(convention: str, result: str) -> None:
    if convention == "coldcc" and result == "<64 x i32>":
        pytest.skip("LLVM 22.1.8 itself restores the registers that it gives the result in")
    parts = Parts(program(convention, result))
    call = parts.native("outer", I64, I64)
    assert [call(100), call(200)] == [3 * 128, 3 * 228]
    assert parts.compiled == {"outer": 1, "inner": 1}


@pytest.mark.parametrize("convention", ["x86_vectorcallcc", "ghccc", "anyregcc"])
def test_conventions_that_no_stub_can_have_are_refused(convention: str) -> None:
    parts = Parts(program(convention, "i64"))
    with pytest.raises(UnsupportedProgramError, match="in place of 'inner'"):
        parts.split.extract("outer", [])
    with pytest.raises(UnsupportedProgramError, match="in place of 'inner'"):
        parts.split.public_stub("inner")


def test_variable_arguments_with_a_result_in_memory_are_refused() -> None:
    parts = Parts(program("ccc", "i256", ", ..."))
    with pytest.raises(UnsupportedProgramError, match="variable arguments of 'inner'"):
        parts.split.extract("outer", [])


def test_errors_of_swift_arrive() -> None:
    parts = Parts("""
define i64 @outer(i64 %x) {
  %e = alloca swifterror ptr
  store ptr null, ptr %e
  %r = call swiftcc i64 @inner(i64 %x, ptr swifterror %e)
  %p = load ptr, ptr %e
  %i = ptrtoint ptr %p to i64
  %s = add i64 %r, %i
  ret i64 %s
}
define swiftcc i64 @inner(i64 %x, ptr swifterror %e) {
  store ptr inttoptr (i64 100 to ptr), ptr %e
  ret i64 %x
}
""")
    call = parts.native("outer", I64, I64)
    assert [call(1), call(2)] == [101, 102]


def test_vectors_that_are_passed_in_halves_arrive() -> None:
    if "+avx512f," not in _llvm.host_target()[2] + ",":
        pytest.skip("this machine has no AVX-512")
    parts = Parts("""
define void @outer(ptr %p) #0 {
  %a = load <16 x float>, ptr %p, align 4
  %r = call <16 x float> @inner(<16 x float> %a)
  store <16 x float> %r, ptr %p, align 4
  ret void
}
define <16 x float> @inner(<16 x float> %a) #0 {
  %r = fadd <16 x float> %a, %a
  ret <16 x float> %r
}
attributes #0 = { "min-legal-vector-width"="0" "prefer-vector-width"="256" }
""")
    memory = np.arange(16, dtype=np.float32)
    parts.native("outer", None, ctypes.c_void_p)(memory.ctypes.data)
    assert memory.tolist() == [2.0 * i for i in range(16)]
