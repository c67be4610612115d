"""Each part of an LLVM module that reaches code counts: one change, another program.

The table follows what LLVM's bitcode writer writes.
"""

from __future__ import annotations

import pytest

from tests.llvmir.modules import are_same

# (a program with a hole, what differs in the hole)
FIELDS: dict[str, tuple[str, list[str]]] = {
    # Modules.
    "triple": ('target triple = "$"', ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]),
    "data layout": ('target datalayout = "$"', ["e", "E", "e-i64:32"]),
    "module assembly": ('module asm "$"', [".globl x", ".globl y"]),
    "module flag": ('!llvm.module.flags = !{!0}\n!0 = !{i32 $}', [
        '1, !"wchar_size", i32 4', '2, !"wchar_size", i32 4', '1, !"wchar_size", i32 2',
        '1, !"other", i32 4']),
    "named metadata": ("$", ["!a = !{}", "!b = !{}", "!a = !{!0}\n!0 = !{}", ""]),
    "symbol order": ("$", ["@a = global i8 0\n@b = global i8 0", "@b = global i8 0\n@a = global i8 0"]),
    "name": ("@$ = global i8 0", ["a", "b", '"a.1"', '"\\01a"']),
    # Symbols.
    "global type": ("@g = external global $", ["i8", "i16", "[1 x i8]", "ptr", "{ i8 }"]),
    "linkage": ("@g = $ i8 0", [
        "global", "weak global", "linkonce global", "linkonce_odr global", "weak_odr global",
        "internal global", "private global", "common global", "available_externally global"]),
    "declared linkage": ("@g = $ global i8", ["external", "extern_weak"]),
    "visibility": ("@g = $ global i8 0", ["", "hidden", "protected"]),
    "DLL storage": ("@g = $ global i8", ["external", "external dllimport"]),
    "DLL export": ("@g = $ global i8 0", ["", "dllexport"]),
    "thread-local": ("@g = $ global i8 0", [
        "", "thread_local", "thread_local(localdynamic)", "thread_local(initialexec)",
        "thread_local(localexec)"]),
    "unnamed address": ("@g = $ global i8 0", ["", "unnamed_addr", "local_unnamed_addr"]),
    "DSO-local": ("@g = $ global i8 0", ["", "dso_local"]),
    "address space": ("@g = addrspace($) global i8 0", ["0", "1", "2"]),
    "externally initialized": ("@g = $ global i8 0", ["", "externally_initialized"]),
    "constant": ("@g = $ i8 0", ["global", "constant"]),
    "global's rest": ("$c = comdat any\n$g = comdat any\n@g = global i8 0 $", [
        "", ', section "a"', ', section "b"', ', partition "p"', ', partition "q"', ", comdat",
        ", comdat($c)", ", align 2", ", align 4", ', code_model "tiny"', ', code_model "large"',
        ", no_sanitize_address", ", no_sanitize_hwaddress", ", sanitize_memtag",
        ", sanitize_address_dyninit"]),
    "comdat kind": ("$g = comdat $\n@g = global i8 0, comdat", [
        "any", "exactmatch", "largest", "nodeduplicate", "samesize"]),
    "global's attributes": ("@g = global i8 0 #0\nattributes #0 = { $ }", [
        '"bss-section"="a"', '"bss-section"="b"', '"data-section"="a"']),
    "global's metadata": ("@h = global i8 0\n@g = external global i8, $\n!0 = !{i64 0, i64 9}", [
        "!absolute_symbol !0", "!absolute_symbol !{i64 0, i64 8}", "!type !0",
        "!type !0, !type !{i64 1, i64 9}", "!associated !{ptr @h}"]),
    "alias": ("@g = global [2 x i8] zeroinitializer\n$", [
        "@a = alias i8, ptr @g", "@a = alias i16, ptr @g", "@a = weak alias i8, ptr @g",
        "@a = hidden alias i8, ptr @g", "@a = unnamed_addr alias i8, ptr @g",
        "@a = thread_local alias i8, ptr @g", "@a = dso_local alias i8, ptr @g",
        '@a = alias i8, ptr @g, partition "p"',
        "@a = alias i8, getelementptr (i8, ptr @g, i64 1)"]),
    "ifunc": ("define ptr @r() { ret ptr null }\ndefine ptr @s() { ret ptr null }\n$", [
        "@i = ifunc void (), ptr @r", "@i = ifunc void (), ptr @s", "@i = ifunc i8 (), ptr @r",
        "@i = weak ifunc void (), ptr @r", "@i = hidden ifunc void (), ptr @r",
        '@i = ifunc void (), ptr @r, partition "p"']),
    # Functions.
    "function": ("$c = comdat any\ndefine void @f() $ { ret void }\n@g = external global i8\ndeclare i32 @p(...)", [
        "", "unnamed_addr", "local_unnamed_addr", "addrspace(1)", 'section "a"', 'partition "a"',
        "comdat($c)", "align 16", "align 32", 'gc "a"', 'gc "b"', "prefix i8 1", "prefix i8 2",
        "prologue i8 1", "personality ptr @p", "nounwind", "noinline", '"a"="b"', '"a"="c"', '"a"',
        "memory(none)", "memory(read)", "alignstack(8)", "alignstack(16)", "uwtable",
        "uwtable(sync)", "vscale_range(1,2)", "vscale_range(1,4)", 'allockind("free")',
        "!prof !{!\"function_entry_count\", i64 1}", "!prof !{!\"function_entry_count\", i64 2}"]),
    "function linkage": ("define $ void @f() { ret void }", [
        "", "weak", "internal", "dso_local", "hidden", "fastcc", "coldcc", "cc 17", "dllexport"]),
    "function type": ("declare $", [
        "void @f()", "i8 @f()", "void @f(i8)", "void @f(...)", "void @f(i8, i8)", "void @f(i16)"]),
    "definition": ("$", ["declare void @f()", "define void @f() { unreachable }"]),
    "result attribute": ("declare $ i32 @f()", ["", "noundef", "zeroext", "range(i32 0, 2)",
                                                "range(i32 0, 3)"]),
    "parameter attribute": ("declare void @f(ptr $)", [
        "", "noalias", "nonnull", "align 8", "align 16", "dereferenceable(4)",
        "dereferenceable_or_null(4)", "byval(i8)", "byval(i16)", "sret(i8)", "inalloca(i8)",
        "byref(i8)", "preallocated(i8)", "captures(none)", "captures(address)", "readonly", "nest",
        "swiftself", "initializes((0, 4))", "initializes((0, 8))", "initializes((0, 4), (8, 12))",
        "nofree", "inreg", '"x"', "dead_on_unwind", "writable"]),
    "float attribute": ("declare void @f(float $)", ["", "nofpclass(nan)", "nofpclass(inf)"]),
    "parameter's place": ("declare void @f($)", ["ptr nonnull, ptr", "ptr, ptr nonnull"]),
    # Constants.
    "integer": ("@g = global i64 $", ["0", "1", "-1", "4294967296"]),
    "wide integer": ("@g = global i200 $", ["0", "1267650600228229401496703205376", "18446744073709551616"]),
    "width": ("@g = global $ 1", ["i8", "i9", "i19"]),
    "float": ("@g = global double $", [
        "0.0", "-0.0", "1.0", "0x7FF0000000000000", "0x7FF8000000000000", "0x7FF8000000000001",
        "0xFFF8000000000000", "0x7FF0000000000001"]),
    "float type": ("@g = global $", [
        "half 0xH0000", "bfloat 0xR0000", "float 0.0", "double 0.0", "fp128 0xL0", "x86_fp80 0xK0",
        "ppc_fp128 0xM0"]),
    "no value": ("@g = global i32 $", ["undef", "poison", "0"]),
    "aggregate": ("@g = global $", [
        "{ i8, i8 } { i8 1, i8 2 }", "{ i8, i8 } { i8 2, i8 1 }", "<{ i8, i8 }> <{ i8 1, i8 2 }>",
        "[2 x i8] [i8 1, i8 2]", "<2 x i8> <i8 1, i8 2>", "{ i8, i8 } { i8 undef, i8 2 }",
        "{ i8, i8 } zeroinitializer", "[2 x i8] c\"\\01\\03\""]),
    "address": ("@a = external global [4 x i8]\n@b = external global [4 x i8]\n@g = global ptr $", [
        "@a", "@b", "null", "getelementptr (i8, ptr @a, i64 1)", "getelementptr (i8, ptr @a, i64 2)",
        "getelementptr (i16, ptr @a, i64 1)", "getelementptr inbounds (i8, ptr @a, i64 1)",
        "getelementptr nuw (i8, ptr @a, i64 1)", "getelementptr nusw (i8, ptr @a, i64 1)",
        "getelementptr inrange(0, 4) (i8, ptr @a, i64 1)",
        "getelementptr inrange(0, 8) (i8, ptr @a, i64 1)"]),
    "expression": ("@a = external global i8\n@g = global i64 $", [
        "ptrtoint (ptr @a to i64)", "add (i64 ptrtoint (ptr @a to i64), i64 1)",
        "add nuw (i64 ptrtoint (ptr @a to i64), i64 1)",
        "sub (i64 ptrtoint (ptr @a to i64), i64 1)", "sub (i64 1, i64 ptrtoint (ptr @a to i64))",
        "xor (i64 ptrtoint (ptr @a to i64), i64 1)", "ptrtoaddr (ptr @a to i64)"]),
    "function's address": ("declare void @f()\n@g = global ptr $", [
        "@f", "dso_local_equivalent @f", "no_cfi @f", "ptrauth (ptr @f, i32 0)",
        "ptrauth (ptr @f, i32 1)", "ptrauth (ptr @f, i32 0, i64 1)",
        "ptrauth (ptr @f, i32 0, i64 0, ptr @g)"]),
    "block address": ("""define void @f(i1 %c) {
        br i1 %c, label %x, label %y
      x:
        ret void
      y:
        ret void
      }
      @g = global ptr $""", ["blockaddress(@f, %x)", "blockaddress(@f, %y)"]),
    "target type": ('declare void @f(target("$))', ['a"', 'b"', 'a", 1', 'a", 2', 'a", i8']),
    "struct type": ("%S = type $\n@g = external global %S", [
        "{ i8, i16 }", "{ i16, i8 }", "<{ i8, i16 }>", "{ i8 }", "{ { i8, i16 } }", "opaque"]),
    "vector type": ("declare void @f(<$ x i8>)", ["2", "4", "vscale x 2"]),
    "pointer type": ("declare void @f(ptr addrspace($))", ["0", "3"]),
}  # fmt: skip

