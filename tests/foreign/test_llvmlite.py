"""LLVM IR in llvmlite's hands."""

from __future__ import annotations

from importlib.metadata import version
from types import ModuleType

import pytest

import twinjit
from twinjit.errors import UnsupportedProgramError
from twinjit.source import SourceBytes, open_source


@pytest.fixture
def llvmlite() -> ModuleType:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    import llvmlite.binding
    import llvmlite.ir

    return llvmlite


def test_built_module(llvmlite: ModuleType) -> None:
    module = llvmlite.ir.Module("µ")
    llvmlite.ir.Function(module, llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), ()), "f")
    source = open_source(module)
    assert isinstance(source, SourceBytes)
    assert source.name == f"<llvmlite {version('llvmlite')}>"
    assert (source.language, source.data) == ("llvm", str(module).encode())


def test_parsed_module(llvmlite: ModuleType) -> None:
    module = llvmlite.binding.parse_assembly("define void @f() {\n  ret void\n}")
    source = open_source(module)
    assert isinstance(source, SourceBytes)
    assert source.language == "llvm"
    assert source.data == module.as_bitcode()
    assert source.data.startswith(b"BC\xc0\xde")


def test_only_whole_modules(llvmlite: ModuleType) -> None:
    module = llvmlite.binding.parse_assembly("define void @f() {\n  ret void\n}")
    with pytest.raises(UnsupportedProgramError, match="ValueRef"):
        open_source(module.get_function("f"))
    with pytest.raises(UnsupportedProgramError, match="'mlir'"):
        open_source(module, language="mlir")


def test_compiled(llvmlite: ModuleType) -> None:
    ir = llvmlite.ir
    module = ir.Module("µ")
    type_ = ir.FunctionType(ir.DoubleType(), (ir.DoubleType(), ir.IntType(32)))
    function = ir.Function(module, type_, "scale")
    builder = ir.IRBuilder(function.append_basic_block())
    factor = builder.sitofp(function.args[1], ir.DoubleType())
    builder.ret(builder.fmul(function.args[0], factor))
    built = twinjit.compile(module, cache=False)
    assert built.scale(2.5, -4) == -10
    parsed = llvmlite.binding.parse_assembly(str(module))
    again = twinjit.compile(parsed, cache=False)
    assert (again.key, again.scale(1, 3)) == (built.key, 3)
