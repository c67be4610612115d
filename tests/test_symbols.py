"""Symbols that programs declare and users give."""

from __future__ import annotations

import ctypes
import gc
import weakref
from types import SimpleNamespace

import pytest

import twinjit
from twinjit.errors import ConfigError, UnresolvedSymbolError
from twinjit.policy import Policy
from twinjit.symbols import NO_SYMBOLS, Symbols

TEXT = """
declare double @given(double)
define double @twice(double %x) {
  %y = call double @given(double %x)
  %z = call double @given(double %y)
  ret double %z
}
"""
MLIR = """
func.func private @given(f64) -> f64
func.func @twice(%x: f64) -> f64 {
  %y = func.call @given(%x) : (f64) -> f64
  %z = func.call @given(%y) : (f64) -> f64
  return %z : f64
}
"""
UNARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


@pytest.fixture
def compiler(tmp_path):
    return twinjit.Compiler(cache=tmp_path / "store")


@pytest.mark.parametrize("program", [TEXT, MLIR], ids=["llvm", "mlir"])
class TestCode:
    def test_callback(self, compiler, program):
        executable = compiler.compile(program, symbols={"given": UNARY(lambda x: x + 3)})
        gc.collect()
        assert executable.twice(1.0) == 7

    def test_address_and_object_with_one(self, compiler, program):
        callback = UNARY(lambda x: -x)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        for given in (address, SimpleNamespace(address=address)):
            assert compiler.compile(program, symbols={"given": given}).twice(2.0) == 2

    def test_native_function(self, compiler, program):
        libm = ctypes.CDLL("libm.so.6")
        assert compiler.compile(program, symbols={"given": libm.sqrt}).twice(16.0) == 2

    def test_function_of_another_program(self, compiler, program):
        other = compiler.compile("define double @f(double %x) {\n ret double 4.5\n}")
        executable = compiler.compile(program, symbols={"given": other.ctypes("f")})
        del other
        compiler.clear_memory()
        gc.collect()
        assert executable.twice(0.0) == 4.5

    def test_key_and_sharing(self, compiler, program):
        one, two = UNARY(lambda x: x + 1), UNARY(lambda x: x * 3)
        first = compiler.compile(program, symbols={"given": one})
        second = compiler.compile(program, symbols={"given": two})
        again = compiler.compile(program, symbols={"given": one})
        assert [each.report.tier for each in (first, second, again)] == [
            "compiled", "memory", "memory"]  # fmt: skip
        assert first.key == second.key
        assert (first == again, first == second) == (True, False)
        assert [each.twice(2.0) for each in (first, second, again)] == [4, 18, 4]

    def test_disk(self, tmp_path, program):
        for tier in ("compiled", "disk"):
            compiler = twinjit.Compiler(cache=tmp_path)
            executable = compiler.compile(program, symbols={"given": UNARY(lambda x: x + 1)})
            assert (executable.report.tier, executable.twice(1.0)) == (tier, 3)

    def test_missing(self, compiler, program):
        with pytest.raises(UnresolvedSymbolError, match="'given'"):
            compiler.compile(program)
        compiler.compile(program, symbols={"given": UNARY(abs)})
        with pytest.raises(UnresolvedSymbolError, match="'given'"):
            compiler.compile(program)

    def test_lives_as_long_as_a_function(self, compiler, program):
        callback = UNARY(lambda x: x + 1)
        lives = weakref.ref(callback)
        function = compiler.compile(program, symbols={"given": callback}).twice
        del callback
        compiler.clear_memory()
        gc.collect()
        assert (function(1.0), lives() is None) == (3, False)
        del function
        gc.collect()
        assert lives() is None

    def test_submit_and_map(self, compiler, program):
        one, two = UNARY(lambda x: x + 1), UNARY(lambda x: x + 2)
        futures = [compiler.submit(program, symbols={"given": each}) for each in (one, two, one)]
        assert [each.result().twice(0.0) for each in futures] == [2, 4, 2]
        texts = [program, program.replace("twice", "double")]
        first, second = compiler.map(texts, symbols={"given": one})
        assert first.twice(0.0) == second["double"](0.0) == 2
        compiler.close()

    def test_isolated_workers(self, program):
        with twinjit.Compiler(cache=False, executor="process") as compiler:
            executable = compiler.compile(program, symbols={"given": UNARY(lambda x: x + 1)})
        assert executable.twice(0.0) == 2

    def test_tiers(self, compiler, program):
        given = {"given": UNARY(lambda x: x + 1)}
        executable = compiler.compile(program, symbols=given, tier_up=twinjit.TierUp(calls=1))
        function = executable.twice
        assert function(0.0) == 2
        executable.promote().result()
        assert function(0.0) == 2
        compiler.close()


def test_with_lifted_constants():
    text = "@t = private constant [64 x i64] [$]\n" + TEXT.replace(
        "ret double %z", "%p = getelementptr i64, ptr @t, i64 %i\n  %v = load i64, ptr %p\n"
        "  %w = sitofp i64 %v to double\n  %s = fadd double %w, %z\n  ret double %s"
    ).replace("(double %x) {", "(double %x, i64 %i) {")  # fmt: skip
    compiler = twinjit.Compiler(cache=False, policy=Policy(constants="lift", lift_bytes=64))
    calls = [UNARY(lambda x: x + 1), UNARY(lambda x: x + 2)]
    found = [
        compiler.compile(
            text.replace("$", ", ".join(f"i64 {i + start}" for i in range(64))),
            symbols={"given": call},
        ).twice(0.0, 10)
        for start in (0, 100)
        for call in calls
    ]
    assert found == [12, 14, 112, 114]
    assert compiler.stats()["compiled"] == 1


class TestOption:
    @pytest.mark.parametrize(
        ("given", "match"),
        [
            ({"\udcff": 5}, "give one that programs declare"),
            ({"f": "text"}, r"symbols\['f'\] is 'text'.*a ctypes function, an address"),
            ({"f": True}, "is True"),
            ({"f": 0}, "is 0"),
            ({"f": -1}, "is -1"),
            ({"f": 1 << 64}, "is 18446744073709551616"),
            ({"": 1}, "the name ''"),
            ({1: 1}, "the name 1"),
            ({"twinjit.call.f": 1}, r"'twinjit\.call\.f'"),
            ([("f", 1)], "give a mapping"),
        ],
    )
    def test_refused(self, compiler, given, match):
        with pytest.raises(ConfigError, match=match):
            compiler.compile(TEXT, symbols=given)

    def test_functions_for_python(self, compiler):
        function = compiler.compile("define double @f(double %x) {\n ret double %x\n}").f
        with pytest.raises(ConfigError, match=r"exe\.ctypes\(name\)"):
            compiler.compile(TEXT, symbols={"given": function})

    def test_equality(self):
        callback = UNARY(abs)
        assert Symbols.of({}) is Symbols.of(None) is NO_SYMBOLS
        assert Symbols.of({"a": 1, "b": 2}) == Symbols.of({"b": 2, "a": 1})
        assert Symbols.of({"a": 1}) != Symbols.of({"a": 2})
        assert Symbols.of({"a": 1}) != Symbols.of({"b": 1})
        assert Symbols.of({"a": callback}) == Symbols.of({"a": callback})
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert Symbols.of({"a": callback}) != Symbols.of({"a": address}), "does not keep it"