# (the body of a function, what differs in it)
INSTRUCTIONS: dict[str, tuple[str, list[str]]] = {
    "binary": ("%r = $ i32 %x, %y", [
        "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or",
        "xor", "add nuw", "add nsw", "add nuw nsw", "sub nuw", "mul nsw", "shl nuw", "shl nsw",
        "udiv exact", "sdiv exact", "lshr exact", "ashr exact", "or disjoint"]),
    "operands": ("%r = sub i32 $", ["%x, %y", "%y, %x", "%x, %x", "%x, 1", "%x, 2", "1, %x"]),
    "float": ("%r = fadd $ float %a, %b", [
        "", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast", "nnan ninf"]),
    "negation": ("%r = fneg $ float %a", ["", "nnan"]),
    "cast": ("%r = $", [
        "zext i32 %x to i64", "zext nneg i32 %x to i64", "sext i32 %x to i64", "zext i32 %x to i65",
        "trunc i32 %x to i8", "trunc nuw i32 %x to i8", "trunc nsw i32 %x to i8",
        "bitcast i32 %x to float", "uitofp i32 %x to float", "uitofp nneg i32 %x to float",
        "sitofp i32 %x to float", "fptoui float %a to i32", "fptosi float %a to i32",
        "fpext float %a to double", "fptrunc float %a to half", "ptrtoint ptr %p to i32",
        "ptrtoaddr ptr %p to i64", "ptrtoint ptr %p to i64", "inttoptr i32 %x to ptr",
        "addrspacecast ptr %p to ptr addrspace(1)", "freeze i32 %x"]),
    "icmp": ("%r = icmp $ i32 %x, %y", [
        "eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "samesign ult"]),
    "fcmp": ("%r = fcmp $ float %a, %b", [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
        "ule", "une", "uno", "true", "nnan oeq"]),
    "select": ("%r = select $", [
        "i1 %c, i32 %x, i32 %y", "i1 %c, i32 %y, i32 %x", "i1 true, i32 %x, i32 %y",
        "i1 %c, float %a, float %b", "nnan i1 %c, float %a, float %b"]),
    "alloca": ("%r = alloca $", [
        "i32", "i64", "i32, align 8", "i32, i32 2", "i32, i32 %x", "inalloca i32",
        "i32, addrspace(5)", "i32, i64 1"]),
    "swifterror": ("%r = alloca $ ptr", ["", "swifterror"]),
    "load": ("%r = load $", [
        "i32, ptr %p", "i64, ptr %p", "i32, ptr %q", "volatile i32, ptr %p", "i32, ptr %p, align 1",
        "atomic i32, ptr %p unordered, align 4", "atomic i32, ptr %p monotonic, align 4",
        "atomic i32, ptr %p acquire, align 4", "atomic i32, ptr %p seq_cst, align 4",
        'atomic i32, ptr %p syncscope("a") acquire, align 4',
        'atomic i32, ptr %p syncscope("b") acquire, align 4',
        'atomic i32, ptr %p syncscope("singlethread") acquire, align 4',
        "i32, ptr %p, !range !{i32 0, i32 1}", "i32, ptr %p, !range !{i32 0, i32 2}",
        "i32, ptr %p, !noundef !{}", "i32, ptr %p, !invariant.load !{}", "i32, ptr %p, !my !{}"]),
    "store": ("store $", [
        "i32 %x, ptr %p", "i32 %y, ptr %p", "i32 %x, ptr %q", "volatile i32 %x, ptr %p",
        "i32 %x, ptr %p, align 1", "atomic i32 %x, ptr %p release, align 4",
        "atomic volatile i32 %x, ptr %p release, align 4",
        'atomic i32 %x, ptr %p syncscope("a") release, align 4',
        "i32 %x, ptr %p, !nontemporal !{i32 1}"]),
    "fence": ("fence $", ["acquire", "release", "acq_rel", "seq_cst", 'syncscope("a") seq_cst']),
    "cmpxchg": ("%r = cmpxchg $", [
        "ptr %p, i32 %x, i32 %y acquire monotonic, align 4",
        "ptr %p, i32 %x, i32 %y acquire acquire, align 4",
        "ptr %p, i32 %x, i32 %y release monotonic, align 4",
        "weak ptr %p, i32 %x, i32 %y acquire monotonic, align 4",
        "volatile ptr %p, i32 %x, i32 %y acquire monotonic, align 4",
        "ptr %p, i32 %y, i32 %x acquire monotonic, align 4",
        "ptr %p, i32 %x, i32 %y acquire monotonic, align 8",
        'ptr %p, i32 %x, i32 %y syncscope("a") acquire monotonic, align 4']),
    "atomicrmw": ("%r = atomicrmw $", [
        "add ptr %p, i32 %x acquire, align 4", "sub ptr %p, i32 %x acquire, align 4",
        "xchg ptr %p, i32 %x acquire, align 4", "umax ptr %p, i32 %x acquire, align 4",
        "uinc_wrap ptr %p, i32 %x acquire, align 4", "usub_sat ptr %p, i32 %x acquire, align 4",
        "add ptr %p, i32 %x release, align 4", "add ptr %p, i32 %x acquire, align 8",
        "volatile add ptr %p, i32 %x acquire, align 4",
        'add ptr %p, i32 %x syncscope("a") acquire, align 4',
        "fadd ptr %p, float %a acquire, align 4"]),
    "getelementptr": ("%r = getelementptr $", [
        "i8, ptr %p, i64 %n", "i16, ptr %p, i64 %n", "inbounds i8, ptr %p, i64 %n",
        "nuw i8, ptr %p, i64 %n", "nusw i8, ptr %p, i64 %n", "inbounds nuw i8, ptr %p, i64 %n",
        "i8, ptr %q, i64 %n", "i8, ptr %p, i32 %x", "{ i8, i16 }, ptr %p, i64 %n, i32 0",
        "{ i8, i16 }, ptr %p, i64 %n, i32 1", "[2 x i8], ptr %p, i64 %n, i64 0"]),
    "vectors": ("%r = $", [
        "extractelement <2 x i32> %v, i32 0", "extractelement <2 x i32> %v, i32 1",
        "extractelement <2 x i32> %v, i32 %x", "insertelement <2 x i32> %v, i32 %x, i32 0",
        "insertelement <2 x i32> %v, i32 %x, i32 1", "insertelement <2 x i32> %v, i32 %y, i32 0",
        "shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 0, i32 1>",
        "shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 0>",
        "shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 poison>",
        "shufflevector <2 x i32> %v, <2 x i32> %v, <2 x i32> <i32 1, i32 0>",
        "shufflevector <2 x i32> %v, <2 x i32> poison, <1 x i32> <i32 0>"]),
    "aggregates": ("%r = $", [
        "extractvalue { i32, { i32, i32 } } %s, 0", "extractvalue { i32, { i32, i32 } } %s, 1",
        "extractvalue { i32, { i32, i32 } } %s, 1, 0", "extractvalue { i32, { i32, i32 } } %s, 1, 1",
        "insertvalue { i32, { i32, i32 } } %s, i32 %x, 0",
        "insertvalue { i32, { i32, i32 } } %s, i32 %x, 1, 0",
        "insertvalue { i32, { i32, i32 } } %s, i32 %y, 1, 0"]),
    "variable arguments": ("%r = va_arg ptr %p, $", ["i32", "i64"]),
    "call": ("%r = $", [
        "call i32 @g(i32 %x)", "call i32 @g(i32 %y)", "call i32 @h(i32 %x)", "call i32 %p(i32 %x)",
        "call fastcc i32 @g(i32 %x)", "call cc 17 i32 @g(i32 %x)", "tail call i32 @g(i32 %x)",
        "notail call i32 @g(i32 %x)", "call i64 @g(i32 %x)", "call i32 (i32, ...) @g(i32 %x)",
        "call i32 (...) @g(i32 %x)", "call i32 @g(i32 %x) nounwind", 'call i32 @g(i32 %x) "a"="b"',
        "call zeroext i32 @g(i32 %x)", "call i32 @g(i32 zeroext %x)", "call i32 @g(i32 noundef %x)",
        "call range(i32 0, 2) i32 @g(i32 %x)", 'call i32 @g(i32 %x) [ "a"(i32 %x) ]',
        'call i32 @g(i32 %x) [ "b"(i32 %x) ]', 'call i32 @g(i32 %x) [ "a"(i32 %y) ]',
        'call i32 @g(i32 %x) [ "a"(i32 %x), "b"() ]', 'call i32 @g(i32 %x) [ "a"(i32 %x, i32 %x) ]',
        "call i32 @g(i32 %x), !callees !{ptr @g}", "call i32 @g(i32 %x), !callees !{ptr @h}"]),
    "float call": ("%r = call $ float @k(float %a)", ["", "fast", "nnan"]),
    "assembly": ("%r = call i32 asm $", [
        '"a", "=r"()', '"b", "=r"()', '"a", "=l"()', 'sideeffect "a", "=r"()',
        'alignstack "a", "=r"()', 'inteldialect "a", "=r"()', 'unwind "a", "=r"()']),
    "metadata operand": ("%r = call i32 @llvm.read_register.i32(metadata !{!$})", ['"a"', '"b"']),
    "switch": ("switch i32 %x, label %other [ $ ]", [
        "", "i32 1, label %other", "i32 2, label %other", "i32 1, label %end",
        "i32 1, label %other i32 2, label %other", "i32 2, label %other i32 1, label %other"]),
    "branch": ("br $", [
        "label %other", "i1 %c, label %other, label %end", "i1 %c, label %end, label %other",
        "i1 true, label %other, label %end", "label %end",
        'i1 %c, label %other, label %end, !prof !{!"branch_weights", i32 1, i32 2}']),
    "indirect branch": ("indirectbr ptr %p, [ $ ]", [
        "label %other", "label %end", "label %other, label %end", "label %end, label %other"]),
    "invoke": ("invoke void @n() to label %$", ["other unwind label %pad", "end unwind label %pad"]),
    "return": ("$", ["ret i32 %x", "ret i32 %y", "unreachable"]),
    "twice": ("$", ["%r = add i32 %x, 1", "%r = add i32 %x, 1\n%t = add i32 %x, 1"]),
}  # fmt: skip

FUNCTION = """
declare i32 @g(i32)
declare i32 @h(i32)
declare float @k(float)
declare void @n()
declare i32 @llvm.read_register.i32(metadata)
define i32 @f(i32 %x, i32 %y, i64 %n, float %a, float %b, ptr %p, ptr %q, i1 %c, <2 x i32> %v,
              { i32, { i32, i32 } } %s) personality ptr @g {
  $
other:
  ret i32 1
end:
  ret i32 2
pad:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}
"""
TERMINATORS = {"switch", "branch", "indirect branch", "invoke", "return"}

# (parts of exception handling, what differs in a whole program)
WHOLE: dict[str, tuple[str, list[str]]] = {
    "landing pad": ("""declare i32 @p(...)
      declare void @n()
      @t = external global i8
      define void @f() personality ptr @p {
        invoke void @n() to label %a unwind label %b
      a:
        ret void
      b:
        %l = landingpad { ptr, i32 } $
        resume { ptr, i32 } %l
      }""", ["cleanup", "catch ptr @t", "cleanup catch ptr @t", "catch ptr null",
             "filter [1 x ptr] [ptr @t]", "catch ptr @t filter [0 x ptr] zeroinitializer",
             "filter [0 x ptr] zeroinitializer catch ptr @t"]),
    "phi": ("""define i32 @f(i1 %c, i32 %x) {
        br i1 %c, label %a, label %b
      a:
        br label %d
      b:
        br label %d
      d:
        %r = phi i32 $
        ret i32 %r
      }""", ["[ 1, %a ], [ 2, %b ]", "[ 2, %a ], [ 1, %b ]", "[ %x, %a ], [ 2, %b ]",
             "[ 2, %b ], [ 1, %a ]"]),
    "block order": ("define void @f(i1 %c) {\n  br i1 %c, label %a, label %b\n$\n}", [
        "a:\n fence acquire\n ret void\nb:\n ret void",
        "b:\n ret void\na:\n fence acquire\n ret void"]),
    "unreachable block": ("define void @f() {\n  ret void\n$\n}", [
        "", "a:\n ret void", "a:\n unreachable", "a:\n br label %a"]),
    "tail call": ("declare void @g(i32)\ndefine void @f(i32 %x) {\n  $ call void @g(i32 %x)\n  ret void\n}", [
        "", "tail", "notail", "musttail"]),
    "unwinding": ("""declare i32 @__CxxFrameHandler3(...)
      declare void @n()
      define void @f() personality ptr @__CxxFrameHandler3 {
        invoke void @n() to label %a unwind label %b
      a:
        ret void
      b:
        %s = catchswitch within none [label %h] unwind $
      h:
        %c = catchpad within %s [ptr null, i32 64, ptr null]
        catchret from %c to label %a
      d:
        %p = cleanuppad within none []
        cleanupret from %p unwind to caller
      }""", ["to caller", "label %d"]),
    "catch": ("""declare i32 @__CxxFrameHandler3(...)
      declare void @n()
      define void @f() personality ptr @__CxxFrameHandler3 {
        invoke void @n() to label %a unwind label %b
      a:
        ret void
      b:
        %s = catchswitch within none [label %h] unwind to caller
      h:
        %c = catchpad within %s [ptr null, i32 $, ptr null]
        catchret from %c to label %a
      }""", ["64", "8"]),
    "callbr": ("""define i32 @f() {
        callbr void asm "", "$
      a:
        ret i32 1
      b:
        ret i32 2
      }""", ['!i"() to label %a [label %b]', '!i"() to label %b [label %a]',
             '!i,!i"() to label %a [label %b, label %b]', '"() to label %a []']),
    "metadata": ("!m = !{!0}\n!0 = $", [
        "!{}", "!{null}", '!{!"a"}', '!{!"b"}', "!{i32 1}", "!{i64 1}", "!{!1}\n!1 = !{}",
        "distinct !{}", "!{!1}\n!1 = distinct !{}", "!{!1, !1}\n!1 = distinct !{}",
        "!{!1, !2}\n!1 = distinct !{}\n!2 = distinct !{}", "distinct !{!0}", "!{!1}\n!1 = !{!0}",
        "!{!1}\n!1 = !{!2}\n!2 = !{!0}", "!{ptr null}", '!{!"a", null}']),
    "alias scopes": ("""define void @f(ptr %p) {
        %a = load i8, ptr %p, !alias.scope !1
        %b = load i8, ptr %p, !alias.scope !$
        ret void
      }
      !0 = distinct !{!0}
      !1 = !{!2}
      !2 = distinct !{!2, !0}
      !3 = !{!4}
      !4 = distinct !{!4, !0}
      !5 = !{!2, !4}""", ["1", "3", "5"]),
}  # fmt: skip


def variants() -> list[pytest.param]:
    cases = {**FIELDS, **WHOLE}
    for name, (body, values) in INSTRUCTIONS.items():
        end = "" if name in TERMINATORS else "\n  ret i32 0"
        cases[f"instruction: {name}"] = (FUNCTION.replace("$", body + end), values)
    return [pytest.param(program, values, id=name) for name, (program, values) in cases.items()]


def fill(program: str, value: str) -> str:
    """Put `value` into the last hole; comdats begin with the same sign."""
    before, after = program.rsplit("$", 1)
    return before + value + after


@pytest.mark.parametrize(("program", "values"), variants())
def test_each_value_counts(program: str, values: list[str]) -> None:
    sources = [fill(program, value) for value in values]
    for i, a in enumerate(sources):
        assert are_same(a, a)
        for b, value in zip(sources[:i], values, strict=False):
            assert not are_same(a, b), (values[i], value)
