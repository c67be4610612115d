"""What would end the process inside LLVM or MLIR, or run wrongly, is refused before."""

from __future__ import annotations

import mlir.ir as ir
import pytest

from twinjit import errors

FOREIGN = """llvm.func @f() {
  %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  llvm.return
}"""
GOOD = "func.func @f(%x: i64) -> i64 { return %x : i64 }"


pytestmark = pytest.mark.usefixtures("silence")


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("i0", "without bits"),
        ("vector<[4]xf32>", "scalable"),
        ("tensor<4294967296x4294967296xf64>", "address space"),
        ("memref<4294967296x4294967296xi8>", "address space"),
        ("tensor<4x!llvm.ptr>", "no buffer"),
    ],
)
def test_types_that_do_not_lower(compiler, kind, why):
    text = f"func.func @f(%x: {kind}) -> {kind} {{ return %x : {kind} }}"
    with pytest.raises(errors.LoweringError, match=why):
        compiler.compile(text)
    assert compiler.compile(GOOD).f(1) == 1


@pytest.mark.parametrize("space", ['"elsewhere"', "#gpu.address_space<workgroup>", "3"])
def test_memory_elsewhere_cannot_be_passed(compiler, space):
    exe_or_error = (errors.SignatureError, errors.LoweringError)
    with pytest.raises(exe_or_error):
        compiler.compile(f"func.func @f(%x: memref<4xf32, {space}>) {{ return }}").f  # noqa: B018


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('llvm.func @f(%x: !llvm.struct<"a", opaque>)', "opaque structs"),
        ("llvm.func @f(%x: !llvm.label) { llvm.return }", "labels"),
        ('llvm.func @f(%x: !llvm.target<"spirv.Event">) { llvm.return }', "another target"),
        ("llvm.func extern_weak @f() { llvm.return }", "extern_weak"),
        ("llvm.mlir.global extern_weak @g(7 : i64) : i64", "extern_weak"),
        ("llvm.func @f(%x: !llvm.metadata) { llvm.return }", "metadata"),
        ("llvm.func spir_kernelcc @f() -> i32 { llvm.unreachable }", "void return type"),
        ('llvm.func @f() attributes {passthrough = ["noinline", "alwaysinline"]} { llvm.return }',
         "incompatible"),
    ],
)  # fmt: skip
def test_llvm_that_is_not_valid(compiler, text, why):
    with pytest.raises(errors.LoweringError, match=why):
        compiler.compile(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('llvm.func @f() attributes {garbageCollector = "none"} { llvm.return }', "garbage"),
        ("llvm.func anyregcc @f() { llvm.return }", "calling convention"),
        ("llvm.func cfguard_checkcc @f() { llvm.return }", "calling convention"),
        ('llvm.func @f() -> i64 { %0 = "llvm.intr.vscale"() : () -> i64 llvm.return %0 : i64 }',
         "vscale"),
        (FOREIGN, "not for this target"),
    ],
)  # fmt: skip
def test_llvm_for_other_targets(compiler, text, why):
    with pytest.raises(errors.CompilationError, match=why):
        compiler.compile(text)


def test_unknown_cpu_to_tune_for(compiler):
    with pytest.raises(errors.TargetError, match="no-such"):
        compiler.compile('llvm.func @f() attributes {tune_cpu = "no-such"} { llvm.return }')


@pytest.mark.parametrize("linkage", ["internal", "external"])
def test_thread_local_variables(compiler, linkage):
    """Their accesses would write to the thread-local variables of the process."""
    with pytest.raises(errors.CompilationError, match=r"'g' is thread-local"):
        compiler.compile(f"""
        llvm.mlir.global {linkage} thread_local @g(7 : i64) : i64
        llvm.func @f() -> i64 {{
          %0 = llvm.mlir.addressof @g : !llvm.ptr
          %1 = llvm.load %0 : !llvm.ptr -> i64
          llvm.return %1 : i64
        }}""")


@pytest.mark.parametrize("kind", ["ctor", "dtor"])
def test_code_that_would_have_to_run_at_load_or_unload(compiler, kind):
    with pytest.raises(errors.CompilationError, match="do not run"):
        compiler.compile(f"""
        llvm.mlir.global_{kind}s {kind}s = [@g], priorities = [0 : i32], data = [#llvm.zero]
        llvm.func @g() {{ llvm.return }}""")


@pytest.mark.parametrize(
    "text",
    ["module {" * 100_000,
     "func.func @f() attributes {a = " + "[" * 10_000 + "]" * 10_000 + "} { return }",
     "func.func @f(%c: i1) { " + "scf.if %c { " * 10_000 + "}" * 10_000 + " return }",
     "func.func private @f(" + "tuple<" * 10_000 + ">" * 10_000 + ")"],
)  # fmt: skip
def test_text_nested_too_deeply(compiler, text):
    with pytest.raises(errors.ParseError, match="nested more than"):
        compiler.compile(text)


def test_what_is_not_nesting(compiler):
    many = 2000
    strings = "".join(f'a{i} = "([{{<\\"(", ' for i in range(many))
    assert (
        compiler.compile(f"""// {"(" * many}
    #set = affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>
    func.func @f(%x: i64) -> i64 attributes {{{strings} b = #set}} {{ return %x : i64 }}""").f(4)
        == 4
    )


def test_diagnostics_with_bytes_that_are_no_text(compiler):
    with pytest.raises(errors.ParseError):
        compiler.compile(b'func.func @f() { "foo\xff.bar"() : () -> () }')


@pytest.mark.parametrize("name", ["llvm.getelementptr", "linalg.generic", "func.func"])
def test_live_operation_without_its_attributes(compiler, name):
    with ir.Context(), ir.Location.unknown():
        operation = ir.Operation.create(name, regions=0 if name.startswith("llvm") else 1)
        with pytest.raises(errors.VerificationError) as raised:
            compiler.compile(operation)
    assert raised.value.diagnostics
