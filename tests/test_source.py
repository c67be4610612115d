"""How what is handed in is told apart."""

from __future__ import annotations

import mlir.ir
import pytest

from twinjit.errors import ParseError, UnsupportedProgramError
from twinjit.source import LiveModule, SourceBytes, open_source


def test_text_and_bytes_are_taken_as_they_are():
    assert open_source("module {}") == SourceBytes(b"module {}", "<text>")
    assert open_source("") == SourceBytes(b"", "<text>")
    assert open_source("// µ\n") == SourceBytes("// µ\n".encode(), "<text>")
    for data in (b"module {}", bytearray(b"module {}"), memoryview(b"module {}")):
        assert open_source(data) == SourceBytes(b"module {}", "<bytes>")


def test_paths(tmp_path, monkeypatch):
    path = tmp_path / "program.mlir"
    path.write_bytes(b"module {}")
    assert open_source(path) == open_source(str(path)) == SourceBytes(b"module {}", str(path))
    bare = tmp_path / "program"
    bare.write_bytes(b"\0")
    assert open_source(str(bare)) == SourceBytes(b"\0", str(bare))


@pytest.mark.parametrize("path", ["nowhere.mlir", "nowhere.mlirbc"])
def test_missing_path_is_an_os_error(path):
    with pytest.raises(FileNotFoundError):
        open_source(path)


def test_text_that_is_no_path():
    for text in ("x" * 100_000, "a\0b", 'module attributes {a.b = "c.mlir"} {\n}'):
        assert isinstance(open_source(text), SourceBytes)


def test_text_that_is_no_unicode():
    with pytest.raises(ParseError, match="position 3"):
        open_source("// \ud800\n")


def test_live_modules_and_operations():
    with mlir.ir.Context():
        module = mlir.ir.Module.parse("func.func private @f()")
    assert isinstance(open_source(module), LiveModule)
    (function,) = module.body.operations
    for operation in (module.operation, function, function.operation):
        assert isinstance(open_source(operation), LiveModule)


def test_anything_else_is_refused():
    with pytest.raises(UnsupportedProgramError, match=r"builtins\.int"):
        open_source(1)
