"""Programs that import functions, from miss to call."""

from __future__ import annotations

import pytest

import twinjit
from tests.library.samples import COUNTS, bitcode, library, program
from twinjit import Compiler, Library
from twinjit.errors import ConfigError, LibraryError, UnresolvedSymbolError

WEIGH = program("weigh")  # (weights[x % 4] + 2) / 2


def test_copies_are_compiled_in(compiler):
    executable = compiler.compile(WEIGH, libraries=[library()])
    assert [executable.main(x) for x in range(4)] == [2, 3, 4, 6]
    assert executable.report.imported == 2
    assert "libraries" in executable.report.phases
    assert "2 functions imported" in str(executable.report)
    assert executable.key.parts[1][0] == "library"


def test_without_a_library_the_function_is_missing(compiler):
    with pytest.raises(UnresolvedSymbolError):
        compiler.compile(WEIGH)


@pytest.mark.parametrize("opt_level", [0, 3])
def test_what_the_process_provides_is_looked_at(tmp_path, opt_level):
    # The body here says otherwise than the C library, so that one sees which is used.
    lib = library(b"define i64 @imaxabs(i64 %x) {\n  ret i64 99\n}", provided=True)
    compiler = Compiler(cache=tmp_path, opt_level=opt_level)
    executable = compiler.compile(program("imaxabs"), libraries=lib)
    assert executable.main(-5) == (99 if opt_level else 5)
    assert executable.report.imported == 1


def test_hits(tmp_path):
    one = Compiler(cache=tmp_path)
    assert one.compile(WEIGH, libraries=[library()]).report.tier == "compiled"
    assert one.compile(WEIGH, libraries=[library()]).report.tier == "memory"
    two = Compiler(cache=tmp_path, libraries=library())
    executable = two.compile(WEIGH)
    assert executable.report.tier == "disk"
    assert executable.report.imported == 2
    assert executable.main(3) == 6
    assert two.would_hit(WEIGH)
    assert two.explain(WEIGH).direct


def test_a_change_elsewhere_is_a_hit_and_one_in_a_callee_a_miss(compiler):
    compiler.compile(WEIGH, libraries=[library()])
    elsewhere = library(COUNTS.replace(b"add i64 %old, %x", b"sub i64 %old, %x"))
    assert compiler.compile(WEIGH, libraries=[elsewhere]).report.tier == "memory"
    callee = library(COUNTS.replace(b"add i64 %x, 2", b"add i64 %x, 4"))
    changed = compiler.compile(WEIGH, libraries=[callee])
    assert changed.report.tier == "compiled"
    assert changed.main(0) == 3


def test_a_program_that_calls_nothing_of_it_is_the_same_as_without(compiler):
    text = "func.func @main(%x: i64) -> i64 { return %x : i64 }"
    compiler.compile(text)
    assert compiler.compile(text, libraries=[library()]).report.tier == "memory"


def test_live_modules(compiler):
    ir = pytest.importorskip("mlir.ir")
    with ir.Context():
        module = ir.Module.parse(WEIGH)
        assert compiler.compile(module, libraries=[library()]).main(1) == 3
        again = compiler.compile(module, libraries=[library()])
        assert again.report.tier == "memory"
        future = compiler.submit(module, libraries=[library()])
    assert future.result().report.tier == "memory"


def test_submitted_with_different_libraries(compiler):
    other = library(COUNTS.replace(b"add i64 %x, 2", b"add i64 %x, 4"))
    futures = [compiler.submit(WEIGH, libraries=each) for each in (library(), other)]
    assert [each.result().main(0) for each in futures] == [2, 3]


def test_several_libraries(compiler):
    one = library(
        b"declare i64 @inner(i64)\ndefine i64 @outer(i64 %x) {\n"
        b"  %r = call i64 @inner(i64 %x)\n  %s = add i64 %r, 1\n  ret i64 %s\n}"
    )
    two = library(
        b"declare i64 @deep(i64)\ndefine i64 @inner(i64 %x) {\n"
        b"  %r = call i64 @deep(i64 %x)\n  %s = add i64 %r, 10\n  ret i64 %s\n}\n"
        b"define i64 @outer(i64 %x) {\n  ret i64 0\n}"
    )
    three = library(b"define i64 @deep(i64 %x) {\n  %r = add i64 %x, 100\n  ret i64 %r\n}")
    text = program("outer")
    first = compiler.compile(text, libraries=[one, two, three])
    assert (first.main(0), first.report.imported) == (111, 3)
    assert compiler.compile(text, libraries=[two, one, three]).main(0) == 0
    changed = library(b"define i64 @deep(i64 %x) {\n  %r = add i64 %x, 200\n  ret i64 %r\n}")
    assert compiler.compile(text, libraries=[one, two, changed]).main(0) == 211


