"""What code is linked to, and what is found in it."""

from __future__ import annotations

import ctypes

import pytest

from tests.native_helpers import emit_llvm
from twinjit._native import _llvm
from twinjit.errors import UnresolvedSymbolError

CALLS = """
declare i64 @from_outside(i64)
define i64 @twice(i64 %x) {
  %y = call i64 @from_outside(i64 %x)
  %z = add i64 %y, %y
  ret i64 %z
}
"""
UNARY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def test_code_is_linked_to_the_addresses_given() -> None:
    add_one = UNARY(lambda x: x + 1)
    given = {"from_outside": ctypes.cast(add_one, ctypes.c_void_p).value or 0}
    image = _llvm.load(emit_llvm(CALLS, ["twice"]), ["twice"], given=given, exports=["twice"])
    assert UNARY(image.exported("twice"))(20) == 42


def test_addresses_given_come_before_those_of_the_process() -> None:
    negated = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: -x)
    text = (
        "declare double @cos(double) define double @f(double %x) "
        "{ %y = call double @cos(double %x) ret double %y }"
    )
    given = {"cos": ctypes.cast(negated, ctypes.c_void_p).value or 0}
    image = _llvm.load(emit_llvm(text, ["f"]), ["f"], given=given, exports=["f"])
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(image.exported("f"))
    assert call(2.5) == -2.5


def test_what_nobody_has_is_refused() -> None:
    ways = r"'from_outside'; define it .*libraries=.*symbols=.*CDLL"
    with pytest.raises(UnresolvedSymbolError, match=ways):
        _llvm.load(emit_llvm(CALLS, ["twice"]), ["twice"], given={"elsewhere": 1})


def test_only_exports_that_load_was_told_to_find_are_known() -> None:
    image = _llvm.load(emit_llvm("define i64 @one() { ret i64 1 }", []), [])
    assert image.exported("one") == 0
