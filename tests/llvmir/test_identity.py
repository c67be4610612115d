"""The identity of LLVM modules: what does not count, and what the policy lets not count."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.llvmir.modules import (
    DEFAULT,
    KEEP_LOCATIONS,
    LOOSEST,
    POLICIES,
    PROGRAMS,
    are_same,
    fingerprint,
    parse,
    shape,
)
from twinjit.errors import PolicyError
from twinjit.policy import Policy

HERE = Path(__file__).parent
CASES = json.loads((HERE.parent / "cases" / "identity-llvm.json").read_text())

# Of the format's version 1. A change here is a change of the format: raise kVersion in
# native/llvmir/identity.cpp, say what changed there, and only then pin the new digests.
GOLDEN = json.loads((HERE.parent / "golden" / "fingerprints-llvm.json").read_text())


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    same = are_same(case["a"], case["b"], **case["policy"])
    assert same == (case["expect"] == "equal"), case["why"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
class TestOneProgram:
    def test_golden_digests(self, path: Path) -> None:
        found = {name: fingerprint(path.read_bytes(), policy) for name, policy in POLICIES.items()}
        assert found == GOLDEN[path.stem]

    @pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
    def test_every_form(self, path: Path, policy: Policy) -> None:
        module = parse(path.read_bytes())
        expected = module.fingerprint(policy.text)
        bitcode = module.bitcode()
        offset = 20
        header = [0x0B17C0DE, 0, offset, len(bitcode), 7]
        wrapped = b"".join(word.to_bytes(4, "little") for word in header) + bitcode
        for form in (str(module), bitcode, wrapped, str(parse(bitcode))):
            again = parse(form)
            assert again.fingerprint(policy.text) == expected
            assert again.equivalent(module, policy.text)
            assert shape(again, policy) == shape(module, policy)
        assert module.fingerprint(policy.text) == expected, "asked again"

    def test_program_is_not_changed(self, path: Path) -> None:
        module = parse(path.read_bytes())
        before = str(module), module.bitcode()
        for policy in POLICIES.values():
            module.fingerprint(policy.text)
            module.outline(policy.text)
        assert (str(module), module.bitcode()) == before

    def test_numbers_of_metadata_and_attribute_groups(self, path: Path) -> None:
        text = str(parse(path.read_bytes()))
        renumbered = re.sub(r"(?m)(?<=[!#])(\d+)\b(?![^\"\n]*\"[^\"]*$)",
                            lambda match: str(int(match[1]) * 3 + 7), text)  # fmt: skip
        assert renumbered != text or "!0" not in text
        assert fingerprint(renumbered, KEEP_LOCATIONS) == fingerprint(text, KEEP_LOCATIONS)


def test_another_process() -> None:
    code = (
        "from tests.llvmir.modules import PROGRAMS, POLICIES, fingerprint\n"
        "for path in PROGRAMS:\n"
        "    for name, policy in POLICIES.items():\n"
        "        print(path.stem, name, fingerprint(path.read_bytes(), policy))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parent.parent, capture_output=True, check=True
    )
    assert output.stderr == b""
    lines = [line.split() for line in output.stdout.decode().splitlines()]
    assert lines == [
        [program, name, digest] for program, of in GOLDEN.items() for name, digest in of.items()
    ]


def test_names_of_values_and_types() -> None:
    text = (HERE / "programs" / "memory.ll").read_text()
    renamed = re.sub(r"%(\w+)", r"%renamed.\1", text).replace("entry:", "renamed.entry:")
    assert are_same(text, renamed)


def test_domain_and_policy_are_part_of_it() -> None:
    module = parse("define void @f() { ret void }")
    digests = {module.fingerprint(policy.text) for policy in POLICIES.values()}
    digests |= {module.fingerprint(DEFAULT.text, domain) for domain in ("", "a", "b")}
    assert len(digests) == len(POLICIES) + 2


def test_policy_must_be_one() -> None:
    with pytest.raises(PolicyError):
        parse("").fingerprint("{}")


SAME = {
    "order of uses": ("define void @f(i32 %x) {\n %a = add i32 %x, 1\n %b = add i32 %x, 2\n ret void\n}",
                      "define void @f(i32 %x) {\n %a = add i32 %x, 1\n %b = add i32 %x, 2\n ret void\n uselistorder i32 %x, { 1, 0 }\n}"),
    "width of enumerators": ("!m = !{!0}\n!0 = !DIEnumerator(name: \"A\", value: 1)", "!m = !{!0}\n!0 = !DIEnumerator(name: \"A\", value: 01)"),
    "comments and spaces": ("@g = global i8 0", "; text\n@g   =   global\n i8 0 ; more"),
    "attribute groups": ("declare void @f() nounwind cold", "declare void @f() #3\nattributes #3 = { cold nounwind }"),
    "order of attachments": ("define i8 @f(ptr %p) {\n %v = load i8, ptr %p, !a !0, !noundef !0\n ret i8 %v\n}\n!0 = !{}",
                             "define i8 @f(ptr %p) {\n %v = load i8, ptr %p, !noundef !0, !a !0\n ret i8 %v\n}\n!0 = !{}"),
    "kinds seen before": ("define i8 @f(ptr %p) {\n %v = load i8, ptr %p, !a !0, !b !0\n ret i8 %v\n}\n!0 = !{}",
                          "define i8 @f(ptr %p) {\n %v = load i8, ptr %p, !b !0, !a !0\n ret i8 %v\n}\n!0 = !{}"),
    "order of named metadata": ("!a = !{}\n!b = !{}", "!b = !{}\n!a = !{}"),
    "unused metadata": ("!0 = !{i32 1}", ""),
    "unused comdat": ("$c = comdat any", ""),
    "unused type": ("%T = type { i8 }", ""),
    "spelling of zero": ("@g = global [2 x i8] zeroinitializer", "@g = global [2 x i8] [i8 0, i8 0]"),
    "spelling of data": ('@g = global [2 x i8] c"ab"', "@g = global [2 x i8] [i8 97, i8 98]"),
    "spelling of numbers": ("@g = global double 1.0", "@g = global double 0x3FF0000000000000"),
    "splat": ("@g = global <2 x i8> splat (i8 1)", "@g = global <2 x i8> <i8 1, i8 1>"),
    "names of literal types": ("%T = type { i8 }\n@g = external global %T", "@g = external global { i8 }"),
    "opaque types": ("%T = type opaque\n@g = external global %T", "%U = type opaque\n@g = external global %U"),
    "implied DSO-local": ("@g = internal global i8 0", "@g = internal dso_local global i8 0"),
    "numbers of unnamed symbols": ("@0 = global i8 0\n@g = global ptr @0", "@7 = global i8 0\n@g = global ptr @7"),
    "attributes of intrinsics": ("declare i32 @llvm.umax.i32(i32, i32)", "declare i32 @llvm.umax.i32(i32, i32) nounwind"),
    "debug intrinsics": ("declare void @llvm.dbg.value(metadata, metadata, metadata)", ""),
    "distinct nodes": ("!m = !{!0, !1}\n!0 = distinct !{}\n!1 = distinct !{!0}", "!m = !{!9, !3}\n!3 = distinct !{!9}\n!9 = distinct !{}"),
    "cycles": ("!m = !{!0}\n!0 = !{!1}\n!1 = !{!0, i8 1}", "!m = !{!5}\n!4 = !{!5, i8 1}\n!5 = !{!4}"),
}  # fmt: skip


@pytest.mark.parametrize(("a", "b"), [pytest.param(*pair, id=name) for name, pair in SAME.items()])
def test_does_not_count(a: str, b: str) -> None:
    assert are_same(a, b)
    assert are_same(a, b, locations="keep")


class TestLocations:
    TEXT = (HERE / "programs" / "debug.ll").read_text()

    def stripped(self) -> str:
        text = re.sub(r"(?m)^ *#dbg_.*\n", "", self.TEXT)
        text = re.sub(r", !(dbg|DIAssignID|heapallocsite) !\d+| !dbg !10", "", text)
        text = re.sub(r"(?m)^!(llvm\.dbg\.cu|other) = .*\n", "", text)
        return text.replace("!{!4, !5, !6}", "!{!6}").replace("!50, !34, !35, !51", "!50, !51")

    def test_without_debug_info(self) -> None:
        with_it = re.sub(r"(?m)^!other = .*\n", "", self.TEXT)
        assert are_same(with_it, self.stripped())
        assert not are_same(with_it, self.stripped(), locations="keep")

    def test_source_file(self) -> None:
        a, b = 'source_filename = "a"', 'source_filename = "b"'
        assert are_same(a, b)
        assert not are_same(a, b, locations="keep")
        assert are_same(a, b, locations="keep", module_name="ignore")

    def test_loop_with_lines_alone(self) -> None:
        loop = """define void @f() !dbg !1 {
            br label %a
          a:
            br label %a$
          }
          !llvm.dbg.cu = !{!2}
          !llvm.module.flags = !{!4}
          !0 = distinct !{!0, !5}
          !1 = distinct !DISubprogram(unit: !2, type: !6, spFlags: DISPFlagDefinition)
          !2 = distinct !DICompileUnit(language: DW_LANG_C, file: !3, emissionKind: FullDebug)
          !3 = !DIFile(filename: "f", directory: "d")
          !4 = !{i32 2, !"Debug Info Version", i32 3}
          !5 = !DILocation(line: 1, scope: !1)
          !6 = !DISubroutineType(types: !7)
          !7 = !{}
          """
        assert are_same(loop.replace("$", ", !llvm.loop !0"), loop.replace("$", ""))
        assert not are_same(loop.replace("$", ", !llvm.loop !{}"), loop.replace("$", ""))

    @pytest.mark.parametrize(
        "loop",
        [
            "!50 = !{}",
            "!50 = distinct !{!51, !34}",
            "!50 = distinct !{!50, !34, !52}\n!52 = distinct !{}",
        ],
    )
    def test_odd_loops_survive_dropped_debug_info(self, loop: str) -> None:
        text = re.sub(r"(?m)^!other = .*\n", "", self.TEXT)
        good = text.replace("!50 = distinct !{!50, !34, !35, !51}", loop)
        bad = good.replace("file: !1, producer", "file: !17, producer")
        assert len({text, good, bad}) == 3
        assert are_same(good, bad)

    def test_broken_debug_info_is_dropped_as_llvm_does(self) -> None:
        text = re.sub(r"(?m)^!other = .*\n", "", self.TEXT)
        misplaced = text.replace("#dbg_label(!33, !31)", "#dbg_label(!33, !11)")
        broken = text.replace("file: !1, producer", "file: !17, producer")
        no_subprogram = text.replace("ptr %p) !dbg !10", "ptr %p) !dbg !0")
        ill_typed = text.replace("inlinedAt: !39", "inlinedAt: !0")
        outdated = text.replace('"Debug Info Version", i32 3', '"Debug Info Version", i32 2')
        for bad in (misplaced, broken, no_subprogram, ill_typed, outdated):
            assert bad != text
            assert are_same(bad, self.stripped())


class TestSymbols:
    def test_renamed(self) -> None:
        a = """@x = private constant i8 1
          @y = internal global ptr @x
          define internal void @f() { ret void }
          define ptr @g() { call void @f() ret ptr @y }"""
        b = a.replace("@x", "@one").replace("@y", "@two").replace("@f", "@three")
        assert not are_same(a, b)
        assert are_same(a, b, private_symbols="rename")
        assert not are_same(a, b.replace("@g", "@h"), private_symbols="rename")
        assert not are_same(a, b.replace("ret ptr @two", "ret ptr @one"), private_symbols="rename")

    def test_declarations_keep_their_names(self) -> None:
        a, b = "declare void @f()", "declare void @g()"
        assert not are_same(a, b, private_symbols="rename")

    def test_any_order(self) -> None:
        parts = [
            "@a = global i8 0", "@b = global ptr @c", "@c = internal global ptr @f",
            "@d = internal constant i8 3", "@unused = internal constant i8 4",
            "@unused2 = private constant i8 5", "@e = alias i8, ptr @a",
            "define internal void @f() { ret void }", "define ptr @g() { ret ptr @d }",
            "define internal void @dead() { call void @f() ret void }",
        ]  # fmt: skip
        for seed in range(20):
            shuffled = random.Random(seed).sample(parts, len(parts))
            a, b = "\n".join(parts), "\n".join(shuffled)
            assert are_same(a, b, symbol_order="ignore")
            renamed = re.sub(r"@(c|d|f|dead|unused2?)\b", r"@\1.1", b)
            assert are_same(a, renamed, symbol_order="ignore", private_symbols="rename")
            assert not are_same(a, renamed, symbol_order="ignore")

    def test_twins_told_apart_by_use(self) -> None:
        text = "@a = internal global i8 0\n@b = internal global i8 0\n@p = global ptr @$\n@q = global ptr @$"
        uses = [text.replace("$", x, 1).replace("$", y) for x in "ab" for y in "ab"]
        loose = {"symbol_order": "ignore", "private_symbols": "rename"}
        assert are_same(uses[0], uses[3], **loose)
        assert are_same(uses[1], uses[2], **loose)
        assert not are_same(uses[0], uses[1], **loose)

    def test_names_that_llvm_reserves(self) -> None:
        a = '@llvm.x = internal global i8 0, section "llvm.metadata"'
        assert not are_same(a, a.replace("llvm.x", "llvm.y"), private_symbols="rename")


class TestCommutative:
    @pytest.mark.parametrize("operation", [
        "add i32", "mul i32", "and i32", "or i32", "xor i32", "icmp eq i32", "icmp ne i32",
    ])  # fmt: skip
    def test_operands(self, operation: str) -> None:
        text = f"define void @f(i32 %x, i32 %y) {{\n  %r = {operation} $\n  ret void\n}}"
        forms = [
            text.replace("$", operands) for operands in ("%x, %y", "%y, %x", "%x, 1", "%x, %x")
        ]
        assert not are_same(forms[0], forms[1])
        assert are_same(forms[0], forms[1], commutative="ignore")
        assert not are_same(forms[0], forms[2], commutative="ignore")
        assert not are_same(forms[0], forms[3], commutative="ignore")

    def test_others_have_an_order(self) -> None:
        for operation in ("sub i32", "shl i32", "udiv i32", "icmp ult i32"):
            text = f"define void @f(i32 %x, i32 %y) {{\n  %r = {operation} $\n  ret void\n}}"
            assert not are_same(text.replace("$", "%x, %y"), text.replace("$", "%y, %x"),
                                commutative="ignore")  # fmt: skip

    def test_intrinsics(self) -> None:
        text = """declare i32 @llvm.umin.i32(i32, i32)
          define i32 @f(i32 %x, i32 %y) {
            %r = call i32 @llvm.umin.i32(i32 $)
            ret i32 %r
          }"""
        a, b = text.replace("$", "%x, i32 %y"), text.replace("$", "%y, i32 %x")
        assert are_same(a, b, commutative="ignore")
        a, b = text.replace("$", "noundef %x, i32 %y"), text.replace("$", "noundef %y, i32 %x")
        assert not are_same(a, b, commutative="ignore")

    def test_operands_defined_later(self) -> None:
        text = """define i32 @f(i32 %x) {
            br label %a
          b:
            %r = add i32 $
            ret i32 %r
          a:
            %p = add i32 %x, 1
            %q = add i32 %x, 2
            br label %b
          }"""
        assert are_same(text.replace("$", "%p, %q"), text.replace("$", "%q, %p"),
                        commutative="ignore")  # fmt: skip

    def test_constant_expressions(self) -> None:
        text = """@a = $ global i8 1
          @b = $ global i8 2
          define i64 @f() {
            ret i64 xor (i64 ptrtoint (ptr @! to i64), i64 ptrtoint (ptr @? to i64))
          }
          define i64 @g() {
            ret i64 sub (i64 xor (i64 xor (i64 ptrtoint (ptr @? to i64), i64 ptrtoint (ptr @! to
              i64)), i64 ptrtoint (ptr @g to i64)), i64 ptrtoint (ptr @a to i64))
          }"""
        for linkage in ("", "internal"):
            a = text.replace("$", linkage).replace("!", "a").replace("?", "b")
            b = text.replace("$", linkage).replace("!", "b").replace("?", "a")
            assert not are_same(a, b)
            for order in ("keep", "ignore"):
                for names in ("keep", "rename"):
                    loose = {"symbol_order": order, "private_symbols": names}
                    assert are_same(a, b, commutative="ignore", **loose)


class TestDiscardable:
    TEXT = """define i8 @f(ptr %p) !prof !1 {
        %v = load i8, ptr %p, !range !0, !mine !{}
        ret i8 %v
      }
      @g = external global i8, !absolute_symbol !2
      !0 = !{i8 0, i8 1}
      !1 = !{!"function_entry_count", i64 1}
      !2 = !{i64 0, i64 256}"""

    @pytest.mark.parametrize(("attachment", "kind"), [
        (", !range !0", "range"), (", !mine !{}", "mine"), (" !prof !1", "prof")])  # fmt: skip
    def test_attachments(self, attachment: str, kind: str) -> None:
        without = self.TEXT.replace(attachment, "")
        assert not are_same(self.TEXT, without)
        assert are_same(self.TEXT, without, discardable="ignore")
        assert are_same(self.TEXT, without, discardable=[kind])
        assert not are_same(self.TEXT, without, discardable=["other"])

    def test_what_places_a_symbol_is_no_hint(self) -> None:
        without = self.TEXT.replace(", !absolute_symbol !2", "")
        assert not are_same(self.TEXT, without, discardable="ignore")
        assert not are_same(self.TEXT, without, discardable=["absolute_symbol"])


class TestLifted:
    def test_bytes(self) -> None:
        text = "@g = private constant [4 x i32] [i32 1, i32 2, i32 3, i32 $]"
        a, b = text.replace("$", "4"), text.replace("$", "5")
        assert not are_same(a, b)
        assert are_same(a, b, constants="lift", lift_bytes=16)
        assert not are_same(a, b, constants="lift", lift_bytes=17)

    @pytest.mark.parametrize(("a", "b"), [
        ("@g = private constant [2 x i8] c\"ab\"", "@g = private constant [2 x i16] [i16 1, i16 2]"),
        ("@g = private constant [2 x i8] c\"ab\"", "@g = private constant [3 x i8] c\"abc\""),
        ("@g = constant [2 x i8] c\"ab\"", "@g = constant [2 x i8] c\"ac\""),
        ("@g = private global [2 x i8] c\"ab\"", "@g = private global [2 x i8] c\"ac\""),
        ("@g = private constant [2 x i8] c\"aa\"", "@g = private constant [2 x i8] c\"bb\""),
        ("@g = private constant [2 x i8] c\"ab\"", "@g = private constant [2 x i8] zeroinitializer"),
    ])  # fmt: skip
    def test_what_still_counts(self, a: str, b: str) -> None:
        assert not are_same(a, b, constants="lift", lift_bytes=1)


def test_threads() -> None:
    modules = [parse(path.read_bytes()) for path in PROGRAMS]
    results: list[list[str]] = []
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        found = []
        for a, b in zip(modules, reversed(modules), strict=True):
            a.equivalent(b, LOOSEST.text)
            b.equivalent(a, LOOSEST.text)
            found.append(a.fingerprint(DEFAULT.text).hex())
        results.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [GOLDEN[path.stem]["default"] for path in PROGRAMS]
    assert results == [expected] * 4
