"""What the module does without a compiler of one's own."""

from __future__ import annotations

import ctypes
from inspect import Parameter, signature

import pytest

import twinjit
from twinjit import Compiler, Library
from twinjit.errors import CompilationTimeoutError, ConfigError, SignatureError

CALLER = """
declare i64 @callee(i64)
define i64 @caller(i64 %x) { %y = call i64 @callee(i64 %x) ret i64 %y }
"""
CALLEE = b"define i64 @callee(i64 %x) { %y = add i64 %x, 1 ret i64 %y }"


def parameters(function: object) -> dict[str, Parameter]:
    return {
        name: each
        for name, each in signature(function).parameters.items()
        if name not in ("self", "options")
    }


@pytest.mark.parametrize("name", ["compile", "explain"])
def test_it_takes_what_the_compiler_takes_for_one_program(name: str) -> None:
    assert parameters(getattr(twinjit, name)) == parameters(getattr(Compiler, name))


@pytest.mark.parametrize("name", ["submit", "map"])
def test_so_does_the_background(name: str) -> None:
    of_one = {"language", "timeout", "signatures", "symbols", "libraries"}
    assert of_one <= set(parameters(getattr(Compiler, name)))


def test_options_reach_the_compiler() -> None:
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 2 * x)
    library = Library.from_bitcode(CALLEE)
    by_symbol = twinjit.compile(CALLER, symbols={"callee": callback}, cache=False)
    by_library = twinjit.compile(CALLER, libraries=[library], cache=False)
    lazy = twinjit.compile(CALLER, libraries=library, lazy=True, cache=False)
    tiered = twinjit.compile(CALLER, libraries=library, tier_up=True, opt_level=2, cache=False)
    assert [each.caller(20) for each in (by_symbol, by_library, lazy, tiered)] == [40, 21, 21, 21]
    assert tiered.promote().result(60).report.imported == 1
    explained = twinjit.explain(CALLER, libraries=[library], cache=False)
    assert "library" in [name for name, _ in explained.key.parts]
    with pytest.raises(SignatureError):
        twinjit.compile(CALLER, libraries=library, signatures={"lost": "void (void)"}, cache=False)
    with pytest.raises(CompilationTimeoutError):
        twinjit.compile(CALLER, timeout=0, libraries=library, cache=False, opt_level=1)


def test_map_takes_libraries() -> None:
    with Compiler(cache=False) as compiler:
        (executable,) = compiler.map([CALLER], libraries=Library.from_bitcode(CALLEE))
    assert executable.caller(1) == 2


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_a_switch_is_true_or_false(given: object) -> None:
    with pytest.raises(ConfigError, match=f"lazy is {given!r}; give True or False"):
        twinjit.compile(CALLER, lazy=given, cache=False)
