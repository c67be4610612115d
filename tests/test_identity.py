"""Fingerprint and equivalence of programs in any language, by the public functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import llvmlite.binding
import llvmlite.ir
import pytest

import twinjit
from twinjit.errors import ConfigError, ParseError, VerificationError

MLIR = "func.func @f() { return }"
LLVM = "define void @f() {\n  ret void\n}\n"


def test_a_language_is_found_out() -> None:
    assert twinjit.fingerprint(LLVM) == twinjit.fingerprint(LLVM, language="llvm")
    assert twinjit.fingerprint(MLIR) == twinjit.fingerprint(MLIR, language="mlir")
    assert twinjit.fingerprint(LLVM) != twinjit.fingerprint("define void @g() {\n ret void\n}")


def test_programs_of_two_languages_differ() -> None:
    assert not twinjit.equivalent(MLIR, LLVM)
    assert not twinjit.equivalent(LLVM, MLIR)


def test_llvm_ir_in_every_form(tmp_path: Path) -> None:
    module = llvmlite.ir.Module()
    function = llvmlite.ir.Function(
        module, llvmlite.ir.FunctionType(llvmlite.ir.IntType(32), [llvmlite.ir.IntType(32)]), "f"
    )
    builder = llvmlite.ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(builder.add(function.args[0], llvmlite.ir.Constant(llvmlite.ir.IntType(32), 3)))
    parsed = llvmlite.binding.parse_assembly(str(module))
    text, binary = tmp_path / "f.ll", tmp_path / "f.bc"
    text.write_text(str(parsed))
    binary.write_bytes(parsed.as_bitcode())
    forms = [module, parsed, str(module), str(parsed), parsed.as_bitcode(), text, binary]
    assert len({twinjit.fingerprint(form) for form in forms}) == 1
    assert all(twinjit.equivalent(module, form) for form in forms)


def test_a_policy_is_for_llvm_ir_too() -> None:
    a, b = (LLVM.replace("@f", f"@{name}").replace("void", "internal void", 1) for name in "pq")
    rename = twinjit.Policy(private_symbols="rename")
    assert not twinjit.equivalent(a, b)
    assert twinjit.equivalent(a, b, rename)
    assert twinjit.fingerprint(a, rename) == twinjit.fingerprint(b, rename)


def test_bad_llvm_ir() -> None:
    with pytest.raises(ParseError) as caught:
        twinjit.fingerprint("define void @f() {\n  ret vod\n}\n")
    assert (caught.value.diagnostics[0].line, caught.value.diagnostics[0].column) == (2, 7)
    with pytest.raises(VerificationError):
        twinjit.fingerprint("define i32 @f() {\n  %a = add i32 %a, 1\n  ret i32 %a\n}\n")
    with pytest.raises(ConfigError, match="language"):
        twinjit.fingerprint(LLVM, language="rust")


def test_hint_at_unregistered_operations() -> None:
    text = '"my.op"() : () -> ()'
    with pytest.raises(ParseError, match="allow_unregistered=True"):
        twinjit.fingerprint(text)
    with pytest.raises(ParseError) as failed:
        twinjit.fingerprint("func.func @f(")
    assert "allow_unregistered" not in str(failed.value)
    assert twinjit.domain(text, allow_unregistered=True) == ""


@pytest.mark.parametrize("use", [twinjit.fingerprint, twinjit.compile])
def test_hint_at_a_missing_file(use: Callable[[str], object]) -> None:
    with pytest.raises(ParseError) as raised:
        twinjit.fingerprint("x" * 1_000_000)
    assert len(raised.value.message) < 1_000
    with pytest.raises(ParseError, match=r"nor is there a file 'nowhere\.txt'"):
        use("nowhere.txt")
    with pytest.raises(ParseError) as failed:
        use("func.func @f(")
    assert "there a file" not in str(failed.value)
