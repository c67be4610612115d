"""Bad input gives one clear exception from our own tree, nothing on stderr, and no partial file."""

from __future__ import annotations

import os
from pathlib import Path

import mlir.ir
import pytest

import twinjit
from twinjit import errors

GOOD = "func.func @f(%x: i64) -> i64 { return %x : i64 }"


pytestmark = pytest.mark.usefixtures("silence")


def files(folder):
    """List all files but the one that turns are taken on, which is no part of any entry."""
    found = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
    return [path for path in found if os.path.basename(path) != "locks"]


@pytest.fixture
def refuse(compiler):
    """Compile a program that must fail; return the exception."""

    def check(text, exception, match, **options):
        chosen = compiler
        if options:
            chosen = twinjit.Compiler(cache=compiler.store.root, **options)
        before = files(compiler.store.root)
        with pytest.raises(exception, match=match) as raised:
            chosen.compile(text)
        assert isinstance(raised.value, errors.TwinjitError)
        assert files(compiler.store.root) == before
        assert chosen.compile(GOOD).f(3) == 3  # the compiler is none the worse
        return raised.value

    return check


def test_unparsable(refuse):
    error = refuse("func.func @f(%x: i64) {\n  oops\n}", errors.ParseError, "cannot parse <text>")
    (diagnostic,) = error.diagnostics
    assert (diagnostic.severity, diagnostic.file, diagnostic.line) == ("error", "<text>", 2)
    assert diagnostic.excerpt == "  oops\n  ^"
    assert str(error).endswith("\n      oops\n      ^")


def test_long_lines_are_quoted_around_the_place(refuse):
    text = "func.func @f() {" + " " * 500 + "oops" + " " * 500 + "}"
    error = refuse(text, errors.ParseError, "cannot parse")
    line, caret = error.diagnostics[0].excerpt.split("\n")
    assert len(line) <= 100
    assert line[caret.index("^") :].startswith("oops")


def test_unparsable_file_is_named(refuse, tmp_path):
    path = tmp_path / "broken.mlir"
    path.write_text("module {")
    error = refuse(path, errors.ParseError, "broken.mlir")
    assert error.diagnostics[0].file == str(path)


def test_a_path_need_not_be_text(compiler, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.mlir")
    with open(path, "w") as file:
        file.write(GOOD)
    assert compiler.compile(os.fsdecode(path)).f(3) == 3
    with open(path, "w") as file:
        file.write("module {")
    with pytest.raises(errors.ParseError, match="caf\ufffd"):
        compiler.compile(Path(os.fsdecode(path)))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"ML\xefR", b"ML\xefR\x06garbage"])
def test_damaged_bytecode(refuse, data):
    refuse(data, errors.ParseError, "cannot parse")


def test_empty_text_is_an_empty_program(compiler):
    assert list(compiler.compile("")) == []


def test_missing_file(compiler):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.mlir"):
        compiler.compile("nowhere.mlir")


def test_invalid_module(refuse):
    error = refuse(
        '"func.func"() <{function_type = (i64) -> i64, sym_name = "f"}> ({\n'
        '^bb0(%x: i32):\n  "func.return"(%x) : (i32) -> ()\n}) : () -> ()',
        errors.VerificationError,
        "not valid",
    )
    assert error.diagnostics


def test_unknown_dialect(refuse):
    refuse("func.func @f() { foo.bar }", errors.ParseError, "foo")
    refuse('"foo.bar"() : () -> ()', errors.ParseError, "unregistered dialect")


def test_dialect_without_a_pipeline(refuse):
    refuse("gpu.module @m {}", errors.PipelineError, "gpu")


def test_unknown_pipeline():
    with pytest.raises(errors.PipelineError, match="no-such-pass"):
        twinjit.Compiler(cache=False, pipeline="no-such-pass").compile(GOOD)


def test_misspelled_pipeline_lists_the_names():
    with pytest.raises(errors.PipelineError, match="auto, llvm, std, linalg, linalg-buffers"):
        twinjit.Compiler(cache=False, pipeline="linag").compile(GOOD)


def test_operations_that_do_not_lower_are_named(compiler):
    partial = twinjit.Compiler(cache=False, pipeline="convert-arith-to-llvm")
    with pytest.raises(errors.LoweringError) as raised:
        partial.compile(
            "func.func @f(%x: i64) -> i64 {\n %y = arith.addi %x, %x : i64\n return %y : i64 }"
        )
    named = str(raised.value)
    assert "'func.func'" in named
    assert "'func.return'" in named
    assert "in @f" in named


