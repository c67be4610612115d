"""Targets: levels, what counts as an instruction set, and what programs say of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvm
import pytest

import twinjit
from twinjit import Target, errors
from twinjit._native import _llvm

HOST = Target.host()
TRIPLE = "x86_64-unknown-linux-gnu"
LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")

# What the x86-64 psABI adds at each level, in LLVM's names. OSXSAVE is the system's.
PSABI = {
    "x86-64": {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2"},
    "x86-64-v2": {"cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"},
    "x86-64-v3": {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
# 64bit: the mode; crc32: LLVM's name for a part of SSE 4.2 that needs no SSE registers.
BESIDES = {"64bit", "crc32"}

TUNING = [
    "prefer-256-bit",
    "prefer-128-bit",
    "fast-gather",
    "slow-3ops-lea",
    "false-deps-popcnt",
    "tuning-fast-imm-vector-shift",
    "branchfusion",
    "ermsb",
    "vzeroupper",
]

pytestmark = [
    pytest.mark.skipif(HOST.triple != TRIPLE, reason="the levels of x86-64 are told"),
    pytest.mark.usefixtures("silence"),
]


def has_level(level: str) -> bool:
    return HOST.triple == TRIPLE and not _llvm.why_not_here(
        TRIPLE, Target.baseline(level).instruction_sets
    )


def tool(name: str) -> str:
    """Path of a program that comes with the wheel of LLVM."""
    return str(Path(next(iter(llvm.__path__))) / "bin" / name)


def function(attributes: str) -> str:
    return (
        f"llvm.func @f(%x: f32) -> f32 attributes {{{attributes}}} "
        "{ %0 = llvm.fadd %x, %x : f32  llvm.return %0 : f32 }"
    )


def compile_for(target: Target, text: str) -> twinjit.Executable:
    return twinjit.Compiler(cache=False, target=target).compile(text)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_what_the_psabi_says(level):
    included = LEVELS[: LEVELS.index(level) + 1]
    found = set(Target.baseline(level).instruction_sets)
    assert found - BESIDES == set().union(*(PSABI[each] for each in included))


def test_nothing_of_the_host_enters_a_level():
    assert Target.baseline("x86-64-v3") == Target(TRIPLE, "x86-64-v3", "")


@pytest.mark.parametrize("level", LEVELS)
def test_code_for_a_level_runs(level):
    if not has_level(level):
        pytest.skip(f"this CPU is below {level}")
    assert compile_for(Target.baseline(level), function("")).f(1.5) == 3


@pytest.mark.parametrize("level", ["x86-64-v5", "native", "host", "", "armv8-a", "znver4"])
def test_no_level(level):
    with pytest.raises(errors.TargetError, match="x86-64, x86-64-v2, x86-64-v3, x86-64-v4"):
        Target.baseline(level)


def test_targets_by_name():
    assert Target.named("host") == HOST
    assert Target.named("x86-64-v2") == Target.baseline("x86-64-v2")
    with pytest.raises(
        errors.TargetError, match=r"'haswell' is no level.*x86-64-v4; or give 'host'"
    ):
        Target.named("haswell")


@pytest.mark.parametrize(
    ("triple", "cpu", "features"),
    [
        (TRIPLE, "native", ""),
        ("native", "x86-64", ""),
        (TRIPLE, "x86-64", "native"),
        (TRIPLE, "x86-64", "+sse3,+native"),
        (TRIPLE, "x86-64", "-native"),
    ],
)
def test_native_is_nowhere(triple, cpu, features):
    with pytest.raises(errors.TargetError, match="'native' means differs by machine"):
        Target(triple, cpu, features)


@pytest.mark.parametrize("features", ["avx2", "+avx2,fma", "+avx2,", ",", "+avx2, +fma", "+", "-"])
def test_features_are_signed(features):
    with pytest.raises(errors.TargetError, match="no \\+ or - before its name"):
        Target(TRIPLE, "x86-64", features)


@pytest.mark.parametrize(
    "features", ["-64bit", "-64bit-mode", "+32bit-mode", "+16bit-mode", "+x32", "++sse3"]
)
def test_features_on_which_llvm_would_end_the_process(features):
    with pytest.raises(errors.TargetError, match="cannot run here"):
        twinjit.Compiler(cache=False, target=Target(TRIPLE, "x86-64", features))


@pytest.mark.parametrize("flag", TUNING)
def test_tuning_is_no_feature(flag):
    tuned = Target(TRIPLE, "x86-64", f"+{flag}")
    assert tuned.instruction_sets == Target.baseline("x86-64").instruction_sets
    assert compile_for(tuned, function("")).f(2) == 4
    passthrough = f'passthrough = [["target-features", "+{flag}"]]'
    assert compile_for(Target.baseline("x86-64"), function(passthrough)).f(2) == 4


def test_hosts_list_no_tuning():
    assert not {each[1:] for each in HOST.features.split(",")} & set(TUNING)
    assert HOST.cpu == "generic" or HOST.instruction_sets


def test_what_a_host_lacks_comes_last():
    """`+avx512vbmi` implies `avx512bw`, which a virtual machine may yet hide."""
    signs = [each[0] for each in HOST.features.split(",")]
    assert signs == sorted(signs)
    hidden = Target(TRIPLE, "x86-64", "+avx512vbmi,-avx512bw")
    assert not {"avx512bw", "avx512vbmi"} & set(hidden.instruction_sets)


def test_the_host_has_what_it_says():
    present = {each[1:] for each in HOST.features.split(",") if each[0] == "+"}
    assert set(HOST.instruction_sets) <= present | {"sse-unaligned-mem"}


# What programs say of their own


@pytest.mark.parametrize(
    "attributes",
    [
        'target_cpu = "x86-64-v4"',
        'target_cpu = "znver4"',
        'target_features = #llvm.target_features<["+avx512f"]>',
        'target_features = #llvm.target_features<["+sse3", "+avx"]>',
        'passthrough = [["target-features", "+avx2"]]',
        'passthrough = [["target-cpu", "haswell"]]',
    ],
)
def test_a_function_may_not_go_beyond_the_target(attributes):
    with pytest.raises(errors.TargetError, match=r"'f': .* CPU feature 'a[dv]x', which"):
        compile_for(Target.baseline("x86-64-v2"), function(attributes))


def test_a_function_may_not_go_beyond_the_host():
    old_or_new = ("xop", "fma4", "amx-tile")
    lacked = next(name for name in old_or_new if name not in HOST.instruction_sets)
    with pytest.raises(errors.TargetError, match="which the target"):
        compile_for(HOST, function(f'passthrough = [["target-features", "+{lacked}"]]'))


@pytest.mark.parametrize(
    "attributes",
    [
        'target_cpu = "native"',
        'tune_cpu = "native"',
        'passthrough = [["target-cpu", "native"]]',
        'passthrough = [["tune-cpu", "native"]]',
        'target_features = #llvm.target_features<["+native"]>',
    ],
)
def test_a_function_may_not_be_native(attributes):
    with pytest.raises(errors.TargetError, match="'native' for x86_64"):
        compile_for(HOST, function(attributes))


@pytest.mark.parametrize("feature", ["-64bit", "-64bit-mode", "+16bit-mode"])
def test_a_function_stays_in_its_mode(feature):
    with pytest.raises(errors.TargetError, match="does not run in the mode of x86_64"):
        compile_for(HOST, function(f'passthrough = [["target-features", "{feature}"]]'))


def test_an_old_cpu_of_a_function():
    with pytest.raises(errors.TargetError, match="does not run in the mode of x86_64"):
        compile_for(HOST, function('target_cpu = "i386"'))


@pytest.mark.parametrize(
    "attributes",
    [
        'target_cpu = "x86-64"',
        'tune_cpu = "znver4"',
        'target_cpu = "x86-64-v2", tune_cpu = "znver4"',
        'target_features = #llvm.target_features<["+sse3", "-ssse3"]>',
        'target_cpu = "x86-64", passthrough = [["target-features", "+cx8,+mmx,+sse2,+x87"]]',
    ],
)
def test_a_function_may_ask_for_less(attributes):
    assert compile_for(Target.baseline("x86-64-v2"), function(attributes)).f(2) == 4


WIDE = """llvm.func @f(%x: !llvm.ptr) attributes {{{attributes}}} {{
  %0 = llvm.load %x : !llvm.ptr -> vector<8xf64>
  %1 = llvm.fadd %0, %0 : vector<8xf64>
  llvm.store %1, %x : vector<8xf64>, !llvm.ptr
  llvm.return
}}"""


def registers(executable: twinjit.Executable, tmp_path: Path) -> set[str]:
    """Which kinds of vector registers the code uses."""
    file = tmp_path / "code.o"
    file.write_bytes(executable.object_code)
    listing = subprocess.run(
        [tool("llvm-objdump"), "-d", file], capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"%([xyz]mm)", listing))


@pytest.mark.skipif(not has_level("x86-64-v4"), reason="this CPU has no AVX-512")
def test_what_a_function_asks_for_is_relative_to_the_target(tmp_path):
    v4 = Target.baseline("x86-64-v4")
    given = WIDE.format(attributes="")
    assert registers(compile_for(v4, given), tmp_path) == {"zmm"}
    less = 'target_features = #llvm.target_features<["+avx2", "-avx512f"]>'
    assert registers(compile_for(v4, WIDE.format(attributes=less)), tmp_path) == {"ymm"}
    own = WIDE.format(attributes='target_cpu = "x86-64"')
    assert registers(compile_for(v4, own), tmp_path) == {"xmm"}


def test_what_a_virtual_machine_hides_stays_hidden():
    """The target's `-avx` counts for functions with features of their own, too."""
    hidden = Target(TRIPLE, "x86-64-v3", "-avx")
    own = WIDE.format(attributes='target_features = #llvm.target_features<["+ssse3"]>')
    assert "avx" not in hidden.instruction_sets
    compile_for(hidden, own)
    with pytest.raises(errors.TargetError, match="'f'"):
        compile_for(hidden, own.replace("+ssse3", "+avx2"))


