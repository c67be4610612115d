"""Functions whose calls are counted, and whose code is replaced."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

from tests.native_helpers import build, function
from twinjit._native import _llvm
from twinjit.errors import ArtifactError

CONSTANT = "func.func @f() -> i64 {{ %c = arith.constant {} : i64 return %c : i64 }}"
TABLE = (
    'memref.global "private" constant @table : memref<4xi64> = dense<{}> '
    "func.func @f() -> memref<4xi64> {{ %t = memref.get_global @table : memref<4xi64> "
    "return %t : memref<4xi64> }}"
)


def image_of(text: str) -> _llvm.Image:
    return build.__wrapped__(text)[0]


def test_calls_are_counted_once() -> None:
    f, calls = function(CONSTANT.format(1)), []
    f.count_calls(3, lambda: calls.append(len(calls)))
    assert [(f(), len(calls)) for _ in range(5)] == [(1, 0), (1, 0), (1, 1), (1, 1), (1, 1)]


def test_calls_may_be_counted_anew() -> None:
    f, calls = function(CONSTANT.format(1), fresh=True), []

    def again() -> None:
        calls.append(1)
        f_of().count_calls(2, again)

    f_of = weakref.ref(f)
    f.count_calls(1, again)
    for _ in range(5):
        f()
    assert len(calls) == 3


@pytest.mark.parametrize("calls", [0, -1])
def test_no_calls_cannot_be_counted(calls: int) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        function(CONSTANT.format(1)).count_calls(calls, print)


def test_a_callback_that_raises_fails_no_call(monkeypatch) -> None:
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: raised.append(found.exc_type))
    f = function(CONSTANT.format(1), fresh=True)
    f.count_calls(1, lambda: 1 // 0)
    assert f() == 1
    assert raised == [ZeroDivisionError]


def test_later_calls_run_the_other_code() -> None:
    f = function(CONSTANT.format(1), fresh=True)
    f.replace_code(image_of(CONSTANT.format(2)))
    assert f() == 2


def test_code_may_be_replaced_before_the_call_that_is_counted() -> None:
    f = function(CONSTANT.format(1), fresh=True)
    f_of = weakref.ref(f)
    f.count_calls(2, lambda: f_of().replace_code(image_of(CONSTANT.format(2))))
    assert [f(), f(), f()] == [1, 2, 2]


def test_an_image_without_the_entry_is_refused() -> None:
    f = function(CONSTANT.format(1), fresh=True)
    with pytest.raises(ArtifactError, match="'f' cannot have other code"):
        f.replace_code(image_of("func.func @g() { return }"))
    assert f() == 1


def test_results_of_the_former_code_stay_valid() -> None:
    f = function(TABLE.format([1, 2, 3, 4]), fresh=True)
    before = f()
    f.replace_code(image_of(TABLE.format([5, 6, 7, 8])))
    after = f()
    del f
    gc.collect()
    assert (before.tolist(), after.tolist()) == ([1, 2, 3, 4], [5, 6, 7, 8])


def test_former_code_goes_with_the_function() -> None:
    pages = _llvm.code_memory()[1]
    f = function(CONSTANT.format(1), fresh=True)
    for number in range(10):
        f.replace_code(image_of(CONSTANT.format(number)))
    del f
    gc.collect()
    assert _llvm.code_memory()[1] == pages


def test_threads_call_while_code_is_replaced() -> None:
    f = function(CONSTANT.format(0), fresh=True)
    images = [image_of(CONSTANT.format(number)) for number in range(8)]
    is_over, wrong = threading.Event(), []

    def call() -> None:
        while not is_over.is_set():
            if f() not in range(8):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(2000):
        f.replace_code(images[number % 8])
    is_over.set()
    for thread in threads:
        thread.join()
    assert not wrong