def test_operation_of_another_level_is_named(compiler):
    standard = twinjit.Compiler(cache=False, pipeline="std")
    with pytest.raises(errors.LoweringError, match=r"'linalg\.fill' was not lowered"):
        standard.compile("""func.func @f(%m: memref<4xf32>, %x: f32) {
          linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
          return
        }""")


def test_untranslatable_operation_is_named(refuse):
    refuse(
        'func.func @f(%x: i1) { %0 = "llvm.intr.foo"(%x) : (i1) -> i1 return }',
        errors.CompilationError,
        r"llvm\.intr\.foo",
    )


def test_missing_entry(compiler):
    exe = compiler.compile(GOOD)
    with pytest.raises(errors.EntryNotFoundError, match="no public function 'g'; it has f"):
        exe.g  # noqa: B018 -- looking it up is the test
    with pytest.raises(KeyError):
        exe["g"]
    with pytest.raises(AttributeError):
        exe.g  # noqa: B018 -- looking it up is the test
    assert not hasattr(exe, "g")


def test_unresolved_symbols_are_named(refuse):
    refuse(
        "func.func private @no_such_thing(i64) -> i64\nfunc.func private @nor_this()\n"
        "func.func @f(%x: i64) -> i64 {\n  call @nor_this() : () -> ()\n"
        "  %y = call @no_such_thing(%x) : (i64) -> i64\n  return %y : i64\n}",
        errors.UnresolvedSymbolError,
        "'no_such_thing', 'nor_this'",
    )


def test_uncallable_signature_says_why(compiler):
    exe = compiler.compile(
        "func.func @v(%x: vector<4xf32>) -> vector<4xf32> { return %x : vector<4xf32> }\n" + GOOD
    )
    with pytest.raises(errors.SignatureError, match="argument 0 has type vector<4xf32>"):
        exe.v  # noqa: B018 -- looking it up is the test
    assert exe.f(2) == 2


def test_program_for_another_machine(refuse):
    refuse(
        'module attributes {llvm.target_triple = "aarch64-unknown-linux-gnu"} {\n'
        "llvm.func @f() { llvm.return }\n}",
        errors.TargetError,
        "aarch64",
    )


HOST = twinjit.Target.host()


@pytest.mark.parametrize(
    ("triple", "cpu", "features"),
    [
        ("sparc-unknown-none", "", ""),
        ("", "", ""),
        (HOST.triple, "no-such-cpu", ""),
        (HOST.triple, "", "+no-such-feature"),
        ("x86_64-pc-windows-msvc", "x86-64", ""),
        ("i686-unknown-linux-gnu", "i686", ""),
        ("aarch64-unknown-linux-gnu", "", ""),
        (HOST.triple, "x86-64", "+fma4"),  # of AMD's CPUs of 2011 to 2017
        (HOST.triple, "bdver4", ""),
    ],
)
def test_target_that_cannot_run_here(triple, cpu, features):
    target = twinjit.Target(triple, cpu, features)
    with pytest.raises(errors.TargetError, match="cannot run here"):
        twinjit.Compiler(cache=False, target=target)


def test_lesser_targets_run_here():
    for cpu, features in (("x86-64", ""), ("x86-64-v2", ""), ("x86-64", "+slow-shld")):
        compiler = twinjit.Compiler(cache=False, target=twinjit.Target(HOST.triple, cpu, features))
        assert compiler.compile(GOOD).f(4) == 4


def test_native_is_no_cpu():
    with pytest.raises(errors.TargetError, match="native"):
        twinjit.Target("x86_64-unknown-linux-gnu", "native", "")


@pytest.mark.parametrize("level", [-1, 4, None, "3", 2.0, True])
def test_optimisation_level_out_of_range(level):
    with pytest.raises(ValueError, match="opt_level"):
        twinjit.Compiler(opt_level=level)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("pipeline", None),
        ("pipeline", b"cse"),
        ("opt_level", "O2"),
        ("target", "x86"),
        ("policy", "rename"),
        ("confirm", True),
        ("cache", 5),
        ("shared", "localhost"),
        ("shared", 5),
        ("executor", "dask"),
        ("executor", 5),
        ("trace", 5),
        ("max_workers", "4"),
        ("settings", 3),
    ],
)
def test_option_of_another_type(option, value):
    """The message names what was written, and what to write."""
    with pytest.raises(errors.ConfigError, match=f"^{option} is .*; give "):
        twinjit.Compiler(**{option: value})


