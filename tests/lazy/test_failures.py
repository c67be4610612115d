"""Lazy functions that cannot be compiled: who is told, and what goes on."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref

import pytest

from tests.lazy.parts import Parts
from twinjit._native import _llvm
from twinjit.errors import ExecutionError

I64 = ctypes.c_int64
UNARY = ctypes.CFUNCTYPE(I64, I64)

CALLS = """
declare i64 @callback(i64)
define i64 @outer(i64 %x) { %y = call i64 @inner(i64 %x) %z = add i64 %y, 1 ret i64 %z }
define i64 @inner(i64 %x) { %z = mul i64 %x, 2 ret i64 %z }
define i64 @back(i64 %x) { %y = call i64 @callback(i64 %x) %z = add i64 %y, 100 ret i64 %z }
define i64 @enter(i64 %x) { %y = call i64 @back(i64 %x) %z = add i64 %y, 1000 ret i64 %z }
"""


class Refused(Exception):
    pass


@pytest.fixture
def unraisable(monkeypatch) -> list[BaseException]:
    """What `sys.unraisablehook` is told."""
    told: list[BaseException] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_value))
    return told


def test_python_callers_get_the_exception(unraisable) -> None:
    parts = Parts(CALLS)
    outer = parts.function("outer", ["i64"], ["i64"])
    error = parts.failing["inner"] = Refused("not today")
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            outer(1)
        assert caught.value is error
    del parts.failing["inner"]
    assert outer(1) == 3
    assert not unraisable
    assert _llvm.take_native_error() is None


def test_native_callers_get_zero_and_the_thread_the_error(unraisable) -> None:
    parts = Parts(CALLS)
    outer = parts.native("outer", I64, I64)
    error = parts.failing["inner"] = Refused("not today")
    assert outer(1) == 1
    assert unraisable == [error]
    assert _llvm.take_native_error() is error
    assert _llvm.take_native_error() is None
    del parts.failing["inner"]
    assert outer(1) == 3


def test_errors_are_noted_by_thread(unraisable) -> None:
    parts = Parts(CALLS)
    outer = parts.native("outer", I64, I64)
    parts.failing["inner"] = Refused("not today")
    taken: list[object] = []

    def work() -> None:
        outer(1)
        taken.append(_llvm.take_native_error())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert taken == unraisable
    assert _llvm.take_native_error() is None


def test_what_a_thread_leaves_behind_is_dropped(unraisable) -> None:
    parts = Parts(CALLS)
    outer = parts.native("outer", I64, I64)
    error = Refused("not today")
    gone = weakref.ref(error)
    parts.failing["inner"] = error
    del error
    thread = threading.Thread(target=lambda: outer(1))
    thread.start()
    thread.join()
    parts.failing.clear()
    unraisable.clear()
    deadline = time.monotonic() + 60
    while gone() is not None and time.monotonic() < deadline:
        time.sleep(0.001)  # the thread ends, and the interpreter is asked to drop it
    assert gone() is None


def nested(parts_of, unraisable):
    """Python -> native -> lazy -> a callback -> native -> lazy, which fails."""
    seen: list[object] = []

    def callback(x: int) -> int:
        try:
            return seen_by(x)
        except Exception as error:
            seen.append(error)
            return -1

    kept = UNARY(callback)
    parts = Parts(CALLS, {"callback": ctypes.cast(kept, ctypes.c_void_p).value or 0})
    seen_by = parts_of(parts)
    parts.failing["inner"] = Refused("not today")
    enter = parts.function("enter", ["i64"], ["i64"])
    return enter(5), seen


def test_a_failure_ends_only_the_innermost_call_from_python(unraisable) -> None:
    result, seen = nested(lambda parts: parts.function("outer", ["i64"], ["i64"]), unraisable)
    assert result == -1 + 100 + 1000
    assert [type(each) for each in seen] == [Refused]
    assert not unraisable


def test_a_failure_does_not_jump_over_python(unraisable) -> None:
    """The callback calls by ctypes, which has no frame to land in; the outer one is not it."""
    result, seen = nested(lambda parts: parts.native("outer", I64, I64), unraisable)
    assert result == 1 + 100 + 1000
    assert not seen
    assert [type(each) for each in unraisable] == [Refused]
    assert isinstance(_llvm.take_native_error(), Refused)


def test_a_callback_that_raises_leaves_the_frames_right(unraisable) -> None:
    parts = Parts(CALLS)
    outer = parts.function("outer", ["i64"], ["i64"])
    error = parts.failing["inner"] = Refused("not today")
    for _ in range(100):
        with pytest.raises(Refused):
            outer(1)
    assert sys.getrefcount(error) < 10
    with pytest.raises(TypeError):
        outer("x")


def test_assertions_below_stubs_end_the_call() -> None:
    parts = Parts("""
@why = private unnamed_addr constant [5 x i8] c"why?\\00"
declare void @twinjit_assertion_failed(ptr)
define i64 @outer(i64 %x) { %y = call i64 @inner(i64 %x) ret i64 %y }
define i64 @inner(i64 %x) { call void @twinjit_assertion_failed(ptr @why) ret i64 %x }
""")
    outer = parts.function("outer", ["i64"], ["i64"])
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"outer: why\?"):
            outer(1)


def test_small_stacks_have_room_for_python(unraisable) -> None:
    """What is called first runs Python, which runs the compiler, on another stack."""
    parts = Parts(CALLS)
    outer = parts.native("outer", I64, I64)
    results: list[int] = []
    before = threading.stack_size(64 << 10)
    try:
        threads = [threading.Thread(target=lambda i=i: results.append(outer(i))) for i in range(4)]
        for thread in threads:
            thread.start()
    finally:
        threading.stack_size(before)
    for thread in threads:
        thread.join()
    assert sorted(results) == [1, 3, 5, 7]
    assert parts.compiled == {"outer": 1, "inner": 1}


def test_callers_that_hold_the_gil_can_be_first() -> None:
    parts = Parts(CALLS)
    held = ctypes.PYFUNCTYPE(I64, I64)(parts.address("outer"))
    assert held(1) == 3


def test_errno_stays_as_it_was() -> None:
    parts = Parts("""
declare ptr @__errno_location()
define i32 @outer(i32 %x) {
  %p = call ptr @__errno_location()
  store i32 %x, ptr %p
  call void @inner()
  %y = load i32, ptr %p
  ret i32 %y
}
define void @inner() { ret void }
""")
    assert parts.native("outer", ctypes.c_int32, ctypes.c_int32)(42) == 42
