"""LLVM IR that imports functions."""

from __future__ import annotations

import pytest

from tests.library.samples import COUNTS, library
from twinjit import Compiler, Library
from twinjit.errors import LibraryError

WEIGH = """
declare i64 @weigh(i64)
@shared = external constant i64
define i64 @main(i64 %x) {
  %w = call i64 @weigh(i64 %x)
  %s = load i64, ptr @shared
  %r = add i64 %w, %s
  ret i64 %r
}
"""  # (weights[x % 4] + 2) / 2 + 40


def test_copies_are_compiled_in(compiler):
    executable = compiler.compile(WEIGH, libraries=[library()])
    assert [executable.main(x) for x in range(4)] == [42, 43, 44, 46]
    assert executable.report.imported == 2
    assert [name for name, _ in executable.key.parts[:2]] == ["llvm", "library"]
    assert compiler.compile(WEIGH, libraries=[library()]).report.tier == "memory"


def test_a_constant_of_the_library_counts(compiler):
    compiler.compile(WEIGH, libraries=[library()])
    other = library(COUNTS.replace(b"constant i64 40", b"constant i64 50"))
    assert compiler.compile(WEIGH, libraries=[other]).main(0) == 52


def test_a_change_elsewhere_does_not(compiler):
    compiler.compile(WEIGH, libraries=[library()])
    elsewhere = library(COUNTS.replace(b"add i64 %old, %x", b"sub i64 %old, %x"))
    assert compiler.compile(WEIGH, libraries=[elsewhere]).report.tier == "memory"


def test_both_languages_get_the_same(tmp_path):
    lib = Library.from_mlir(
        "func.func @twice(%x: i64) -> i64 {\n  %r = arith.addi %x, %x : i64\n  return %r : i64\n}"
    )
    text = (
        "declare i64 @twice(i64)\ndefine i64 @main(i64 %x) {\n"
        "  %r = call i64 @twice(i64 %x)\n  ret i64 %r\n}"
    )
    assert Compiler(cache=tmp_path, libraries=lib).compile(text).main(21) == 42


def test_isolated_workers():
    with Compiler(cache=False, executor="process", libraries=library()) as compiler:
        assert compiler.compile(WEIGH).main(0) == 42
        with pytest.raises(LibraryError, match="mutable static"):
            compiler.compile(WEIGH.replace("@weigh", "@count"))
