"""LLVM IR compiled, cached, and called."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import twinjit
from tests.llvmir.compiled import outcome_of
from tests.llvmir.modules import DEFAULT, LOOSEST, parse
from twinjit.errors import (
    CompilationError,
    CompilationTimeoutError,
    EntryNotFoundError,
    ParseError,
    SignatureError,
    TargetError,
    UnresolvedSymbolError,
    UnsupportedProgramError,
)
from twinjit.policy import Policy

SCALE = """
define double @scale(double %x, i32 %n) {
  %k = sitofp i32 %n to double
  %y = fmul double %x, %k
  ret double %y
}
"""

HASH = """
@table = internal constant [256 x i32] [$]
define i32 @look(i64 %i) {
  %p = getelementptr [256 x i32], ptr @table, i64 0, i64 %i
  %v = load i32, ptr %p
  ret i32 %v
}
"""
NUMBERS = [", ".join(f"i32 {i * i + start}" for i in range(256)) for start in (0, 7)]
FIRST, SECOND = (HASH.replace("$", numbers) for numbers in NUMBERS)


def compiled(source: str | bytes, **options: object) -> twinjit.Executable:
    return twinjit.Compiler(cache=False, **options).compile(source, language="llvm")  # type: ignore[arg-type]  # by keyword


class TestForms:
    def test_text_bitcode_and_files(self, compiler: twinjit.Compiler, tmp_path: Path) -> None:
        bitcode = parse(SCALE).bitcode()
        (tmp_path / "scale.ll").write_text(SCALE)
        (tmp_path / "scale.bc").write_bytes(bitcode)
        forms = [SCALE, bitcode, str(tmp_path / "scale.ll"), tmp_path / "scale.bc"]
        executables = [compiler.compile(form) for form in forms]
        assert [each.report.tier for each in executables] == ["compiled", *["memory"] * 3]
        assert {each.key.hex for each in executables} == {executables[0].key.hex}
        assert [each.scale(2.5, -4) for each in executables] == [-10] * 4

    def test_key_names_the_language(self) -> None:
        key = compiled(SCALE).key
        assert key.parts[0] == ("llvm", parse(SCALE).fingerprint(DEFAULT.text))
        assert "pipeline" not in dict(key.parts)

    def test_report(self) -> None:
        report = compiled(SCALE).report
        assert report.pipeline == "llvm"
        assert {"parse", "fingerprint", "normalise", "optimise", "codegen"} <= {*report.phases}

    @pytest.mark.usefixtures("hits_unchecked")
    def test_hits_load_no_mlir(self, tmp_path: Path) -> None:
        code = (
            "import sys, twinjit; c = twinjit.Compiler(cache=sys.argv[1])\n"
            "e = c.compile(sys.argv[2]); print(e.report.tier, e.scale(2.0, 4), [*e.report.phases])\n"
            "print('twinjit._native._mlir' in sys.modules)"
        )

        def run() -> str:
            command = [sys.executable, "-c", code, str(tmp_path), SCALE]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        assert run().startswith("compiled 8.0 ['parse'")
        assert run() == "disk 8.0 []\nFalse\n"


class TestCompiler:
    def test_explain_and_would_hit(self, compiler: twinjit.Compiler) -> None:
        assert not compiler.would_hit(SCALE)
        assert compiler.explain(SCALE).tier == "compiled"
        compiler.compile(SCALE)
        assert compiler.would_hit(SCALE)
        explanation = compiler.explain(SCALE.replace("%k", "%factor"))
        assert (explanation.tier, explanation.direct) == ("memory", False)

    def test_confirmed(self, tmp_path: Path) -> None:
        for count in range(2):
            compiler = twinjit.Compiler(cache=tmp_path, confirm="always")
            assert compiler.compile(SCALE).scale(2, 4) == 8
            assert compiler.stats()["confirmed"] == count

    def test_submit_and_map(self, compiler: twinjit.Compiler) -> None:
        assert compiler.submit(SCALE).result().scale(2, 3) == 6
        texts = [SCALE.replace("scale", f"scale{i}") for i in range(6)]
        executables = compiler.map(texts)
        assert [each[f"scale{i}"](1, i) for i, each in enumerate(executables)] == [*range(6)]

    def test_isolated_workers(self) -> None:
        with twinjit.Compiler(cache=False, executor="process") as compiler:
            isolated, here = compiler.compile(SCALE), compiled(SCALE)
        assert (isolated.key, isolated.object_code) == (here.key, here.object_code)
        assert isolated.scale(2, 4) == 8

    def test_executor(self) -> None:
        with ThreadPoolExecutor(1) as pool:
            remote = compiled(SCALE, executor=pool)
        assert remote.object_code == compiled(SCALE).object_code

    def test_cancelled(self) -> None:
        with (
            twinjit.Compiler(cache=False) as compiler,
            pytest.raises(CompilationTimeoutError),
        ):
            compiler.compile(SCALE, timeout=0)


class TestLifted:
    POLICY = Policy(constants="lift", lift_bytes=512)

    @pytest.mark.parametrize("executor", ["thread", "process"])
    def test_one_code_for_all_constants(self, executor: str) -> None:
        options = {"cache": False, "policy": self.POLICY, "executor": executor}
        with twinjit.Compiler(**options) as compiler:
            first, second = compiler.compile(FIRST), compiler.compile(SECOND)
        assert (first.report.tier, second.report.tier) == ("compiled", "memory")
        assert [first.look(i) for i in range(256)] == [i * i for i in range(256)]
        assert [second.look(i) for i in range(256)] == [i * i + 7 for i in range(256)]
        assert first.key == second.key
        assert outcome_of(FIRST, self.POLICY) == outcome_of(SECOND, self.POLICY)

    def test_found_on_disk(self, tmp_path: Path) -> None:
        for source, offset in ((FIRST, 0), (SECOND, 7), (FIRST, 0)):
            compiler = twinjit.Compiler(cache=tmp_path, policy=self.POLICY)
            assert compiler.compile(source).look(100) == 10_000 + offset
        assert compiler.stats()["disk"] == 1

    def test_what_an_alias_names_is_defined(self) -> None:
        text = "@other = internal alias i32, ptr @table\n"
        executable = compiled(text + FIRST.replace("ptr @table", "ptr @other"), policy=self.POLICY)
        assert executable.look(12) == 144
        assert compiled(text + SECOND, policy=self.POLICY).key != executable.key

    def test_alignment_beyond_a_page(self) -> None:
        text = FIRST.replace("]\ndefine", "], align 8192\ndefine")
        with pytest.raises(UnsupportedProgramError, match=r"'table' is aligned .*give 'content'"):
            compiled(text, policy=self.POLICY)


class TestNames:
    def test_of_the_c_library(self) -> None:
        executable = compiled("""
          define double @exp(double %x) {
            %y = call double @llvm.exp.f64(double %x)
            ret double %y
          }
          declare double @llvm.exp.f64(double)""")
        assert executable.exp(0.0) == 1

    def test_that_assembly_has(self) -> None:
        text = """module asm ".global exp"
          define double @exp(double %x) { ret double %x }"""
        with pytest.raises(UnsupportedProgramError, match=r"defines 'exp'.* another one"):
            compiled(text)

    def test_that_are_ours(self) -> None:
        text = """declare double @twinjit.program.exp(double)
          define double @exp(double %x) {
            %y = call double @twinjit.program.exp(double %x)
            ret double %y
          }"""
        with pytest.raises(UnsupportedProgramError, match=r"'twinjit\.program\.exp'"):
            compiled(text)

    def test_struct_types_in_names_of_intrinsics(self) -> None:
        text = """%$ = type { i32 }
          define i32 @f(%$ %s) { ret i32 0 }
          define i32 @g(i32 %x) {
            %p = alloca %$
            %s = load %$, ptr %p
            %t = call %$ @llvm.ssa.copy.s_$s(%$ %s)
            ret i32 %x
          }
          declare %$ @llvm.ssa.copy.s_$s(%$)"""
        assert isinstance(outcome_of(text.replace("$", "pair"), DEFAULT), bytes)

    def test_weak_definitions_are_final(self) -> None:
        text = """
          define $ i32 @two() { ret i32 2 }
          define i32 @three() {
            %x = call i32 @two()
            %y = add i32 %x, 1
            ret i32 %y
          }"""
        for linkage in ("weak", "weak_odr", "linkonce", "linkonce_odr", "internal"):
            executable = compiled(text.replace("$", linkage))
            assert executable.three() == 3
            assert ("two" in executable) == linkage.startswith("weak")

    def test_malloc_may_fail(self) -> None:
        executable = compiled("""
          declare ptr @malloc(i64)
          define ptr @huge() {
            %p = call ptr @malloc(i64 -4096)
            ret ptr %p
          }""", opt_level=0)  # fmt: skip
        assert not executable.huge()


class TestSignatures:
    def test_types(self) -> None:
        types = {"i1": True, "i8": -3, "i16": 300, "i32": -70_000, "i64": 1 << 40, "half": 1.5,
                 "bfloat": 2.5, "float": 0.25, "double": 0.1, "ptr": 4096}  # fmt: skip
        for type_, value in types.items():
            executable = compiled(f"define {type_} @f({type_} %x) {{ ret {type_} %x }}")
            assert executable.f(value) == value
            assert str(executable.signatures["f"]) == f"f(arg0: {type_}) -> {type_}"

    def test_arrays_for_pointers(self) -> None:
        executable = compiled("""
          define void @fill(ptr %p, double %x) {
            store double %x, ptr %p
            ret void
          }""")
        array = np.zeros(1)
        executable.fill(array, 2.5)
        assert array[0] == 2.5

    @pytest.mark.parametrize(
        "text",
        [
            "define i32 @f(i32 %x, ...) { ret i32 %x }",
            "define i128 @f(i128 %x) { ret i128 %x }",
            "define <4 x float> @f(<4 x float> %x) { ret <4 x float> %x }",
            "define {i32, i32} @f() { ret {i32, i32} zeroinitializer }",
            "define i24 @f(i24 %x) { ret i24 %x }",
            "define x86_fp80 @f(x86_fp80 %x) { ret x86_fp80 %x }",
            "define ghccc void @f() { ret void }",
            "define void @f(ptr swifterror %p) { ret void }",
            "define void @f(ptr nest %p) { ret void }",
        ],
    )
    def test_uncallable(self, text: str) -> None:
        executable = compiled(text)
        with pytest.raises(SignatureError, match="'f' cannot be called from Python: "):
            executable.f(1)

    def test_passed_by_value(self) -> None:
        executable = compiled(
            """
          define i64 @f(ptr byval(i64) %p, ptr sret(i64) %q) {
            %x = load i64, ptr %p
            store i64 0, ptr %p
            store i64 %x, ptr %q
            ret i64 %x
          }""".replace("define i64", "define void").replace("ret i64 %x", "ret void")
        )
        given, taken = np.array([5]), np.array([0])
        executable.f(given, taken)
        assert (given[0], taken[0]) == (5, 5)

    @pytest.mark.parametrize("convention", ["fastcc", "coldcc", "tailcc", "preserve_mostcc",
                                            "win64cc", "x86_vectorcallcc", "swiftcc"])  # fmt: skip
    def test_calling_conventions(self, convention: str) -> None:
        arguments = ", ".join(f"i64 %x{i}" for i in range(9))
        executable = compiled(f"""
          define {convention} i64 @f({arguments}, double %y) {{
            %z = fptosi double %y to i64
            %s = sub i64 %x8, %z
            ret i64 %s
          }}""")
        assert executable.f(*range(9), 3.0) == 5
        assert executable.signatures["f"].convention == convention


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "error", "match"),
        [
            ("define i32 @f( {", ParseError, "LLVM IR"),
            ("@x = thread_local global i32 0\ndefine ptr @f() { ret ptr @x }", CompilationError,
             "thread-local"),
            ("@f = ifunc void (), ptr @r\ndefine ptr @r() { ret ptr null }", CompilationError,
             "indirect function"),
            ("@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\ndefine void @f() { ret void }", CompilationError,
             "constructors"),
            ('target triple = "aarch64-linux-gnu"\ndefine void @f() { ret void }', TargetError,
             "the program is for 'aarch64-linux-gnu'.*remove the triple"),
            ('target datalayout = "E"\ndefine void @f() { ret void }', TargetError, "data layout"),
            ('target datalayout = "e-p:32:32"\ndefine void @f() { ret void }', TargetError,
             "data layout"),
            ("declare void @nowhere()\ndefine void @f() { call void @nowhere() ret void }",
             UnresolvedSymbolError, "'nowhere'"),
            ('define void @f() { call void asm "no such thing", ""() ret void }', CompilationError,
             "unexpected token"),
            ('module asm "no such thing"\ndefine void @f() { ret void }', CompilationError,
             "unexpected token"),
        ],
    )  # fmt: skip
    def test_program(self, text: str, error: type[Exception], match: str) -> None:
        with pytest.raises(error, match=match):
            compiled(text)

    def test_nothing_public(self) -> None:
        executable = compiled("define internal void @f() { ret void }")
        with pytest.raises(EntryNotFoundError, match="it has none at all"):
            executable["f"]

    def test_layouts_that_agree(self) -> None:
        for layout in ("e-m:e-i64:64-f80:128-n8:16:32:64-S128", ""):
            text = f'target datalayout = "{layout}"\ntarget triple = "x86_64-pc-linux-gnu"\n'
            assert compiled(text + SCALE).scale(1, 1) == 1


def test_module_outlives_the_compiler() -> None:
    function = compiled(SCALE).scale
    gc.collect()
    assert function(2, 2) == 4


def test_policies_merge_programs() -> None:
    a = "@a = internal global i32 1\n@b = internal global i32 2\n"
    function = "define i32 @f() { %x = load i32, ptr @$ %y = load i32, ptr @# %s = sub i32 %x, %y ret i32 %s }"
    first = a + function.replace("$", "a").replace("#", "b")
    second = ("@q = internal global i32 2\n@p = internal global i32 1\n"
              + function.replace("$", "p").replace("#", "q"))  # fmt: skip
    compiler = twinjit.Compiler(cache=False, policy=LOOSEST)
    assert compiler.compile(first).f() == compiler.compile(second).f() == -1
    assert compiler.stats()["compiled"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "@g = constant [0 x i8] zeroinitializer\ndefine i64 @f(i64 %x) { ret i64 %x }",
        "@g = global {} zeroinitializer\ndefine i64 @f(i64 %x) { ret i64 %x }",
        '@g = constant {} zeroinitializer, section "own"\ndefine i64 @f(i64 %x) { ret i64 %x }',
    ],
)
def test_symbols_without_bytes(compiler, text):
    assert compiler.compile(text).f(3) == 3


def test_a_symbol_and_no_code(compiler):
    assert list(compiler.compile('module asm "twin:"', language="llvm")) == []
