"""LLVM IR that LLVM's code generator would end the process on is refused."""

from __future__ import annotations

import pytest

import twinjit
from twinjit.errors import CompilationError, VerificationError

WIDE = ("fp128", "x86_fp80")
BROKEN = {
    "width of an operand of assembly": ("""define i65 @f() {
        %x = call i65 asm sideeffect "", "=r"()
        ret i65 %x }""", "fit no registers"),
    "structure for assembly": ("""define void @f({i64, i64} %x) {
        call void asm sideeffect "", "r"({i64, i64} %x)
        ret void }""", "fit no registers"),
    "array of assembly": ("""define void @f(ptr %p) {
        %x = call [2 x i64] asm sideeffect "", "=r"()
        store [2 x i64] %x, ptr %p
        ret void }""", "fit no registers"),
    "memory that assembly returns": ("""define i64 @f() {
        %x = call i64 asm sideeffect "", "=m"()
        ret i64 %x }""", "returns what it writes to memory"),
    "option of a loop": ("""define void @f(i1 %c) {
        br label %loop
      loop:
        br i1 %c, label %loop, label %end, !llvm.loop !0
      end:
        ret void }
      !0 = distinct !{!0, !1}
      !1 = !{null}""", "option of a loop"),
    "scalable argument": ("define void @f(<vscale x 2 x i64> %x) { ret void }", "scalable"),
    "scalable variable": ("define void @f() { %p = alloca <vscale x 2 x i64>\n ret void }",
                          "scalable"),
    "type of another target": ('define void @f(target("spirv.Image") %x) { ret void }',
                               "of other targets"),
    "atomic vector load": ("""define void @f(ptr %p) {
        %x = load atomic <4 x half>, ptr %p seq_cst, align 8
        ret void }""", "atomic accesses to vectors"),
    "atomic vector store": ("""define void @f(ptr %p) {
        store atomic <2 x ptr> zeroinitializer, ptr %p seq_cst, align 16
        ret void }""", "atomic accesses to vectors"),
    "register of another width": ("""define i32 @f() {
        %x = call i32 @llvm.read_register.i32(metadata !{!"rsp"})
        ret i32 %x }
      declare i32 @llvm.read_register.i32(metadata)""", "no register 'rsp'"),
    "bundle": ('define void @f(ptr %p) { call void %p() [ "odd"(i32 5) ]\n ret void }', "'odd'"),
    "signed call": ("""define void @f(ptr %p) {
        call void %p() [ "ptrauth"(i32 0, i64 5) ]
        ret void }""", "'ptrauth'"),
    "signed pointer": ("@g = global ptr ptrauth (ptr @f, i32 0)\ndefine void @f() { ret void }",
                       "signed pointers"),
    "va_arg": ("define void @f(ptr %p) { %x = va_arg ptr %p, {i64, i64}\n ret void }", "va_arg"),
    "variable arguments": ("define tailcc void @f(i32 %x, ...) { ret void }", "variable arguments"),
    "alignment": ("@x = global i32 1, align 8192\ndefine ptr @f() { ret ptr @x }", "than a page"),
    "alignment of code": ("define void @f() align 8192 { ret void }", "than a page"),
    "saturation": ("""declare i300 @llvm.fptosi.sat.i300.f64(double)
      define void @f(ptr %p, double %x) {
        %y = call i300 @llvm.fptosi.sat.i300.f64(double %x)
        store i300 %y, ptr %p
        ret void }""", "not for this type"),
    "operand of assembly": ('define void @f() { call void asm "$9", ""()\n ret void }', r"'\$9'"),
    "brace of assembly": ('define void @f() { call void asm "${0", "r"(i32 1)\n ret void }',
                          "does not have"),
    "coroutine": ("""declare i64 @llvm.coro.size.i64()
      define i64 @f() {
        %x = call i64 @llvm.coro.size.i64()
        ret i64 %x }""", r"llvm\.coro\.size"),
    "stack pointer on entry": ("""declare ptr @llvm.sponentry.p0()
      define ptr @f() {
        %x = call ptr @llvm.sponentry.p0()
        ret ptr %x }""", r"llvm\.sponentry"),
    "guard": ("""declare void @llvm.experimental.guard(i1, ...)
      define void @f(i1 %c) {
        call void (i1, ...) @llvm.experimental.guard(i1 %c) [ "deopt"() ]
        ret void }""", r"llvm\.experimental\.guard"),
    **{f"{name} of {type_}": (f"""declare {type_} @llvm.{name}({type_}, {type_})
      define void @f(ptr %p) {{
        %x = load {type_}, ptr %p
        %y = call {type_} @llvm.{name}({type_} %x, {type_} %x)
        store {type_} %y, ptr %p
        ret void }}""", "not for this type") for name in ("minimum", "maximum") for type_ in WIDE},
    "strict arithmetic": ("""
      declare bfloat @llvm.experimental.constrained.sqrt.bf16(bfloat, metadata, metadata)
      define bfloat @f(bfloat %x) strictfp {
        %y = call bfloat @llvm.experimental.constrained.sqrt.bf16(bfloat %x,
          metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
        ret bfloat %y }""", "not for this type"),
    **{f"atomic {name}": (f"""define void @f(ptr %p, fp128 %x) {{
        %y = atomicrmw {name} ptr %p, fp128 %x seq_cst
        ret void }}""", "not for this type") for name in ("fmaximum", "fminimum")},
}  # fmt: skip