def test_state_is_refused(compiler):
    with pytest.raises(LibraryError, match="mutable static variable 'calls'"):
        compiler.compile(program("calls_count"), libraries=[library()])


def test_what_is_no_library(compiler):
    with pytest.raises(ConfigError, match="no library"):
        compiler.compile(WEIGH, libraries=["helpers.c"])
    with pytest.raises(ConfigError, match="no library"):
        Compiler(cache=False, libraries=[COUNTS])
    for given in ("helpers.bc", b"BC", 3):
        with pytest.raises(ConfigError, match=f"libraries is {given!r}, which is no library; give"):
            compiler.compile(WEIGH, libraries=given)


def test_repr():
    text = b"define void @f() { ret void }"
    assert repr(Library.from_bitcode(text)) == "<twinjit.Library of 1 file>"
    several = Library.from_bitcode([text, text], provided=True)
    assert repr(several) == "<twinjit.Library of 2 files, provided>"


def test_what_is_no_bitcode():
    text = "define void @f() { ret void }"
    for given in (text, [text], "define void @f()\n{ ret void }"):
        with pytest.raises(ConfigError, match=r"no path; give .* as bytes: text.encode\(\)"):
            Library.from_bitcode(given)
    for given in (3, [3], None):
        with pytest.raises(ConfigError, match="give paths or bytes"):
            Library.from_bitcode(given)
    with pytest.raises(LibraryError, match=r"no function 'g' .* functions lists"):
        Library.from_bitcode(text.encode()).explain("g")


def test_flags_are_a_list(tmp_path):
    with pytest.raises(ConfigError, match=r"flags is '-O1 -g'; give a list.*'-O1', '-g'"):
        Library.from_c(tmp_path / "helpers.c", flags="-O1 -g")


def test_mlir_library(compiler):
    lib = Library.from_mlir(
        "func.func @twice(%x: i64) -> i64 {\n  %r = call @add(%x) : (i64) -> i64\n"
        "  return %r : i64\n}\n"
        "func.func private @add(%x: i64) -> i64 {\n  %r = arith.addi %x, %x : i64\n"
        "  return %r : i64\n}"
    )
    assert "twice" in lib.functions
    assert compiler.compile(program("twice"), libraries=lib).main(21) == 42


def test_isolated_workers(tmp_path):
    path = tmp_path / "library.bc"
    path.write_bytes(bitcode(COUNTS))
    by_path, by_bytes = Library.from_bitcode(path), library()
    with Compiler(cache=False, executor="process") as compiler:
        assert compiler.compile(WEIGH, libraries=by_path).main(1) == 3
        assert compiler.compile(program("add_two"), libraries=by_bytes).main(1) == 3
        with pytest.raises(LibraryError, match="mutable static"):
            compiler.compile(program("count"), libraries=by_bytes)
        path.write_bytes(bitcode(COUNTS.replace(b"i64 7", b"i64 8")))
        changed = Library.from_bitcode(path)
        path.write_bytes(bitcode(COUNTS.replace(b"i64 7", b"i64 9")))
        with pytest.raises(LibraryError, match="changed since it was opened"):
            compiler.compile(WEIGH, libraries=changed)


def test_executors(tmp_path):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        compiler = Compiler(cache=False, executor=pool)
        assert compiler.compile(WEIGH, libraries=library()).main(1) == 3
        path = tmp_path / "library.bc"
        path.write_bytes(bitcode(COUNTS))
        lost = Library.from_bitcode(path)
        path.unlink()
        with pytest.raises(LibraryError, match="travel by path"):
            compiler.compile(program("add_two"), libraries=lost)


def test_default_compiler_takes_libraries():
    assert twinjit.compile(WEIGH, libraries=(library(),), cache=False).main(1) == 3