# Intrinsics of instructions that are not there end the process in LLVM's code generator.

RECIPROCAL = """llvm.func @f(%p: !llvm.ptr, %m: i16) attributes {{{attributes}}} {{
  %a = llvm.load %p : !llvm.ptr -> vector<16xf32>
  %r = llvm.call_intrinsic "llvm.x86.avx512.rcp14.ps.512"(%a, %a, %m)
    : (vector<16xf32>, vector<16xf32>, i16) -> vector<16xf32>
  llvm.store %r, %p : vector<16xf32>, !llvm.ptr
  llvm.return
}}"""
CHECKSUM = """llvm.func @f(%x: i32, %y: i32) -> i32 {
  %r = llvm.call_intrinsic "llvm.x86.sse42.crc32.32.32"(%x, %y) : (i32, i32) -> i32
  llvm.return %r : i32
}"""


def test_an_intrinsic_that_the_target_lacks():
    wide = RECIPROCAL.format(attributes="")
    with pytest.raises(errors.TargetError, match=r"'f': it calls llvm\.x86\.avx512.*'avx512f'"):
        compile_for(Target.baseline("x86-64-v3"), wide)
    with pytest.raises(errors.TargetError, match=r"'f': it calls llvm\.x86\.sse42.*'crc32'"):
        compile_for(Target.baseline("x86-64"), CHECKSUM)


