"""What differs between two compilations, and what it looks like."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

import twinjit
from tests.nightly import NIGHTLY
from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.code_comparison import compare_artifacts
from twinjit.code_difference import CodeDifference
from twinjit.errors import ArtifactError, TargetError

PROGRAM = """
func.func @store(%a: memref<4xf32>, %x: f32) -> f32 {
  %c = arith.constant 2 : index
  memref.store %x, %a[%c] : memref<4xf32>
  %y = math.exp %x : f32
  return %y : f32
}
func.func @square(%x: i64) -> i64 {
  %z = arith.muli %x, %x : i64
  return %z : i64
}
"""
X86 = ("x86_64-unknown-linux-gnu", "x86-64", "")


def compiled(text: str = PROGRAM, **options: object) -> Artifact:
    target = twinjit.Target("x86_64-unknown-linux-gnu", "x86-64", "")
    compiler = twinjit.Compiler(target=target, cache=False, shared=False, **options)
    return compiler.compile(text)._code.artifact


def under_one_key(artifact: Artifact, other: Artifact) -> Artifact:
    """Put another program's code under an artifact's key, as a compiler at fault would."""
    return Artifact.build(
        key=artifact.key,
        object_code=bytes(other.object_code),
        signatures=other.signatures,
        report=other.report,
        target=other.target,
    )


def difference(text: str, **options: object) -> CodeDifference:
    first = compiled()
    found = compare_artifacts(first, under_one_key(first, compiled(text, **options)))
    assert found
    return found


def test_the_same_code_with_other_times() -> None:
    first, second = compiled(), compiled()
    assert first.report != second.report
    assert compare_artifacts(first, second) is None


def test_the_first_instruction_that_differs() -> None:
    found = difference(PROGRAM.replace("muli", "addi"))
    assert (found.part, found.section, found.function) == ("object", ".text", "square")
    assert "in section .text, function 'square'" in found.what
    assert found.first[0] == "0: movq %rdi, %rax"
    assert "imulq" in found.first[1]
    assert found.second[0].startswith("0: leaq (%rdi,%rdi), %rax")


def test_another_optimisation_level() -> None:
    found = difference(PROGRAM, opt_level=0)
    assert (found.section, found.function) == (".text", "store")
    assert "  # R_X86_64_PLT32 expf-0x4" in str(found)


def test_a_call_of_another_function_is_its_relocation() -> None:
    found = difference(PROGRAM.replace("math.exp", "math.log"))
    assert found.what.startswith("what the code refers to differs in section .text, function")
    assert found.function == "store"
    assert [line for line in found.first if "expf" in line]
    assert [line for line in found.second if "logf" in line]


def test_constants_are_shown_as_bytes() -> None:
    text = """
      func.func @f(%x: f64) -> f64 {{
        %c = arith.constant {} : f64
        %y = arith.addf %x, %c : f64
        return %y : f64
      }}"""
    first = compiled(text.format("0.1"))
    found = compare_artifacts(first, under_one_key(first, compiled(text.format("0.3"))))
    assert found
    assert (found.section[:7], found.function) == (".rodata", "")
    assert found.first[0].startswith("0: 9a 99 99 99 99 99 b9 3f")
    assert found.second[0].startswith("0: 33 33 33 33 33 33 d3 3f")


def test_another_name_is_a_symbol() -> None:
    """Of two names of one length, no code differs."""
    found = difference(PROGRAM.replace("@square", "@sqrare"))
    assert found.what == "the symbols differ in section .text, function 'square', at 0x10"


def test_a_section_that_only_one_has() -> None:
    text = "func.func @f(%x: f32) -> f32 {{ {} return %x : f32 }}"
    more = "memref.global @g : memref<2xf32> = dense<[1., 2.]>\n" + text.format("")
    first = compiled(text.format(""))
    found = compare_artifacts(first, under_one_key(first, compiled(more)))
    assert found
    assert found.what.startswith("the objects have different sections in section .")


def test_keys_are_compared_before_code() -> None:
    found = compare_artifacts(compiled(), compiled(opt_level=1))
    assert found
    assert (found.part, found.what) == ("key", "the keys differ in opt-level")
    assert (found.first, found.second) == (("opt-level: 3",), ("opt-level: 1",))


def test_signatures() -> None:
    artifact = compiled()
    renamed = [{**each, "name": each["name"].upper()} for each in artifact.signatures]
    other = Artifact.build(
        key=artifact.key,
        object_code=bytes(artifact.object_code),
        signatures=renamed,
        report={},
        target=artifact.target,
    )
    found = compare_artifacts(artifact, other)
    assert found
    assert found.part == "signatures"
    assert [json.loads(each)["name"] for each in found.second] == ["STORE", "SQUARE"]


def test_other_sections_but_not_the_stored_program() -> None:
    first = compiled()
    values = {
        "key": first.key,
        "object_code": bytes(first.object_code),
        "signatures": first.signatures,
        "report": {},
        "target": first.target,
    }
    stored = Artifact.build(**values, extras={"program": b"as it was spelt"})
    assert compare_artifacts(first, stored) is None
    lifted = Artifact.build(**values, extras={"constants": b"[]"})
    found = compare_artifacts(first, lifted)
    assert found
    assert found.part == "constants"


def test_a_damaged_object_is_a_difference() -> None:
    first = compiled()
    other = replace(first)
    broken = Artifact.build(
        key=first.key, object_code=b"no ELF", signatures=[], report={}, target=other.target
    )
    found = compare_artifacts(first, broken)
    assert found
    assert "an object is damaged: cannot read the object code" in found.what


def test_a_listing_is_bounded_and_around_the_place() -> None:
    sums = "\n".join(f"%y{n + 1} = arith.divsi %y{n}, %x : i64" for n in range(500))
    code = compiled(
        f"func.func @f(%x: i64, %y0: i64) -> i64 {{ {sums} return %y500 : i64 }}"
    ).object_code
    whole = _llvm.disassemble(code, *X86, ".text", "f", 0, 10_000)
    assert len(whole) > 1000
    assert whole[-1].endswith(": retq")
    for at in (0, 3, 700, len(whole) - 1):
        offset = int(whole[at].partition(":")[0], 16)
        part = _llvm.disassemble(code, *X86, ".text", "f", offset, 16)
        assert 0 < len(part) <= 16
        assert whole[at] in part
        start = whole.index(part[0])
        assert part == whole[start : start + len(part)]


def test_what_is_not_there_has_no_listing() -> None:
    code = compiled().object_code
    assert _llvm.disassemble(code, *X86, ".nowhere", "store", 0, 10) == []
    assert _llvm.disassemble(code, *X86, ".text", "", 10**18, 10) == []
    assert _llvm.disassemble(code, *X86, ".text", "store", 10**18, 10)
    assert _llvm.disassemble(code, *X86, ".text", "store", 0, 0) == []


def test_another_machine_is_an_exception() -> None:
    with pytest.raises(TargetError, match="no code generator for 'riscv64'"):
        _llvm.disassemble(compiled().object_code, "riscv64", "", "", ".text", "store", 0, 10)


def test_damaged_objects_never_end_the_process() -> None:
    random = Random(1)
    whole = bytes(compiled().object_code)
    read = failed = 0
    for _ in range(40_000 if NIGHTLY else 2_000):
        damaged = bytearray(whole)
        for _ in range(random.choice([1, 1, 3, 30])):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        data = bytes(damaged[: random.choice([len(damaged), random.randrange(len(damaged))])])
        try:
            found = _llvm.compare_objects(whole, data)
            if found:
                _, section, function, offset = found
                _llvm.disassemble(data, *X86, section, function, offset, 20)
                _llvm.disassemble(data, *X86, ".text", "store", 0, 20)
            read += 1
        except ArtifactError:
            failed += 1
    assert read
    assert failed


def test_text_shows_both_where_they_differ() -> None:
    found = CodeDifference(
        "object", "it differs", first=("a", "b", "d"), second=("a", "c", "c", "d")
    )
    assert str(found).splitlines() == [
        *("it differs", "    a", "  - b", "  + c", "  + c", "    d"),
    ]
    assert str(CodeDifference("object", "x", first=("a",), second=("a", "a"))) == "x\n    a\n  + a"


def test_data_can_be_read_back() -> None:
    found = CodeDifference("object", "x", ".text", "f", 3, ("a",), ("b", "c"))
    assert CodeDifference.from_data(json.loads(json.dumps(found.to_data()))) == found