@pytest.fixture(scope="module")
def isolated():
    options = {"cache": False, "executor": "process"}
    with twinjit.Compiler(opt_level=0, **options) as fast, twinjit.Compiler(**options) as best:
        yield [fast, best]


@pytest.mark.parametrize(("text", "match"), BROKEN.values(), ids=BROKEN)
def test_refused(isolated, text, match):
    for compiler in isolated:
        with pytest.raises(CompilationError, match=match):
            compiler.compile(text, language="llvm")


def test_scalable_atomics(isolated):
    text = """define void @f(ptr %p) {
        %x = load atomic <vscale x 2 x i64>, ptr %p seq_cst, align 16
        ret void }"""
    with pytest.raises(VerificationError, match="atomic access to a scalable vector"):
        isolated[0].compile(text, language="llvm")


GOOD = {
    "assembly": """define i64 @f(i64 %x) {
        %y = call i64 asm "leaq 1($1), $0 # $$ ${:uid}", "=r,r"(i64 %x)
        ret i64 %y }""",
    "copies": """declare i64 @llvm.ssa.copy.i64(i64)
      define i64 @f(i64 %x) {
        %y = call i64 @llvm.ssa.copy.i64(i64 %x)
        %z = add i64 %y, 1
        ret i64 %z }""",
    "assumptions": """declare void @llvm.assume(i1)
      define i64 @f(i64 %x) {
        call void @llvm.assume(i1 true) [ "align"(ptr null, i64 8) ]
        %z = add i64 %x, 1
        ret i64 %z }""",
    "metadata for linkers": """!llvm.linker.options = !{!0}
      !0 = !{!"odd"}
      define i64 @f(i64 %x) {
        %z = add i64 %x, 1
        ret i64 %z }""",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_accepted(isolated, text):
    for compiler in isolated:
        assert compiler.compile(text, language="llvm").f(41) == 42


@pytest.mark.parametrize(
    "text",
    [
        'define void @f() "a\\00b" { ret void }',
        'define "a\\00b"="c" i64 @f() { ret i64 1 }',
        '@g = global i64 1 "a"="b\\00c"',
        'declare void @f()\ndefine void @g() {\n call void @f() "a\\00b"\n ret void\n}',
    ],
)
def test_attributes_that_bitcode_cannot_hold(compiler, text):
    with pytest.raises(VerificationError, match="contains a NUL"):
        compiler.compile(text, language="llvm")


@pytest.mark.parametrize(
    "text",
    [
        'define i64 @f(i64 %x) {\n %y = call i64 asm "", "=r,0"(i64 %x)\n ret i64 %y\n}',
        (
            "define i64 @f(i64 %x) {\n"
            ' %y = call {i64, i64} asm "", "=r,=r,0,1"(i64 %x, i64 %x)\n'
            " %z = extractvalue {i64, i64} %y, 0\n ret i64 %z\n}"
        ),
        'define i64 @f(i64 %x) "a" {\n ret i64 %x\n}\n@text = constant [2 x i8] c"a\\00"',
    ],
)
def test_what_is_like_these_and_compiles(compiler, text):
    assert compiler.compile(text, language="llvm").f(3) == 3
