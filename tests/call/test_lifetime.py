"""The Function type: its attributes, its construction, its life, and many threads in it."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

from tests.native_helpers import build, copies, function, value
from tests.threads import failures_at_once
from twinjit._native import _llvm
from twinjit.errors import ArgumentTypeError, ArtifactError, ExecutionError

F32 = np.float32
ADD = """func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}"""


def test_attributes():
    f = function(ADD)
    image, _, _ = build(ADD)
    assert f.__name__ == "f"
    assert f.signature == "f(arg0: i32, arg1: i32) -> i32"
    assert repr(f) == "<twinjit function f(arg0: i32, arg1: i32) -> i32>"
    assert f.address == image.address("f")
    slots = (ctypes.c_uint64 * 3)(3, 4)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(f.address)(ctypes.addressof(slots))
    assert slots[2] == 7
    with pytest.raises(AttributeError):
        f.signature = "other"
    with pytest.raises(TypeError):
        _llvm.Function.other = 1
    assert callable(f)
    assert {f: 1}[f] == 1


def test_signature_texts():
    nothing = function("func.func @f() { return }")
    assert nothing.signature == "f() -> None"
    assert nothing() is None
    several = function("""func.func @f(%a: memref<?xf32, strided<[?], offset: 2>>) -> (i1, f64) {
      %t = arith.constant true
      %x = arith.constant 0.5 : f64
      return %t, %x : i1, f64
    }""")
    assert several.signature == ("f(arg0: memref<?xf32, strided<[?], offset: 2>>) -> (i1, f64)")


def test_calls_of_every_form():
    f = function(ADD)
    assert f.__call__(1, 2) == 3
    assert f(*(1, 2)) == 3
    assert list(map(f, [1, 2], [3, 4])) == [4, 6]


GOOD = value("scalar", "i32")


@pytest.mark.parametrize(
    ("arguments", "results", "slots", "words"),
    [
        ([GOOD, GOOD], [GOOD], (2, 2), "takes 2 and gives 2 slots"),
        ([GOOD], [GOOD], (2, 1), "means 1 and 1"),
        ([value("memref", "f32", 2), GOOD], [GOOD], (2, 1), "means 6 and 1"),
        ([{**GOOD, "dtype": "i65"}, GOOD], [GOOD], (2, 1), "unknown dtype 'i65'"),
        ([{**GOOD, "dtype": "i0"}, GOOD], [GOOD], (2, 1), "unknown dtype"),
        ([{**GOOD, "dtype": "f8"}, GOOD], [GOOD], (2, 1), "unknown dtype"),
        ([{**GOOD, "dtype": "i"}, GOOD], [GOOD], (2, 1), "unknown dtype"),
        ([{**GOOD, "dtype": ""}, GOOD], [GOOD], (2, 1), "unknown dtype"),
        ([{**GOOD, "kind": "unsupported"}, GOOD], [GOOD], (2, 1), "cannot be called"),
        ([value("memref", "i7", 2), GOOD], [GOOD], (6, 1), "no place in an array"),
        ([value("memref", "i8", *[1] * 9), GOOD], [GOOD], (2, 1), "8 dimensions"),
        ([{**value("memref", "i8", 2), "strides": [1, 2]}], [], (2, 1), "as many strides"),
        ([{**value("tensor", "i8", 2), "strides": [1]}], [], (2, 1), "no layout"),
        ([{**value("memref", "i8", 2), "offset": 3}], [], (2, 1), "needs strides"),
        ([{"kind": "scalar"}, GOOD], [GOOD], (2, 1), "malformed"),
        ([{**GOOD, "text": 3}, GOOD], [GOOD], (2, 1), "cannot be called"),
        (3, [GOOD], (2, 1), "malformed"),
        ([GOOD, GOOD], [GOOD], None, "malformed"),
        ([GOOD, GOOD], [GOOD], (-1, 2), "cannot be called"),
    ],
)
def test_construction_checks(arguments, results, slots, words):
    image, _, _ = build(ADD)
    with pytest.raises(ArtifactError, match=words) as raised:
        _llvm.Function(image, "f", arguments, results, slots)
    assert "the function 'f' cannot be called" in str(raised.value)


def test_construction_of_unknown_entries():
    image, _, _ = build(ADD)
    with pytest.raises(ArtifactError, match="no entry of that name"):
        _llvm.Function(image, "g", [GOOD, GOOD], [GOOD], (2, 1))
    with pytest.raises(TypeError, match="must be an Image, not int"):
        _llvm.Function(3, "f", [GOOD, GOOD], [GOOD], (2, 1))
    with pytest.raises(TypeError):
        _llvm.Function()


def test_function_keeps_the_image_and_no_more():
    f = function(ADD, fresh=True)
    gone = weakref.ref(f)
    gc.collect()
    assert f(1, 2) == 3
    del f
    assert gone() is None


@pytest.mark.parametrize(
    "text",
    [
        ADD,
        copies("memref<4xf32>", "memref<4xf32>", "f32", 1),
        copies("memref<?xf32, strided<[?]>>", "memref<4xf32>", "f32", 1),
    ],
)
def test_references_are_balanced(text):
    f = function(text)
    whole = np.zeros(8, F32)
    arguments = {ADD: (100_000, 200_000)}.get(text, (whole[:4], np.zeros(4, F32)))
    wrong = (object(), np.zeros(3), whole[::2], b"abc")
    watched = [f, *arguments, *wrong, type(f)]
    before = [sys.getrefcount(each) for each in watched]

    def call():
        f(*arguments)
        for each in wrong:
            with pytest.raises((TypeError, ValueError)):
                f(each, each)
            with pytest.raises(ArgumentTypeError):
                f(*arguments, other=each)

    for _ in range(1000):
        call()
    assert [sys.getrefcount(each) for each in watched] == before


FAIL = """
llvm.func @twinjit_assertion_failed(!llvm.ptr)
llvm.mlir.global internal constant @why("x must not be negative: \\C3\\A9 \\FF\\00")
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %bad = arith.cmpi slt, %x, %c0 : i32
  cf.cond_br %bad, ^stop, ^go