@pytest.mark.parametrize("name", ["llvm.x86.flags.read.u32", "llvm.x86.seh.lsda"])
def test_an_intrinsic_of_no_cpu(compiler, name):
    arguments = "() : () -> i32" if name.endswith("u32") else "(%p) : (!llvm.ptr) -> !llvm.ptr"
    text = (
        "llvm.func @f(%p: !llvm.ptr) {\n"
        f'  %r = llvm.call_intrinsic "{name}"{arguments}\n  llvm.return\n}}'
    )
    with pytest.raises(errors.CompilationError, match="is not for this target"):
        compiler.compile(text)


@pytest.mark.skipif(not has_level("x86-64-v4"), reason="this CPU has no AVX-512")
def test_an_intrinsic_that_the_target_has():
    v4 = Target.baseline("x86-64-v4")
    assert list(compile_for(v4, RECIPROCAL.format(attributes=""))) == ["f"]
    assert compile_for(Target.baseline("x86-64-v2"), CHECKSUM).f(0, 1) % 2**32 == 0xDD45AAB8
    less = 'target_features = #llvm.target_features<["-avx512f"]>'
    with pytest.raises(errors.TargetError, match="it calls"):
        compile_for(v4, RECIPROCAL.format(attributes=less))


# What no LLVM IR shows, and a loader would have to do

