"""MLIR and LLVM IR are told apart by content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.live_programs import PROGRAMS, bytecode, generic, parse
from tests.strategies import ArithProgram, arith_programs
from twinjit.errors import ConfigError, UnsupportedProgramError
from twinjit.language import language_of
from twinjit.source import SourceBytes, open_source

CASES = json.loads((Path(__file__).parent / "cases" / "identity.json").read_text())

MLIR = [
    "module {}",
    "module @asm {}",
    "module attributes {a.b} {}",
    "builtin.module {}",
    "func.func private @f()",
    "define.op",  # the dialects could be called so
    "declare.op",
    "target.op @x",
    "source_filename.op",
    "attributes.op #0",
    '"define"() : () -> ()',
    '%0 = "t.o"() : () -> i32',
    '%0:2 = "t.o"() : () -> (i32, i32)',
    '%a, %b = "t.o"() : () -> (i32, i32)',
    "%0 = type.op",
    "%0 = type$op",
    "#map = affine_map<(d0) -> (d0)>",
    "#0 = 1 : i32",
    "!t = i32",
    "!t = !llvm.ptr",
    "!t = !u",
    "!t = !u.v<1>",
    "!t = tuple<i32>",
    "!distinct = i32",
    "// define void @f()\nmodule {}",
    "{-# dialect_resources: {} #-}",
    "nonsense",
    "\x01",
]
LLVM = [
    "; ModuleID = 'x'\n",
    ";",
    "/* */ define void @f() { ret void }",
    "define void @f() { ret void }",
    "define\nvoid @f() { ret void }",
    "declare void @f()",
    'target triple = "x86_64"',
    'source_filename = "x"',
    'module asm "nop"',
    "uselistorder ptr @f, { 1, 0 }",
    "uselistorder_bb @f, %b, { 1, 0 }",
    "attributes #0 = { nounwind }",
    "@x = global i32 0",
    '@"x y" = global i32 0',
    "@0 = global i32 0",
    "$c = comdat any",
    '$"c" = comdat any',
    "%T = type { i32 }",
    "%T = type opaque",
    "%T=type{i32}",
    '%"struct x" = type <{ i32 }>',
    "%0 = type { i32 }",
    "!0 = !{i32 1}",
    "!0 = distinct !{!0}",
    "!0 = !DILocation(line: 1, scope: !1)",
    '!0 = distinct !DISubprogram(name: "f")',
    "!llvm.dbg.cu = !{!0}",
    '^0 = module: (path: "", hash: (0, 0, 0, 0, 0))',
]
BLANKS = st.text(" \t\r\n", max_size=9)


@given(st.sampled_from([*MLIR, *PROGRAMS, *(case["a"] for case in CASES)]), BLANKS)
def test_mlir(program: str | Path, blank: str) -> None:
    text = program if isinstance(program, str) else program.read_text()
    assert language_of(f"{blank}{text}".encode(), "llvm") == "mlir"


@given(st.sampled_from(LLVM), BLANKS)
def test_llvm(text: str, blank: str) -> None:
    assert language_of(f"{blank}{text}".encode()) == "llvm"


@given(st.text(max_size=20), st.sampled_from([*MLIR, *LLVM]))
def test_a_comment_decides(comment: str, text: str) -> None:
    line = comment.replace("\n", "").encode()
    assert language_of(b"//" + line + b"\n" + text.encode()) == "mlir"
    assert language_of(b";" + line + b"\n" + text.encode()) == "llvm"


@given(arith_programs())
def test_printed_mlir(program: ArithProgram) -> None:
    text = program.render(tuple(f"v{i}" for i in range(program.values)))
    module = parse(text)
    for form in (text, str(module), generic(module), str(module.body.operations[0])):
        assert language_of(form.encode()) == "mlir"
    assert language_of(bytecode(module)) == "mlir"


def test_binary_forms() -> None:
    assert language_of(b"ML\xefR\x0d") == "mlir"
    assert language_of(b"BC\xc0\xde\x35") == language_of(b"\xde\xc0\x17\x0b\0") == "llvm"


def test_nothing() -> None:
    for text in (b"", b" \n\t"):
        assert language_of(text) == "mlir"
        assert language_of(text, "llvm") == "llvm"


def test_files(tmp_path: Path) -> None:
    for name, data, language in (
        ("a.ll", b"define void @f() { ret void }", "llvm"),
        ("a.bc", b"BC\xc0\xde", "llvm"),
        ("empty.ll", b"", "llvm"),
        ("empty.mlir", b"", "mlir"),
        ("wrong.ll", b"module {}", "mlir"),
        ("wrong.mlir", b"; LLVM", "llvm"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        assert open_source(str(path)) == SourceBytes(data, str(path), language)


def test_the_caller_may_know_better() -> None:
    text = "; no comment in MLIR"
    assert open_source(text, language="mlir") == SourceBytes(text.encode(), "<text>", "mlir")
    assert open_source(b"", language="llvm") == SourceBytes(b"", "<bytes>", "llvm")
    with pytest.raises(ConfigError, match="'clike'"):
        open_source("", language="clike")
    with pytest.raises(UnsupportedProgramError, match="'llvm'"):
        open_source(parse(""), language="llvm")