^stop:
  %p = llvm.mlir.addressof @why : !llvm.ptr
  llvm.call @twinjit_assertion_failed(%p) : (!llvm.ptr) -> ()
  llvm.unreachable
^go:
  return %x : i32
}"""


def test_failing_code_raises():
    f = function(FAIL)
    for _ in range(1000):
        assert f(5) == 5
        with pytest.raises(ExecutionError, match="f: x must not be negative: é \ufffd"):
            f(-1)


def test_threads_share_a_function():
    size = 2000
    vector = [value("tensor", "f32", size)]
    f = function(
        copies(f"memref<{size}xf32>", f"memref<{size}xf32>", "f32", 1),
        arguments=vector,
        results=vector,
    )
    fails = function(FAIL)

    def work(i):
        source = np.full(size, i, F32)
        strided = np.full((size, 2), i + 8, F32)[:, 0]
        for call in range(300):
            assert (f(source) == i).all()
            assert (f(strided) == i + 8).all()
            if call % 10 == i:
                with pytest.raises(ExecutionError):
                    fails(-1 - i)
            assert fails(i) == i

    assert failures_at_once(work, 8) == []


SPIN = """func.func @f(%n: index, %m: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %m[%c0] : memref<1xi64>
    %w = arith.constant 1 : i64
    %s = arith.addi %v, %w : i64
    %t = arith.shli %s, %w : i64
    %u = arith.xori %t, %s : i64
    memref.store %u, %m[%c0] : memref<1xi64>
  }
  return
}"""


def test_other_threads_run_meanwhile():
    f = function(SPIN)
    thread = threading.Thread(target=f, args=(50_000_000, np.zeros(1, np.int64)))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    assert turns > 1000


def test_functions_are_dropped_while_others_run():
    def work(_):
        for _ in range(10):
            f = function(SPIN, fresh=True)
            thread = threading.Thread(target=f, args=(1_000_000, np.zeros(1, np.int64)))
            thread.start()
            del f
            gc.collect(0)
            thread.join()

    assert failures_at_once(work, 8) == []


def test_dropping_the_last_reference_during_the_call():
    """The call itself holds the code: compiled code drops every other reference to it."""
    text = """
    llvm.func @f(%callback: !llvm.ptr) -> i32 {
      llvm.call %callback() : !llvm.ptr, () -> ()
      %r = llvm.mlir.constant(42 : i32) : i32
      llvm.return %r : i32
    }"""
    holder = [function(text, fresh=True)]
    gone = weakref.ref(holder[0])
    seen = []

    @ctypes.CFUNCTYPE(None)
    def callback():
        holder.clear()
        gc.collect()
        seen.append(gone() is not None)

    assert holder[0](callback) == 42
    assert seen == [True]
    assert gone() is None


def test_reentrance():
    text = """
    llvm.func @f(%callback: !llvm.ptr, %n: i32) -> i32 {
      llvm.call %callback(%n) : !llvm.ptr, (i32) -> ()
      llvm.return %n : i32
    }"""
    f, fails = function(text), function(FAIL)
    depths = []

    @ctypes.CFUNCTYPE(None, ctypes.c_int32)
    def callback(n):
        depths.append(n)
        with pytest.raises(ExecutionError):
            fails(-1)
        if n:
            assert f(callback, n - 1) == n - 1

    assert f(callback, 20) == 20
    assert depths == list(range(20, -1, -1))


def run_python(script):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_numpy_is_imported_by_the_first_call_that_needs_it():
    assert run_python("""
        import sys
        from tests.native_helpers import function, value
        loaded = lambda: [name for name in ("numpy", "ml_dtypes") if name in sys.modules]
        f = function("func.func @f(%x: i32) -> i32 { return %x : i32 }")
        g = function('''func.func @f(%s: bf16, %x: memref<1xbf16>) {
          %c0 = arith.constant 0 : index
          memref.store %s, %x[%c0] : memref<1xbf16>
          return
        }''', arguments=[value("scalar", "bf16")], results=[value("tensor", "bf16", 1)])
        f(3), f(True)
        print(*loaded())
        print(g(1.5)[0], *loaded())
    """) == ["1.5", "numpy", "ml_dtypes"]


def test_no_leak_is_reported_at_exit():
    assert run_python("""
        import builtins, functools
        from tests.native_helpers import function
        f = builtins.kept = function("func.func @f(%x: i32) -> i32 { return %x : i32 }")
        print(f(3))
    """) == ["3"]
