"""Outlines of LLVM modules: what a diff is told."""

from __future__ import annotations

import pytest

from tests.llvmir.modules import DEFAULT, KEEP_LOCATIONS, POLICIES, PROGRAMS, parse
from twinjit.outline import Field, Record
from twinjit.policy import Policy

TEXT = """@data = private constant [2 x i8] c"ab"
define i32 @f(i32 %x, i1 %c) {
entry:
  br i1 %c, label %then, label %done
then:
  %y = add nsw i32 %x, 1
  br label %done
done:
  %r = phi i32 [ %x, %entry ], [ %y, %then ]
  ret i32 %r
}
"""


def outline(text: str, policy: Policy = DEFAULT) -> list[Record]:
    return [
        Record(*record[:6], tuple(Field(*field) for field in record[6]), record[7])
        for record in parse(text).outline(policy.text)
    ]


def test_tree() -> None:
    records = outline(TEXT)
    assert [(record.depth, record.kind, record.label, record.symbol) for record in records] == [
        (0, "module", "module", ""),
        (1, "global", "global", "data"),
        (1, "function", "function", "f"),
        (2, "block", "block", ""),
        (3, "instruction", "br", ""),
        (2, "block", "block", ""),
        (3, "instruction", "add", ""),
        (3, "instruction", "br", ""),
        (2, "block", "block", ""),
        (3, "instruction", "phi", ""),
        (3, "instruction", "ret", ""),
    ]


def test_fields_and_identities() -> None:
    records = outline(TEXT)
    function, add = records[2], records[6]
    assert function.defines == ((0, "%x"), (1, "%c"))
    assert [(field.name, field.text, field.references) for field in add.fields] == [
        ("result type", "i32", ()),
        ("flags", "nsw", ()),
        ("operand 0", "i32 %x", (0,)),
        ("operand 1", "i32 1", ()),
    ]
    assert [name for _, name in add.defines] == ["%y"]
    phi = {field.name: field for field in records[9].fields}
    assert phi["operand 1"].references == (add.defines[0][0],)
    assert phi["incoming block 0"].references == (records[3].defines[0][0],)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_names_of_fields_are_unique_and_references_defined(policy: Policy) -> None:
    for path in PROGRAMS:
        records = outline(path.read_text(), policy)
        defined = [identity for record in records for identity, _ in record.defines]
        assert len(set(defined)) == len(defined)
        for record in records:
            names = [field.name for field in record.fields]
            assert len(set(names)) == len(names), (path.stem, record)
            for field in record.fields:
                assert set(field.references) <= set(defined), (path.stem, record, field)
                assert len(field.digest) == 32


def test_one_inserted_instruction_changes_its_own_digests_only() -> None:
    longer = TEXT.replace("  %y = add", "  %z = mul i32 %x, %x\n  %y = add")
    a, b = outline(TEXT), outline(longer)
    inserted = [record.label for record in b].index("mul")
    assert [[f[:2] for f in record.fields] for record in a] == [
        [f[:2] for f in record.fields] for record in b[:inserted] + b[inserted + 1 :]
    ]


def test_digests_of_whole_functions() -> None:
    def digests(text: str, policy: Policy = DEFAULT) -> dict[str, bytes]:
        return {record.symbol: record.digest for record in outline(text, policy) if record.symbol}

    more = "@other = global i8 0\n" + TEXT.replace("%y", "%renamed")
    assert digests(TEXT).items() <= digests(more).items()
    assert all(len(digest) == 32 for digest in digests(TEXT).values())
    assert digests(TEXT)["f"] != digests(TEXT.replace("nsw ", ""))["f"]
    use = "@g = private global i8 0\ndefine ptr @f() { ret ptr @g }"
    assert digests(use)["f"] != b""
    assert digests(use, Policy(private_symbols="rename"))["f"] == b""


def test_renamed_symbols_are_identities() -> None:
    use = "@g = private global i8 0\ndefine ptr @f() { ret ptr @g }"
    _, variable, _, _, ret = outline(use, Policy(private_symbols="rename"))
    assert variable.symbol == ""
    assert variable.defines == ((ret.fields[0].references[0], "@g"),)


@pytest.mark.parametrize("policy", [DEFAULT, KEEP_LOCATIONS], ids=["default", "locations"])
def test_places(policy: Policy) -> None:
    path = next(path for path in PROGRAMS if path.stem == "debug")
    records = outline(path.read_text(), policy)
    assert next(r for r in records if r.label == "store").location == "debug.c:5:2"
    assert next(r for r in records if r.kind == "function").location == "debug.c:3:0"


def test_texts_that_nobody_reads_to_their_end_are_cut() -> None:
    (assembly,) = outline(f'module asm "{"é" * 40_000}"')[0].fields
    assert assembly.text == f"{'é' * 32_768}… (80001 bytes)"


def test_long_constants_are_not_printed() -> None:
    number = ", ".join(["i32 1", *["i32 2"] * 999])
    (field,) = (
        f
        for f in outline(f"@g = global [1000 x i32] [{number}]")[1].fields
        if f.name == "initializer"
    )
    assert field.text == "[1000 x i32] …"