SAFE_STACK = """llvm.func @puts(!llvm.ptr) -> i32
llvm.func @f(%n: i64) -> i32 attributes {passthrough = ["safestack"]} {
  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr
  %r = llvm.call @puts(%p) : (!llvm.ptr) -> i32
  llvm.return %r : i32
}"""
THREAD_DATA = """llvm.mlir.global external @g(1 : i64) {section = ".tdata"} : i64
llvm.func @f() { llvm.return }"""
ASSEMBLY = """module attributes {llvm.module_asm = [".section .tbss", ".zero 8"]} {
  llvm.func @f() { llvm.return }
}"""
INITIALISER = """llvm.mlir.global external @g(1 : i64) {section = ".init_array"} : i64
llvm.func @f() { llvm.return }"""
INDIRECT = """llvm.mlir.ifunc external @i : !llvm.func<i32 ()>, !llvm.ptr @resolve
llvm.func @one() -> i32 { %0 = llvm.mlir.constant(1 : i32) : i32 llvm.return %0 : i32 }
llvm.func @resolve() -> !llvm.ptr {
  %0 = llvm.mlir.addressof @one : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.func @f() -> i32 { %0 = llvm.call @i() : () -> i32 llvm.return %0 : i32 }"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SAFE_STACK, "thread-local variable '__safestack_unsafe_stack_ptr'"),
        (THREAD_DATA, "section '.tdata' is thread-local"),
        (ASSEMBLY, "section '.tbss' is thread-local"),
        (INITIALISER, "section '.init_array' has functions to run"),
        (INDIRECT, "indirect function 'i' is never resolved"),
    ],
)
def test_what_the_loader_would_have_to_do(compiler, text, why):
    with pytest.raises(errors.CompilationError, match=why):
        compiler.compile(text)
    assert compiler.store.stats().entries == 0


def test_aarch64_has_levels_of_its_own(monkeypatch):
    """LLVM's backend for them is not in this process; their features are checked below."""
    monkeypatch.setattr(_llvm, "plain_triple", lambda: "aarch64-unknown-linux-gnu")
    assert Target.baseline("armv8.2-a") == Target("aarch64-unknown-linux-gnu", "generic", "+v8.2a")
    with pytest.raises(errors.TargetError, match=r"armv8-a, armv8\.1-a, .*armv9\.6-a"):
        Target.baseline("x86-64")


@pytest.mark.parametrize("level", ["armv8-a", "armv8.9-a", "armv9-a", "armv9.6-a"])
def test_llvm_knows_the_levels_of_aarch64(monkeypatch, level):
    monkeypatch.setattr(_llvm, "plain_triple", lambda: "aarch64-unknown-linux-gnu")
    target = Target.baseline(level)
    command = [tool("llc"), f"-mtriple={target.triple}", f"-mattr={target.features}"]
    ran = subprocess.run(
        command, input="define void @f() { ret void }", capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""


def test_no_pass_can_ask_for_the_host_cpu():
    """So that no option of a pass, whatever its text, means another CPU elsewhere."""
    from mlir import _mlir_libs

    library = Path(next(iter(_mlir_libs.__path__))) / "libMLIRPythonCAPI.so"
    listed = subprocess.run(
        [tool("llvm-nm"), "-D", library], capture_output=True, text=True, check=True
    ).stdout
    assert "JITTargetMachineBuilder" in listed  # of the execution engine, which no pass uses
    assert "getHostCPU" not in listed


def test_the_key_of_a_level_holds_nothing_of_the_host():
    parts = dict(compile_for(Target.baseline("x86-64"), function("")).key.parts)
    assert (parts["target-triple"], parts["target-cpu"], parts["target-features"]) == (
        TRIPLE, "x86-64", "",
    )  # fmt: skip
    assert "native" not in str(parts)


def test_a_level_gives_one_object_whatever_the_host():
    """Another host cannot be had here; but nothing but these arguments reaches the emission."""
    script = (
        "import sys, twinjit, os; exe = twinjit.Compiler(cache=False, "
        "target=twinjit.Target.baseline('x86-64-v2')).compile(sys.argv[1]); "
        "sys.stdout.buffer.write(exe.key.digest + exe.object_code)"
    )
    text = WIDE.format(attributes="")
    other = subprocess.run([sys.executable, "-c", script, text], capture_output=True, check=True)
    here = compile_for(Target.baseline("x86-64-v2"), text)
    assert other.stdout == here.key.digest + here.object_code


@pytest.mark.parametrize("level", [None, 3, [], {}, b"x86-64"])
def test_what_is_no_level(level: Any) -> None:
    for make in (Target.baseline, Target.named):
        with pytest.raises(errors.TargetError, match="no level"):
            make(level)
