"""Libraries that a ThinLTO summary index is about; PostgreSQL installs some."""

from __future__ import annotations

import shutil

import pytest

from tests.library.postgres import postgres_bitcode
from tests.library.samples import bitcode
from twinjit import Library
from twinjit._native import _llvm
from twinjit.errors import LibraryError


def installed(tmp_path, name="refint"):
    """Copy an extension's folder and index; return the folder's path."""
    source = postgres_bitcode().parent / name
    shutil.copytree(source, tmp_path / name)
    shutil.copy(f"{source}.index.bc", tmp_path)
    return tmp_path / name


def test_names_come_from_the_index_and_modules_are_read_later(tmp_path):
    folder = installed(tmp_path)
    (module,) = folder.glob("*.bc")
    assert Library.from_bitcode(folder, provided=True).defines("check_primary_key")
    module.write_bytes(b"BC\xc0\xde" + bytes(40))
    lib = Library.from_bitcode(folder, provided=True)
    assert not lib.defines("unheard_of")
    with pytest.raises(LibraryError, match=f"cannot read {folder.name}/{module.name}"):
        lib.explain("check_primary_key")


def test_an_index_is_found_by_its_own_name(tmp_path):
    folder = installed(tmp_path)
    by_index = Library.from_bitcode(f"{folder}.index.bc")
    assert by_index.identity == Library.from_bitcode(folder).identity


def test_all_of_a_server_is_found_where_its_symbols_are():
    folder = postgres_bitcode()
    by_index = Library.from_bitcode(folder, provided=True)
    by_symbols = Library.from_bitcode([folder / "utils" / "adt" / "numeric.bc"], provided=True)
    for name in by_symbols.functions:
        assert by_index.explain(name).file == "postgres/utils/adt/numeric.bc"


def test_what_is_no_index(tmp_path):
    path = tmp_path / "library.index.bc"
    path.write_bytes(bitcode(b"define i64 @f(i64 %x) {\n  ret i64 %x\n}"))
    with pytest.raises(LibraryError, match="names no modules"):
        Library.from_bitcode(path)
    path.write_bytes(b"BC\xc0\xde" + bytes(40))
    with pytest.raises(LibraryError, match="cannot read the summary index"):
        Library.from_bitcode(path)


def test_an_index_that_changes_meanwhile(tmp_path):
    data = (postgres_bitcode().parent / "refint.index.bc").read_bytes()
    lib = _llvm.Library(_llvm.BitcodeFiles(), data, None, 1 << 20)
    for _ in range(2):
        with pytest.raises(LibraryError, match="changed while the library was opened"):
            lib.explain(["check_primary_key"])
