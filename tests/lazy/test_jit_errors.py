"""What is wrong with functions of a `Jit`, and who is told."""

from __future__ import annotations

import copy
import ctypes
import pickle
import sys

import pytest

import twinjit
from tests.lazy.texts import UNARY, body
from twinjit.errors import (
    ConfigError,
    ExecutorError,
    GenerationError,
    ParseError,
    RedefinitionError,
    SignatureError,
    UnresolvedSymbolError,
    VerificationError,
)


def test_what_generating_raises_is_the_cause_every_time(jit) -> None:
    asked = []

    def generate() -> str:
        asked.append(1)
        raise KeyError("table")

    jit.define("f", "i64(i64)", generate)
    jit.define("g", "i64(i64)", lambda: body("g", "f"))
    for name in "ffgg":
        with pytest.raises(GenerationError, match="generating 'f' raised KeyError") as caught:
            jit[name](1)
        assert isinstance(caught.value.__cause__, KeyError)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define i64 @f(i64 %x) {", "cannot parse"),
        ("define i64 @g(i64 %x) { ret i64 %x }", "defines g, but not it"),
        ("define i32 @f(i32 %x) { ret i32 %x }", r"generated as i32 \(i32\)"),
        ("define fastcc i64 @f(i64 %x) { ret i64 %x }", "generated as cc 8 i64"),
        (5, "cannot take a builtins.int"),
    ],
)
def test_what_is_generated_is_checked(jit, text, message) -> None:
    jit.define("f", "i64(i64)", lambda: text)
    for _ in range(2):
        with pytest.raises(GenerationError, match=message):
            jit.f(1)


def test_functions_that_the_compiler_refuses(jit) -> None:
    jit.define(
        "f",
        "i64()",
        lambda: (
            "@t = thread_local global i64 0 define i64 @f() { %x = load i64, ptr @t ret i64 %x }"
        ),
    )
    for _ in range(2):
        with pytest.raises(twinjit.errors.CompilationError, match="thread-local"):
            jit.f()


def test_unresolved_symbols_are_looked_for_again(jit) -> None:
    jit.define("f", "i64(i64)", lambda: body("f", "nowhere_to_be_found"))
    with pytest.raises(UnresolvedSymbolError, match="nowhere_to_be_found"):
        jit.f(1)
    jit.define("nowhere_to_be_found", "i64(i64)", lambda: body("nowhere_to_be_found"))
    assert jit.f(1) == 3


def test_declarations_must_be_right(jit) -> None:
    jit.define("g", "i32(i64)", lambda: "define i32 @g(i64 %x) { ret i32 0 }")
    jit.define("f", "i64(i64)", lambda: body("f", "g"))
    with pytest.raises(SignatureError, match=r"'f' declares 'g' as i64 \(i64\), but it is i32"):
        jit.f(1)


def test_names_are_defined_once(jit) -> None:
    jit.add(body("f"))
    with pytest.raises(RedefinitionError, match="'f' already"):
        jit.define("f", "i64(i64)", lambda: body("f"))
    with pytest.raises(RedefinitionError, match="'f' already"):
        jit.add(body("g") + body("f"))
    assert list(jit) == ["f"]


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int),)


@pytest.mark.parametrize(
    ("signature", "cure"),
    [
        ("i64", "write it in LLVM's words"),
        ("i64(i65535, nothing)", "write it in LLVM's words"),
        ("void() define void @g(", "write it in LLVM's words"),
        ("void() declare void @g()", "write it in LLVM's words"),
        ("int64_t (struct s)", "or in C's"),
        (5, "give ctypes.CFUNCTYPE"),
        (ctypes.c_int, "give ctypes.CFUNCTYPE"),
        (ctypes.CFUNCTYPE(None, Pair), "structures by pointer"),
    ],
)
def test_signatures_that_cannot_be_read(jit, signature, cure) -> None:
    with pytest.raises(ConfigError, match=f"the signature of 'f' .*{cure}"):
        jit.define("f", signature, lambda: "")


def test_what_is_no_option(jit) -> None:
    with pytest.raises(ConfigError, match="compiler is 'define"):
        twinjit.Jit("define void @f()")
    with pytest.raises(ConfigError, match="speculate is 1; give True or False"):
        twinjit.Jit(speculate=1)
    for name in (3, "", None):
        with pytest.raises(ConfigError, match=f"name is {name!r}; give"):
            jit.define(name, "void()", str)
    with pytest.raises(ConfigError, match=r"'f' is 'define .* a function .* with add"):
        jit.define("f", "void()", "define void @f() { ret void }")
    assert list(jit) == []


def test_they_stay_in_their_process(jit) -> None:
    jit.define("f", "void()", str)
    lazy = twinjit.compile("define void @f() { ret void }", lazy=True, cache=False)
    for each, name in ((jit, "Jit"), (lazy, "LazyExecutable")):
        assert "f" in dir(each)
        for leave in (pickle.dumps, copy.copy):
            with pytest.raises(ExecutorError, match=f"a {name} is code in this process"):
                leave(each)


def test_programs_that_cannot_be_read(jit) -> None:
    with pytest.raises(ParseError):
        jit.add("define i64 @f(")
    with pytest.raises(VerificationError):
        jit.add("define i64 @f() { %x = add i64 %y, 1 %y = add i64 1, 1 ret i64 %x }")


def test_functions_that_python_cannot_call(jit) -> None:
    jit.add("define <4 x i32> @f(<4 x i32> %x) { ret <4 x i32> %x }")
    with pytest.raises(SignatureError, match="'f' cannot be called from Python"):
        jit.f(1)


def test_native_callers_are_told_of_generation(jit, monkeypatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_value))

    def generate() -> str:
        raise KeyError("table")

    jit.define("f", "i64(i64)", generate)
    assert UNARY(jit.address("f"))(5) == 0
    error = twinjit.take_native_error()
    assert isinstance(error, GenerationError)
    assert told == [error]


def test_keyboard_interrupts_are_not_the_functions(jit) -> None:
    asked = []

    def generate() -> str:
        asked.append(1)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return body("f")

    jit.define("f", "i64(i64)", generate)
    jit.define("g", "i64(i64)", lambda: body("g", "f"))
    with pytest.raises(KeyboardInterrupt):
        jit.g(1)
    assert jit.g(1) == 3
