"""Private symbols that a text may mean by their names, which then count."""

from __future__ import annotations

import pytest

import twinjit
from tests.same_programs import NO_ATTRIBUTES, RENAME
from twinjit import Policy

ANY_ORDER_TOO = Policy(private_symbols="rename", symbol_order="ignore", commutative="ignore")
RENAMED_WITHOUT_ATTRIBUTES = Policy(private_symbols="rename", discardable="ignore")

MLIR = """
  module attributes {{{module}}} {{
    llvm.func internal @{name}() {{ llvm.return }}
    llvm.func @f() attributes {{{function}}} {{
      llvm.inline_asm has_side_effects "{assembly}", "" : () -> ()
      llvm.call @{name}() : () -> ()
      llvm.return
    }}
  }}"""
LLVM = """
  {module}
  define internal void @{name}() {comdat} {{ ret void }}
  define void @f() {function} {{
    call void asm sideeffect "{assembly}", ""()
    call void @{name}()
    ret void
  }}"""


def mlir(name, *, module="", function="", assembly="nop"):
    return MLIR.format(name=name, module=module, function=function, assembly=assembly)


def llvm(name, *, module="", function="", assembly="nop", comdat=""):
    return LLVM.format(
        name=name, module=module, function=function, assembly=assembly, comdat=comdat
    )


TEXTS = {
    "module-assembly": (mlir, {"module": 'llvm.module_asm = ["nop", "call a@PLT"]'}),
    "inline-assembly": (mlir, {"assembly": "call a"}),
    "quoted": (mlir, {"assembly": 'call \\"a\\"'}),
    "passthrough": (mlir, {"function": 'passthrough = [["probe-stack", "a"]]'}),
    "variant": (mlir, {"function": 'passthrough = [["v", "_ZGV_LLVM_N2v_f(a)"]]'}),
    "attribute": (mlir, {"function": 't.callees = [{x = "a"}]'}),
    "llvm-module-assembly": (llvm, {"module": 'module asm "call a"'}),
    "llvm-inline-assembly": (llvm, {"assembly": "call a"}),
    "llvm-attribute": (llvm, {"function": '"probe-stack"="a"'}),
    "llvm-variant": (llvm, {"function": '"variant"="_ZGV_LLVM_N2v_f(a)"'}),
    "llvm-comdat": (llvm, {"module": "$a = comdat any", "comdat": "comdat($a)"}),
}


@pytest.mark.parametrize("policy", [RENAME, ANY_ORDER_TOO], ids=["renamed", "unordered"])
@pytest.mark.parametrize(("write", "text"), TEXTS.values(), ids=TEXTS)
def test_name_in_a_text_counts(write, text, policy):
    assert_different(write("a", **text), write("b", **text), policy)
    assert_same(write("b", **text), write("c", **text), policy)


def assert_different(a, b, policy):
    assert twinjit.fingerprint(a, policy) != twinjit.fingerprint(b, policy)
    assert not twinjit.equivalent(a, b, policy)
    assert len(twinjit.diff(a, b, policy)) > 0


def assert_same(a, b, policy):
    assert twinjit.fingerprint(a, policy) == twinjit.fingerprint(b, policy)
    assert twinjit.equivalent(a, b, policy)
    assert len(twinjit.diff(a, b, policy)) == 0


def test_part_of_a_word_is_no_name():
    assert_same(mlir("a", assembly="call ab"), mlir("b", assembly="call ab"), RENAME)
    assert_same(llvm("a", assembly="call ab"), llvm("b", assembly="call ab"), RENAME)


def test_text_that_does_not_count_names_nothing():
    named, other = mlir("a", function='t.x = "a"'), mlir("b", function='t.x = "z"')
    assert_same(named, other, RENAMED_WITHOUT_ATTRIBUTES)
    assert_different(named, mlir("b", function='t.x = "a"'), NO_ATTRIBUTES)


def test_assembly_finds_what_it_names():
    program = """
      llvm.func internal @seven() -> i64 attributes {no_inline} {
        %0 = llvm.mlir.constant(7 : i64) : i64
        llvm.return %0 : i64
      }
      llvm.mlir.global appending @llvm.used() {section = "llvm.metadata"} : !llvm.array<1 x ptr> {
        %0 = llvm.mlir.undef : !llvm.array<1 x ptr>
        %1 = llvm.mlir.addressof @seven : !llvm.ptr
        %2 = llvm.insertvalue %1, %0[0] : !llvm.array<1 x ptr>
        llvm.return %2 : !llvm.array<1 x ptr>
      }
      llvm.func @f() -> i64 {
        %0 = llvm.call @seven() : () -> i64
        %1 = llvm.inline_asm has_side_effects "call seven",
               "={rax},~{rcx},~{rdx},~{rsi},~{rdi},~{r8},~{r9},~{r10},~{r11},~{memory}"
               : () -> i64
        %2 = llvm.add %0, %1 : i64
        llvm.return %2 : i64
      }"""
    compiler = twinjit.Compiler(policy=RENAME, cache=False)
    assert compiler.compile(program).f() == 14
