"""What is imported into programs, and what is not."""

from __future__ import annotations

import pytest

from tests.library.samples import COUNTS, bitcode, caller, library, text_of
from twinjit import ImportPolicy, Library
from twinjit.errors import ConfigError, LibraryError, ParseError


def imported(lib: Library, *names: str) -> tuple[str, tuple[str, ...]]:
    """Import into a program that calls functions; return its text, and what was imported."""
    program, functions = lib.import_into(caller(*names), names)
    return text_of(program), functions


def test_copies_are_internal_with_all_that_they_need():
    text, functions = imported(library(), "weigh")
    assert functions == ("weigh", "add_two")
    assert "define internal i64 @weigh" in text
    assert "define internal i64 @add_two" in text
    assert "define internal i64 @twinjit.library.helper" in text
    assert "@twinjit.library.weights = internal constant [4 x i64]" in text
    assert "declare" not in text


def test_what_the_process_provides_is_only_for_the_optimiser():
    text, functions = imported(library(provided=True), "weigh")
    assert functions == ("weigh", "add_two")
    assert "define available_externally i64 @weigh" in text
    assert "define internal i64 @twinjit.library.helper" in text


def test_a_constant_for_others_is_copied():
    text, functions = imported(library(), "reads_shared")
    assert functions == ("reads_shared",)
    assert "@shared = internal constant i64 40" in text


def test_a_constant_of_the_process_stays_its_own():
    text, _ = imported(library(provided=True), "reads_shared")
    assert "@shared = external constant i64" in text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("apart", "noinline"),
        ("replaceable", "another definition may take its place"),
        ("many", "variable number of arguments"),
        ("count", "mutable static variable 'calls'"),
        ("of_thread", "thread-local variable 'current'"),
        ("jumps", "addresses of its blocks"),
    ],
)
def test_refused_where_the_process_has_its_own(name, reason):
    lib = library(provided=True)
    decision = lib.explain(name)
    assert not decision.imported
    assert reason in decision.reason
    assert imported(lib, name)[1] == ()


@pytest.mark.parametrize("name", ["apart", "replaceable"])
def test_a_copy_of_these_is_as_good(name):
    assert imported(library(), name)[1] == (name,)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("count", "'count' of <bitcode 0> into a program: it uses the mutable static variable"),
        ("calls_count", r"'calls' \(called by 'calls_count'\)"),
        ("of_thread", "thread-local variable 'current'"),
        ("jumps", "addresses of its blocks"),
    ],
)
def test_no_copy_of_state(name, told):
    with pytest.raises(LibraryError, match=told) as caught:
        imported(library(), name)
    assert "provided=True" in caught.value.message


def test_limit_decays_with_distance():
    policy = ImportPolicy(max_instructions=11, decay=0.1)
    decision = library(provided=True, policy=policy).explain("weigh")
    assert decision.imported
    assert [each.imported for each in decision.callees] == [False]
    assert decision.callees[0].reason == "it costs 2 instructions, and may cost 1.1"


def test_constants_cost():
    cheap = library(provided=True, policy=ImportPolicy(max_instructions=10, constant_bytes=32))
    dear = library(provided=True, policy=ImportPolicy(max_instructions=10, constant_bytes=1))
    assert cheap.explain("weigh").cost == 9
    assert not dear.explain("weigh").imported
    assert dear.explain("weigh").cost == 40


def test_a_program_keeps_its_own_definitions():
    program = bitcode(
        b"declare i64 @weigh(i64)\n"
        b"define i64 @add_two(i64 %x) {\n  ret i64 77\n}\n"
        b"define internal i64 @shared(i64 %x) {\n  ret i64 5\n}\n"
        b"define i64 @main(i64 %x) {\n  %a = call i64 @weigh(i64 %x)\n"
        b"  %b = call i64 @shared(i64 %a)\n  ret i64 %b\n}\n"
    )
    text, functions = library().import_into(program, ["weigh"])
    assert functions == ("weigh",)
    assert "ret i64 77" in text_of(text)


@pytest.mark.parametrize("name", ["g", "strlen", "__own"])
def test_a_definition_of_the_program_counts_for_imports(compiler, name):
    opened = library(
        f"""define i64 @{name}(i64 %x) {{ ret i64 1 }}
        define i64 @f(i64 %x) {{
          %y = call i64 @{name}(i64 %x)
          ret i64 %y
        }}""".encode()
    )
    own = f"""declare i64 @f(i64)
    define i64 @{name}(i64 %x) {{ ret i64 2 }}
    define i64 @main(i64 %x) {{
      %y = call i64 @f(i64 %x)
      ret i64 %y
    }}"""
    assert compiler.compile(own, libraries=opened).main(0) == 2