@pytest.mark.parametrize("cache", ["", 1, b"cache"])
def test_cache_that_is_no_directory(cache):
    with pytest.raises(errors.ConfigError, match="cache is"):
        twinjit.Compiler(cache=cache)


@pytest.mark.parametrize(
    "attributes",
    ['target_cpu = "no-such-cpu"', 'target_features = #llvm.target_features<["+no-such-feature"]>'],
)
def test_unknown_target_of_a_function(refuse, attributes):
    refuse(
        f"llvm.func @f() attributes {{{attributes}}} {{ llvm.return }}",
        errors.TargetError,
        "no-such",
    )


def test_intrinsic_that_llvm_refuses(refuse):
    refuse(
        'llvm.func @f(%x: f32) -> f32 {\n  %0 = llvm.call_intrinsic "llvm.ctpop.i32"(%x)'
        " : (f32) -> f32\n  llvm.return %0 : f32\n}",
        errors.CompilationError,
        "(?i)intrinsic",
    )


def test_broken_inline_assembly_lists_errors_alone(refuse):
    error = refuse(
        'llvm.func @f() {\n  llvm.inline_asm has_side_effects "no_such_instruction", ""'
        " : () -> ()\n  llvm.return\n}",
        errors.CompilationError,
        "LLVM refused",
    )
    assert {each.severity for each in error.diagnostics} == {"error"}


def test_function_without_instructions(compiler):
    exe = compiler.compile("llvm.func @f() { llvm.unreachable }\n" + GOOD.replace("@f", "@g"))
    assert exe.g(1) == 1


def test_out_of_memory_stops_the_call(compiler):
    exe = compiler.compile("""func.func @f(%n: index) -> memref<?xi64> {
      %m = memref.alloc(%n) : memref<?xi64>
      return %m : memref<?xi64>
    }""")
    with pytest.raises(errors.ExecutionError, match="out of memory"):
        exe.f(1 << 58)
    assert exe.f(2).shape == (2,)


def test_operation_with_operands_from_outside(compiler):
    with mlir.ir.Context():
        module = mlir.ir.Module.parse(
            "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}"
        )
    (function,) = module.body.operations
    addition, _ = function.regions[0].blocks[0].operations
    with pytest.raises(errors.UnsupportedProgramError, match="from outside"):
        compiler.compile(addition)


def test_atomic_bits_are_refused(refuse):
    refuse(
        "func.func @f(%m: memref<4xi1>, %i: index, %v: i1) -> i1 {\n"
        "  %r = memref.atomic_rmw ori %v, %m[%i] : (i1, memref<4xi1>) -> i1\n  return %r : i1\n}",
        errors.PipelineError,
        "i1 elements",
    )


# The cache


def artifact_files(compiler):
    return [path for path in files(compiler.store.root) if "objects" in path]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty"])
def test_damaged_artifact_is_recompiled_and_replaced(compiler, damage):
    compiler.compile(GOOD)
    (path,) = artifact_files(compiler)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    with open(path, "wb") as file:
        file.write(
            data if damage == "flip" else data[: len(data) // 2 if damage == "truncate" else 0]
        )
    again = twinjit.Compiler(cache=compiler.store.root)
    with pytest.warns(errors.CacheWarning):
        assert again.compile(GOOD).report.tier == "compiled"
    assert twinjit.Compiler(cache=compiler.store.root).compile(GOOD).report.tier == "disk"


def test_unusable_cache_directory_warns_and_work_goes_on(tmp_path):
    place = tmp_path / "file"
    place.write_text("not a directory")
    compiler = twinjit.Compiler(cache=place)
    with pytest.warns(errors.CacheWarning):
        exe = compiler.compile(GOOD)
    assert exe.f(5) == 5
    assert not exe.report.cached
    assert place.read_text() == "not a directory"


def test_resource_without_elements(refuse):
    program = """
      func.func @f() -> tensor<0xf32> {
        %0 = arith.constant dense_resource<none> : tensor<0xf32>
        return %0 : tensor<0xf32>
      }
      {-# dialect_resources: { builtin: { none: "0x04000000" } } #-}"""
    refuse(program, errors.LoweringError, "of type tensor<0xf32>: it has no elements")
