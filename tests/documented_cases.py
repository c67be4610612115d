"""Pairs of programs behind the tables of docs/identity.md: by name from tests/cases, or here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live_programs import bytecode, loop, parse
from tests.llvmir.modules import parse as parse_llvm


@dataclass(frozen=True)
class Pair:
    """Two programs, and how to compare them."""

    a: Any
    b: Any
    policy: dict[str, Any] = field(default_factory=dict)
    allow_unregistered: bool = False


_FOLDER = Path(__file__).parent / "cases"
_NAMED = {
    case["name"]: Pair(case["a"], case["b"], case["policy"], case.get("allow_unregistered", False))
    for path in sorted(_FOLDER.glob("*.json"))
    for case in json.loads(path.read_text())
}


def named(*names: str) -> list[Pair]:
    return [_NAMED[name] for name in names]


def _edited(text: str, *replacements: tuple[str, str], **policy: Any) -> list[Pair]:
    """A program, and each of what the replacements make of it."""
    assert all(old in text for old, _ in replacements)
    return [Pair(text, text.replace(old, new), policy) for old, new in replacements]


_ADD = "func.func @f(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"

_LOOP = """func.func @f(%n: index, %m: index, %p: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %BOUND {
    %x = memref.load %p[%i] : memref<?xf32>
    memref.store %x, %p[%n] : memref<?xf32>
  }
  return
}"""


def _loops(step: str, other_step: str) -> list[Pair]:
    return [Pair(loop(_LOOP.replace("BOUND", step)), loop(_LOOP.replace("BOUND", other_step)))]


def _resources(one: str, two: str) -> str:
    data = ", ".join(f'{key}: "0x0400000001000000"' for key in sorted({one, two}))
    uses = f"[dense_resource<{one}> : tensor<1xi32>, dense_resource<{two}> : tensor<1xi32>]"
    return (
        f'"t.o"() {{a = {uses}}} : () -> ()\n{{-# dialect_resources: {{builtin: {{{data}}}}} #-}}'
    )


MLIR = {
    "other names of values, blocks, arguments": named("ssa_names", "block_labels"),
    "pretty or generic syntax; aliases; order of attributes": named(
        "pretty_and_generic", "alias_expanded", "attribute_order"
    ),
    "text, bytecode, a live module": [Pair(_ADD, bytecode(parse(_ADD))), Pair(_ADD, parse(_ADD))],
    "blocks listed in another order": named("blocks_relisted", "unreachable_exchanged"),
    "a block that cannot be reached, or none": named("unreachable_none_or_one"),
    "other order of operations": named("graph_order"),
    "successors or operands exchanged": named("successors_swapped", "commutative_kept"),
    "an outer value used in a region, another one instead": named("captured_value"),
    "in a graph region, a use before the definition, of another value": named(
        "graph_forward_reference"
    ),
    "a loop and the same loop on other outer values of the same types, each handed over alone": [
        Pair(
            loop(_LOOP.replace("BOUND", "m")),
            loop(
                _LOOP.replace("BOUND", "m")
                .replace("%n", "%k")
                .replace("%c0 to %k", "%k to %c0")
                .replace("%p[%k]", "%p[%c0]")
            ),
        )
    ],
    "a loop that uses one outer value twice, or two": _loops("n", "m"),
    "no region, or an empty one": named("empty_region"),
    "type of an unused result": named("unused_result_type"),
    "flags in properties: `overflow<nsw>`, a GEP's `nuw`": named("overflow_flags", "gep_flags"),
    "attributes of an operation that MLIR does not know": named("unregistered_attribute"),
    "`1 : i32`, `1 : si32`; `0.0`, `-0.0`; NaNs of other payloads": named(
        "integer_signedness", "negative_zero", "nan_payload"
    ),
    "integers of more than 64 bits that differ in the high word": named("big_integer_high_word"),
    '`"x\\00y"`, `"x"`; `["ab", "c"]`, `["a", "bc"]`': named("string_with_nul", "array_boundaries"),
    "`dense<[1, 1]>`, `dense<1>`": named("splat_spelling"),
    "a resource by another key": named("resource_renamed"),
    "one resource twice, or two of the same bytes": [
        Pair(_resources("k", "k"), _resources("k", "other"), allow_unregistered=True)
    ],
    "a resource's bytes changed, its key kept": named("resource_bytes"),
    "`distinct[0]<…>`, `distinct[7]<…>`": named("distinct_renumbered"),
    "one distinct attribute twice, or two": named("distinct_shared", "distinct_across_functions"),
    "an identified LLVM struct with another body": named("named_struct_body", "struct_recursive"),
    "memref layouts, tensor encodings, memory spaces": named(
        "memref_layout", "attribute_encoding", "attribute_memory_space"
    ),
    "names of symbols, private ones too": named("public_symbol", "private_not_renamed_by_default"),
    "order of functions": named("function_order"),
    "discardable attributes of operations, arguments, modules": named(
        "module_attribute", "discardable_arguments_kept"
    ),
    "locations, names in them": named("locations", "location_name_ignored"),
}

_F = "define i32 @f(i32 %x, ptr %p) {\n  $\n  ret i32 0\n}\n"
_G = "define float @f(float %x) {\n  ret float 0.0\n}\n"
_TWO = "define void @f() {\n  ret void\n}\n", "define void @g() {\n  ret void\n}\n"
_METADATA = "!a = !{!0}\n!b = !{!1}\n!0 = distinct !{}\n!1 = distinct !{}"
_BRANCHES = """define i32 @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}"""
_RELISTED = _BRANCHES.replace(
    "a:\n  ret i32 1\nb:\n  ret i32 2", "b:\n  ret i32 2\na:\n  ret i32 1"
)


def _line(*texts: str, **policy: Any) -> list[Pair]:
    """A function with one or the other instruction."""
    a, b = (_F.replace("$", text) for text in texts)
    return [Pair(a, b, policy)]


LLVM = {
    "other names of values, blocks, arguments": named("value_names"),
    "other names of struct types, as after reading in a context in use": named("struct_names"),
    "one name of a struct type, another body": named("struct_bodies"),
    "text or bitcode": [Pair(_F.replace("$", ""), parse_llvm(_F.replace("$", "")).bitcode())],
    "other numbers of metadata, attribute groups, unnamed symbols": [
        *named("metadata_number", "attribute_group_number"),
        Pair("@0 = global i8 0\n@g = global ptr @0", "@7 = global i8 0\n@g = global ptr @7"),
    ],
    "order of uses (`uselistorder`)": [
        Pair("define void @f(i32 %x) {\n %a = add i32 %x, 1\n %b = add i32 %x, 2\n ret void\n}",
             "define void @f(i32 %x) {\n %a = add i32 %x, 1\n %b = add i32 %x, 2\n ret void\n"
             " uselistorder i32 %x, { 1, 0 }\n}")
    ],
    "order of attached and of named metadata": [
        Pair("!a = !{}\n!b = !{}", "!b = !{}\n!a = !{}"),
        *(Pair(f"{each.a}!0 = !{{}}", f"{each.b}!0 = !{{}}")
          for each in _line("%v = load i8, ptr %p, !a !0, !noundef !0",
                            "%v = load i8, ptr %p, !noundef !0, !a !0")),
    ],
    '`zeroinitializer` or zeros; `c"ab"` or numbers; `1.0` or its bits': [
        Pair("@g = global [2 x i8] zeroinitializer", "@g = global [2 x i8] [i8 0, i8 0]"),
        Pair('@g = global [2 x i8] c"ab"', "@g = global [2 x i8] [i8 97, i8 98]"),
        Pair("@g = global double 1.0", "@g = global double 0x3FF0000000000000"),
    ],
    "types, comdats and metadata that nothing uses": _edited(
        "@g = global i8 0\n",
        *(("@g", f"{more}\n@g")
          for more in ("%T = type { i8 }", "$c = comdat any", "!0 = !{i32 1}")),
    ),
    "`source_filename`": named("source_filename"),
    "debug info, or none": [
        Pair("define void @f() !dbg !1 {\n ret void, !dbg !5\n}\n!llvm.dbg.cu = !{!2}\n"
             "!llvm.module.flags = !{!4}\n"
             "!1 = distinct !DISubprogram(unit: !2, type: !6, spFlags: DISPFlagDefinition)\n"
             "!2 = distinct !DICompileUnit(language: DW_LANG_C, file: !3)\n"
             '!3 = !DIFile(filename: "f", directory: "d")\n'
             '!4 = !{i32 2, !"Debug Info Version", i32 3}\n!5 = !DILocation(line: 1, scope: !1)\n'
             "!6 = !DISubroutineType(types: !7)\n!7 = !{}", "define void @f() {\n ret void\n}")
    ],
    "`nsw`, `nuw`, `exact`, fast-math flags": [
        *named("nsw"),
        *_line("%a = add i32 %x, 1", "%a = add nuw i32 %x, 1"),
        *_line("%a = udiv i32 %x, 2", "%a = udiv exact i32 %x, 2"),
        *_line("%a = fadd float 1.0, 2.0", "%a = fadd nnan float 1.0, 2.0"),
    ],
    "alignment of an access": named("alignment"),
    "a function's attributes": named("attribute_added"),
    "the content of metadata such as `!range`; that it is there": [
        *named("metadata_value"),
        *_edited(_NAMED["metadata_value"].a, (", !range !0", "")),
    ],
    "one distinct node in two places, or two": _edited(_METADATA, ("!b = !{!1}", "!b = !{!0}")),
    "`undef`, `poison`": named("poison_undef"),
    "`0.0`, `-0.0`": _edited(_G, ("0.0", "-0.0")),
    "contents of a constant, private ones too": named("private_constant_value"),
    "names of symbols, private ones too": [
        Pair(*_TWO),
        Pair("@a = private constant i8 1\n@p = global ptr @a",
             "@b = private constant i8 1\n@p = global ptr @b"),
    ],
    "linkage": named("linkage"),
    "target triple, or none": [
        *named("triple"),
        Pair(_TWO[0], 'target triple = "unknown-unknown-unknown"\n' + _TWO[0]),
    ],
    "order of functions and globals": [Pair("".join(_TWO), "".join(reversed(_TWO)))],
    "blocks listed in another order": [Pair(_BRANCHES, _RELISTED)],
    "operands of `add` exchanged": _line("%a = add i32 %x, 1\n%b = add i32 %x, %a",
                                         "%a = add i32 %x, 1\n%b = add i32 %a, %x"),
}  # fmt: skip

_TABLE = "@t = private constant [2 x i8] {}\n@p = global ptr @t"

POLICIES = {
    ("a private function with a body by another name", "private_symbols"): named("private_symbol"),
    ("a private declaration by another name", "private_symbols"): named("private_declaration"),
    ("functions listed in another order", "symbol_order"): named("order_of_public"),
    ("an attribute that a dialect attached, or none", "discardable"): named("discardable_ignored"),
    ("the same", "discardable"): named("discardable_named"),
    ("an inherent attribute", "discardable"): named("discardable_never_inherent"),
    ("operands of `arith.addi` exchanged", "commutative"): named("commutative_ignored"),
    ("operands of `arith.subi` exchanged", "commutative"): named("commutative_not"),
    ("the outermost module's name", "module_name"): named("module_name"),
    ("a nested module's name", "module_name"): named("module_name_nested"),
    ("other locations", "locations"): named("locations_kept"),
    ("other elements of a large constant", "constants"): named("constant_lifted"),
    ("other type of a large constant", "constants"): named("constant_type"),
    ("LLVM IR: a private constant by another name", "private_symbols"): named(
        "private_constant_name"
    ),
    ("LLVM IR: functions listed in another order", "symbol_order"): [
        Pair("".join(_TWO), "".join(reversed(_TWO)), {"symbol_order": "ignore"})
    ],
    ("LLVM IR: `!range`, or none", "discardable"): _edited(
        _NAMED["metadata_value"].a, (", !range !0", ""), discardable="ignore"
    ),
    ("LLVM IR: operands of `add` exchanged", "commutative"): _line(
        "%a = add i32 %x, 1\n%b = add i32 %x, %a",
        "%a = add i32 %x, 1\n%b = add i32 %a, %x",
        commutative="ignore",
    ),
    ("LLVM IR: `source_filename`", "locations"): [
        Pair(each.a, each.b, {"locations": "keep"}) for each in named("source_filename")
    ],
    ("LLVM IR: other elements of a large private constant", "constants"): [
        Pair(_TABLE.format('c"ab"'), _TABLE.format('c"ac"'), {"constants": "lift", "lift_bytes": 2})
    ],
}