def test_for_another_data_layout():
    opened = library(
        b"""target datalayout = "e-i64:32"
        define i64 @f(i64 %x) { ret i64 %x }"""
    )
    with pytest.raises(LibraryError, match="data layout"):
        opened.import_into(caller("f"), ["f"], "x86_64-unknown-linux-gnu")


def test_a_name_by_chance_is_not_meant():
    program = bitcode(
        b"declare i64 @weigh(i64)\n"
        b"define internal i64 @add_two(i64 %x) {\n  ret i64 77\n}\n"
        b"define i64 @main(i64 %x) {\n  %a = call i64 @weigh(i64 %x)\n"
        b"  %b = call i64 @add_two(i64 %a)\n  ret i64 %b\n}\n"
    )
    result, functions = library().import_into(program, ["weigh"])
    text = text_of(result)
    assert functions == ("weigh", "add_two")
    assert "call i64 @twinjit.library.add_two(" in text


def test_a_declaration_of_another_type_is_replaced():
    program = bitcode(
        b"declare i32 @add_two(i32)\n"
        b"define i32 @main(i32 %x) {\n  %a = call i32 @add_two(i32 %x)\n  ret i32 %a\n}\n"
    )
    text = text_of(library().import_into(program, ["add_two"])[0])
    assert "define internal i64 @add_two(i64" in text


def test_names_of_the_c_library_do_not_reach_the_optimiser():
    lib = library(b"define double @exp(double %x) {\n  ret double 1.0\n}")
    program = bitcode(
        b"declare double @exp(double)\n"
        b"define double @main(double %x) {\n  %r = call double @exp(double %x)\n"
        b"  ret double %r\n}"
    )
    assert "@twinjit.program.exp(" in text_of(lib.import_into(program, ["exp"])[0])


def test_only_what_is_asked_for_and_used():
    lib = library()
    assert imported(lib, "first")[1] == ("first",)
    assert lib.import_into(caller("first"), ["weigh", "missing"])[1] == ()


def test_for_another_machine():
    lib = library(b'target triple = "aarch64-linux-gnu"\ndefine i64 @f(i64 %x) {\n  ret i64 %x\n}')
    with pytest.raises(LibraryError, match="aarch64"):
        lib.import_into(caller("f"), ["f"], "x86_64-unknown-linux-gnu")


def test_explanation_as_text_and_json():
    decision = library().explain("weigh")
    assert str(decision).splitlines() == [
        "weigh (<bitcode 0>): imported: copied with its 8 instructions, 2 static functions and constants counted in",  # noqa: E501 -- as it is told
        "  add_two (<bitcode 0>): imported: copied with its 2 instructions",
    ]
    told = decision.to_json()
    assert told["instructions"] == 8
    assert [each["name"] for each in told["callees"]] == ["add_two"]
    assert [each.name for each in decision.walk()] == ["weigh", "add_two"]


def test_explain_what_is_not_there():
    with pytest.raises(LibraryError, match="defines no function 'helper'"):
        library().explain("helper")


def test_functions_are_those_for_others():
    names = library().functions
    assert "weigh" in names
    assert "helper" not in names
    assert names == tuple(sorted(names))


def test_bad_input():
    with pytest.raises(ParseError):
        library(b"no bitcode")
    with pytest.raises(LibraryError, match="cannot read <bitcode 0>"):
        library(b"BC\xc0\xde" + b"\0" * 40)
    with pytest.raises(ConfigError, match="decay"):
        ImportPolicy(decay=2)
    with pytest.raises(ConfigError, match="constant_bytes"):
        ImportPolicy(constant_bytes=float("nan"))
    with pytest.raises(ConfigError, match="ImportPolicy"):
        library(policy="much")
    with pytest.raises(OSError, match="nowhere"):
        Library.from_bitcode("/nowhere/library.bc")


def test_folder_and_files(tmp_path):
    folder = tmp_path / "bitcode"
    (folder / "deep").mkdir(parents=True)
    with pytest.raises(LibraryError, match="has no bitcode"):
        Library.from_bitcode(folder)
    (folder / "b.bc").write_bytes(bitcode(COUNTS))
    (folder / "deep" / "a.bc").write_bytes(bitcode(b"define i64 @other(i64 %x) {\n  ret i64 %x\n}"))
    opened = Library.from_bitcode(folder)
    assert {"other", "weigh"} <= set(opened.functions)
    one = Library.from_bitcode([folder / "b.bc", folder / "deep" / "a.bc"])
    assert one.identity == opened.identity


def test_of_two_definitions_the_first():
    one = b"define i64 @f(i64 %x) {\n  ret i64 1\n}"
    two = b"define i64 @f(i64 %x) {\n  ret i64 2\n}"
    text, _ = imported(Library.from_bitcode([one, two]), "f")
    assert "ret i64 1" in text
