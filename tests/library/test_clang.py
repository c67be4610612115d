"""Libraries of C."""

from __future__ import annotations

import stat
import sys

import pytest

from tests.library.samples import bitcode, program
from tests.missing import skip_or_fail
from twinjit import Library
from twinjit.errors import LibraryError
from twinjit.library.clang import find_clang

SQUARE = "static int one(void) { return 1; }\nlong square(long x) { return x * x + one(); }\n"


@pytest.fixture
def clang():
    try:
        return find_clang()
    except LibraryError as error:
        skip_or_fail(error.message)


def test_c(tmp_path, compiler, clang):
    source = tmp_path / "helpers.c"
    source.write_text(SQUARE)
    lib = Library.from_c(source, clang=clang)
    assert lib.functions == ("square",)
    assert compiler.compile(program("square"), libraries=lib).main(4) == 17
    flagged = Library.from_c(source, clang=clang, flags=["-Dsquare=cube"])
    assert flagged.functions == ("cube",)


def test_diagnostics(tmp_path, clang):
    source = tmp_path / "wrong.c"
    source.write_text("long square(long x) { return y; }\n")
    with pytest.raises(LibraryError, match="cannot compile") as caught:
        Library.from_c(source, clang=clang)
    assert "undeclared identifier 'y'" in caught.value.diagnostics[0].message


def test_none_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LibraryError, match="no clang in PATH"):
        Library.from_c("helpers.c")
    with pytest.raises(LibraryError, match="no clang-3 in PATH"):
        Library.from_c("helpers.c", clang="clang-3")


def _compiler_script(tmp_path, monkeypatch, name, body):
    script = tmp_path / name
    script.write_text(f"#!{sys.executable}\nimport sys\n{body}")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_what_a_compiler_says_is_told(tmp_path, monkeypatch):
    _compiler_script(tmp_path, monkeypatch, "clang-17", "sys.exit(f'told {sys.argv[-1]}')")
    with pytest.raises(LibraryError, match="status 1") as caught:
        Library.from_c("helpers.c")
    assert caught.value.diagnostics[0].message == "told helpers.c"


def test_bitcode_of_a_newer_llvm(tmp_path, monkeypatch):
    # It can be told from damaged bitcode as little as this, by who wrote it alone.
    data = bytearray(bitcode(b"define i64 @f(i64 %x) {\n  ret i64 %x\n}"))
    newer = tmp_path / "newer.bc"
    newer.write_bytes(data)
    body = (
        f"data = open({str(newer)!r}, 'rb').read()\n"
        "open(sys.argv[sys.argv.index('-o') + 1], 'wb').write(data[:-40])\n"
    )
    _compiler_script(tmp_path, monkeypatch, "clang", body)
    with pytest.raises(LibraryError, match=r"wrote it, and LLVM .* reads bitcode of itself"):
        Library.from_c("helpers.c")
