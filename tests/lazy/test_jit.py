"""Functions that are generated and compiled when they are first called."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import threading
import time
import weakref

import llvmlite.ir
import numpy as np
import pytest

import twinjit
from tests.lazy.texts import UNARY, Generator, body
from tests.threads import at_once
from twinjit import Jit
from twinjit._native import _llvm
from twinjit.errors import (
    ConfigError,
    EntryNotFoundError,
    ExecutorError,
    GenerationError,
)


def test_functions_are_generated_when_they_are_called(jit) -> None:
    texts = Generator()
    jit.define("f", "i64(i64)", texts.of("f", "g"))
    jit.define("g", UNARY, texts.of("g", plus=10))
    jit.define("h", "i64(i64)", texts.of("h"))
    assert not texts.asked
    assert [jit.f(1), jit["f"](2)] == [12, 13]
    assert texts.asked == {"f": 1, "g": 1}
    report = jit.report
    assert (report.functions, report.compiled, report.skipped) == (3, 2, 1)
    assert (report.generated, report.generation_skipped) == (2, 1)
    assert "3 functions: 2 compiled, 1 skipped" in str(report)
    assert report.phases["generation"] > 0


@pytest.mark.parametrize(
    ("signature", "kind"),
    [
        ("int64_t (int64_t x)", "i64"),
        ("unsigned char f(unsigned char)", "i8"),
        (ctypes.CFUNCTYPE(ctypes.c_int16, ctypes.c_int16), "i16"),
        ("bool (bool)", "i1"),
        ("double (double)", "double"),
        ("const void *(void *)", "ptr"),
    ],
)
def test_signatures_in_c(jit, signature, kind) -> None:
    jit.define("f", signature, lambda: f"define {kind} @f({kind} %x) {{ ret {kind} %x }}")
    assert jit.f(1) == 1


def test_functions_are_generated_by_llvmlite_and_mlir(jit) -> None:
    def generate():
        module = llvmlite.ir.Module()
        i64 = llvmlite.ir.IntType(64)
        function = llvmlite.ir.Function(module, llvmlite.ir.FunctionType(i64, [i64]), "f")
        builder = llvmlite.ir.IRBuilder(function.append_basic_block())
        builder.ret(builder.mul(function.args[0], i64(3)))
        return module

    jit.define("f", "i64(i64)", generate)
    jit.define(
        "exp",
        "i64(i64)",
        lambda: (
            """
        func.func private @f(i64) -> i64
        func.func @exp(%x: i64) -> i64 { %y = call @f(%x) : (i64) -> i64 return %y : i64 }"""
        ),
    )
    assert jit.exp(14) == 42


def test_a_program_is_added_with_all_its_functions(jit) -> None:
    names = jit.add("""
    func.func @sum(%x: memref<4xf32>) -> f32 {
      %c1 = arith.constant 1 : index
      %y = call @at(%x, %c1) : (memref<4xf32>, index) -> f32
      return %y : f32
    }
    func.func private @at(%x: memref<4xf32>, %i: index) -> f32 {
      %y = memref.load %x[%i] : memref<4xf32>
      return %y : f32
    }""")
    assert names == ["sum"]
    assert jit.sum(np.arange(4, dtype=np.float32)) == 1.0
    jit.define("f", "i64(i64)", lambda: body("f", "g"))
    assert jit.add(body("g", plus=5)) == ["g"]
    assert jit.f(1) == 7
    assert list(jit) == ["sum", "f", "g"]


def test_recursion_goes_through_other_functions(jit) -> None:
    for name, other in (("even", "odd"), ("odd", "even")):
        jit.define(
            name,
            "i64(i64)",
            lambda name=name, other=other: (
                f"""
            declare i64 @{other}(i64)
            define i64 @{name}(i64 %n) {{
              %is_end = icmp eq i64 %n, 0
              br i1 %is_end, label %end, label %go
            go:
              %m = sub i64 %n, 1
              %r = musttail call i64 @{other}(i64 %m)
              ret i64 %r
            end:
              ret i64 {name == "even":d}
            }}"""
            ),
        )
    assert [jit.even(1_000_000), jit.even(7), jit.odd(7)] == [1, 0, 1]


def test_equal_functions_share_code(compiler) -> None:
    jit = Jit(compiler)
    jit.add("\n".join(body(f"f{i}") for i in range(10)))
    jit.define("g", "i64(i64)", lambda: body("g", "f0", 7))
    jit.define("h", "i64(i64)", lambda: body("h", "f5", 7))
    assert [jit[f"f{i}"](i) for i in range(10)] == list(range(1, 11))
    assert [jit.g(1), jit.h(2)] == [9, 10]
    report = jit.report
    assert (report.compiled, report.hits) == (2, {"memory": 10})
    assert compiler.stats()["compiled"] == 2


def program(count: int, edited: int = -1) -> str:
    lines = [body(f"f{i}", plus=i * 1000 + (i == edited)) for i in range(count)]
    return "\n".join(lines)


def test_an_edited_function_is_compiled_alone(tmp_path) -> None:
    def compile_all(text: str) -> twinjit.LazyReport:
        compiler = twinjit.Compiler(cache=tmp_path)
        executable = compiler.compile(text, lazy=True)
        for name in executable:
            executable[name](1)
        return executable.report

    assert compile_all(program(30)).compiled == 30
    report = compile_all(program(30, edited=17))
    assert (report.compiled, report.hits) == (1, {"disk": 29})


def test_a_lazy_executable_compiles_what_is_called(compiler) -> None:
    executable = compiler.compile(program(20), lazy=True)
    assert executable.report.skipped == len(executable) == 20
    assert executable.f3(1) == 3001
    assert UNARY(executable.address("f4"))(1) == 4001
    assert (executable.report.compiled, executable.report.skipped) == (2, 18)
    assert "f7" in executable
    assert "f70" not in executable
    with pytest.raises(EntryNotFoundError, match="no function 'f70'; there are f0, "):
        executable.f70(1)


def test_variables_are_of_one_lazy_executable(compiler) -> None:
    text = """
    @count = internal global i64 0
    define i64 @next() {
      %x = load i64, ptr @count %y = add i64 %x, 1 store i64 %y, ptr @count ret i64 %y }
    define i64 @last() { %x = load i64, ptr @count ret i64 %x }
    """
    first, second = (compiler.compile(text, lazy=True) for _ in range(2))
    assert [first.next(), first.next(), second.next(), first.last()] == [1, 2, 1, 2]


def test_lazy_excludes_what_it_cannot_do(compiler) -> None:
    for option in ({"timeout": 1}, {"tier_up": True}, {"signatures": {"f0": "long (long)"}}):
        with pytest.raises(ConfigError, match="lazy=True takes no timeout, tier_up or signatures"):
            compiler.compile(program(1), lazy=True, **option)


def test_threads_generate_and_compile_nothing_twice(compiler) -> None:
    texts, jit, count = Generator(), Jit(compiler), 60
    for i in range(count):
        callee = f"f{i + 1}" if i + 1 < count else ""
        jit.define(f"f{i}", "i64(i64)", texts.of(f"f{i}", callee, i))

    def work(seed: int) -> None:
        for i in random.Random(seed).sample(range(count), count):
            assert jit[f"f{i}"](5) == 5 + sum(range(i, count))

    at_once(work)
    assert set(texts.asked.values()) == {1}
    assert jit.report.compiled == compiler.stats()["compiled"] == count


def test_addresses_are_there_before_code_and_stay(jit) -> None:
    texts = Generator()
    jit.define("f", "i64(i64)", texts.of("f"))
    address = jit.address("f")
    assert not texts.asked
    assert UNARY(address)(1) == 2
    assert jit.address("f") == jit.f.address == address


def test_symbols_are_callbacks_addresses_and_objects(compiler) -> None:
    class Compiled:
        def __init__(self, address: int) -> None:
            self.address = address

    callback = UNARY(lambda x: x + 100)
    other = Jit(compiler)
    other.define("f", "i64(i64)", lambda: body("f"))
    for given in (callback, other.address("f"), Compiled(other.address("f"))):
        jit = Jit(compiler, symbols={"outside": given})
        jit.define("f", "i64(i64)", lambda: body("f", "outside", 0))
        assert jit.f(1) == (101 if given is callback else 2)
    with pytest.raises(ConfigError, match=r"symbols\['outside'\] is 'x'"):
        Jit(compiler, symbols={"outside": "x"})


def test_what_generates_may_call_other_functions(jit) -> None:
    jit.define("g", "i64(i64)", lambda: body("g"))
    jit.define("f", "i64(i64)", lambda: body("f", plus=jit.g(5)))
    assert jit.f(1) == 7


def test_what_generates_must_not_need_itself(jit) -> None:
    jit.define("g", "i64(i64)", lambda: body("g", plus=jit.f(1)))
    jit.define("f", "i64(i64)", lambda: body("f", plus=jit.g(1)))
    with pytest.raises(GenerationError, match="generating 'f' raised GenerationError"):
        jit.f(1)


def test_threads_that_generate_do_not_wait_for_each_other(jit) -> None:
    both = threading.Barrier(2)

    def generate(name: str, other: str) -> str:
        both.wait()
        return body(name, plus=jit[other](1))

    jit.define("f", "i64(i64)", lambda: generate("f", "g"))
    jit.define("g", "i64(i64)", lambda: generate("g", "f"))
    failures = []

    def work(index: int) -> None:
        try:
            jit["fg"[index]](1)
        except GenerationError as error:
            failures.append(error)

    at_once(work, 2)
    assert failures


# Lifetimes


def test_closed_jits_compile_nothing_more(compiler) -> None:
    with Jit(compiler) as jit:
        jit.add(body("f") + body("g"))
        assert jit.f(1) == 2
    assert jit.f(1) == 2
    with pytest.raises(ExecutorError, match="after its Jit was closed"):
        jit.g(1)
    with pytest.raises(ExecutorError, match="the Jit is closed"):
        jit.define("h", "i64(i64)", lambda: body("h"))


def test_functions_keep_what_they_call(compiler) -> None:
    jit = Jit(compiler)
    jit.add(body("g", plus=10))
    jit.define("f", "i64(i64)", lambda: body("f", "g"))
    function = jit.f
    del jit
    gc.collect()
    assert function(1) == 12


def test_all_goes_with_its_holder(compiler) -> None:
    jit = Jit(compiler)
    jit.add(body("g", plus=10))
    jit.define("f", "i64(i64)", lambda: body("f", "g"))
    assert jit.f(1) == 12
    gone = weakref.ref(jit._session._group)
    del jit
    gc.collect()
    assert gone() is None


def test_what_generates_may_hold_its_jit(compiler) -> None:
    jit = Jit(compiler)
    for name in "fg":
        jit.define(name, "i64(i64)", lambda name=name, jit=jit: body(name, plus=len(jit)))
    assert jit.f(1) == 3
    gone = weakref.ref(jit)
    del jit
    gc.collect()
    assert gone() is None


def test_forked_children_go_on(jit) -> None:
    jit.add(body("g", plus=10))
    jit.define("f", "i64(i64)", lambda: body("f", "g"))
    assert jit.g(1) == 11
    child = os.fork()
    if child == 0:
        os._exit(jit.f(1))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 12
    assert jit.f(1) == 12


def test_speculation_has_callees_ready(compiler) -> None:
    texts = Generator()
    jit = Jit(compiler, speculate=True)
    jit.add("define i64 @start(i64 %x) { ret i64 %x }")
    jit.define(
        "f",
        "i64(i64)",
        lambda: (
            """
        declare i64 @g(i64)
        define i64 @f(i64 %x) {
          %is_zero = icmp eq i64 %x, 0
          br i1 %is_zero, label %end, label %go
        go:
          %r = call i64 @g(i64 %x)
          ret i64 %r
        end:
          ret i64 0
        }"""
        ),
    )
    jit.define("g", "i64(i64)", texts.of("g", "h"))
    jit.define("h", "i64(i64)", texts.of("h"))
    assert jit.f(0) == 0
    deadline = time.monotonic() + 60
    while not jit.g.is_compiled and time.monotonic() < deadline:
        time.sleep(0.001)
    report = jit.report
    assert (report.compiled, report.speculated) == (2, 1)  # f called, g ready
    assert "h" not in texts.asked  # for nobody called g
    assert jit.f(1) == 3
    assert texts.asked == {"g": 1, "h": 1}


def test_speculation_goes_on_after_what_ends_threads(compiler) -> None:
    def leave() -> str:
        raise SystemExit

    jit = Jit(compiler, speculate=True)
    jit.define("left", "i64(i64)", leave)
    jit.define("right", "i64(i64)", lambda: body("right"))
    for name in ("left", "right"):
        jit.add(
            f"declare i64 @{name}(i64) define i64 @calls_{name}(i64 %x, i1 %calls) {{ "
            f"br i1 %calls, label %a, label %b "
            f"a: %r = call i64 @{name}(i64 %x) ret i64 %r b: ret i64 7 }}"
        )
        assert jit[f"calls_{name}"](1, False) == 7
    deadline = time.monotonic() + 60
    while not jit.right.is_compiled and time.monotonic() < deadline:
        time.sleep(0.001)
    assert jit.right.is_compiled


def test_functions_import_from_libraries(compiler, tmp_path) -> None:
    def library(factor: int) -> twinjit.Library:
        text = f"define i64 @from_library(i64 %x) {{ %r = mul i64 %x, {factor} ret i64 %r }}"
        path = tmp_path / f"{factor}.bc"
        path.write_bytes(_llvm.parse_module(text.encode(), "library.ll").bitcode())
        return twinjit.Library.from_bitcode(path)

    text = body("f", "from_library") + body("g", plus=5)
    results = []
    for factor in (3, 4):
        executable = compiler.compile(text, libraries=[library(factor)], lazy=True)
        results += [executable.f(10), executable.g(10)]
    assert results == [31, 15, 41, 15]
    assert (executable.report.compiled, executable.report.hits) == (1, {"memory": 1})
