"""Programs in xDSL's hands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
from hypothesis import given, settings

import twinjit
from tests.foreign.bundles import parse_xdsl
from tests.live_programs import PROGRAMS, attribute
from tests.strategies import ArithProgram, arith_programs
from twinjit import reader
from twinjit.errors import UnfingerprintableError, UnsupportedProgramError
from twinjit.source import open_source

pytest.importorskip("xdsl", reason="xdsl is not installed")

TEXTS = {path.stem: path.read_text() for path in PROGRAMS}
# What xDSL does not parse: custom syntax of some operations; sparse elements; debug info.
UNPARSED = {"affine", "debug", "llvm", "memref", "policies", "symbols", "unregistered"}

ATTRIBUTES = [
    "[-0.0 : f32, 0.0 : f32, 1.0e-45 : f32, 1.0e+30 : f32, 0.1 : f64, 1.0e-07 : f16, 0.1 : bf16]",
    "[0x7FC00000 : f32, 0x7F800000 : f32, 0xFF800000 : f32, 16777217.0 : f32]",
    "dense<[0.0, -0.0]> : tensor<2xf32>",
    "dense<-0.0> : tensor<2xf32>",
    "dense<[[0.5, 1.0], [1.0e-07, 2.0]]> : tensor<2x2xf32>",
    f"dense<{[i % 2 == 0 for i in range(150)]}> : tensor<150xi1>".lower(),
    f"dense<{list(range(150))}> : tensor<150xindex>",
    f"dense<{list(range(-8, 8)) * 10}> : tensor<160xi4>",
    f"dense<{[i / 8 for i in range(150)]}> : tensor<150xf32>",
    "dense<(0.5, -0.0)> : tensor<2xcomplex<f32>>",
    "dense<[]> : tensor<0xi32>",
    "dense<1> : tensor<i32>",
    "array<f32: -0.0, 1.0e-07>",
    "[-1 : i8, 255 : ui8, -1 : si8, true, 340282366920938463463374607431768211455 : i128]",
    r'["\00\22\5C", "naïve", "{-#", @"a b"::@c, {"a b" = unit, c = 1 : index}]',
    "[affine_map<(d0)[s0] -> (d0 floordiv 2, s0)>, affine_set<(d0) : (d0 >= 0)>, i32, (i32) -> ()]",
    "[#u.v<1>, !u.v<w>, #u.v]",
]


def read(program: Any) -> reader.Reading:
    return reader.read(open_source(program))


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - UNPARSED))
def test_fingerprint_is_ours(name: str) -> None:
    module = parse_xdsl(TEXTS[name])
    before = str(module)
    assert twinjit.fingerprint(module) == twinjit.fingerprint(TEXTS[name], allow_unregistered=True)
    assert read(module).domain == ""
    assert str(module) == before


@pytest.mark.parametrize("value", ATTRIBUTES)
def test_attribute(value: str) -> None:
    text = attribute(value)
    expected = twinjit.fingerprint(text, allow_unregistered=True)
    assert twinjit.fingerprint(parse_xdsl(text)) == expected


def test_nan_among_elements() -> None:
    """Which xDSL does not parse."""
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32

    module = parse_xdsl(attribute("1"))
    elements = DenseIntOrFPElementsAttr.from_list(TensorType(f32, [2]), [float("nan"), 1.0])
    module.body.ops.first.attributes["a"] = elements
    text = attribute("dense<[0x7FC00000, 1.0]> : tensor<2xf32>")
    assert twinjit.fingerprint(module) == twinjit.fingerprint(text, allow_unregistered=True)


def test_what_xdsl_cannot_print() -> None:
    with pytest.raises(UnsupportedProgramError, match="cannot print the program: NotImpl"):
        twinjit.fingerprint(parse_xdsl(attribute("3.0 : f80")))


def test_all_attributes_differ() -> None:
    found = {twinjit.fingerprint(parse_xdsl(attribute(value))) for value in ATTRIBUTES}
    assert len(found) == len(ATTRIBUTES)


@settings(max_examples=40, deadline=None)
@given(arith_programs())
def test_programs(program: ArithProgram) -> None:
    text = program.render(tuple(f"v{i}" for i in range(program.values)))
    assert twinjit.fingerprint(parse_xdsl(text)) == twinjit.fingerprint(text)


def test_unregistered_operations_are_not_touched() -> None:
    text = """"t.o"() <{p = 1 : i32}> ({
      "t.i"() {q = 2 : i32} : () -> ()
    }) {z = 0 : i32} : () -> ()"""
    module = parse_xdsl(text)
    attributes = [list(each.attributes) for each in module.walk()]
    assert twinjit.fingerprint(module) == twinjit.fingerprint(text, allow_unregistered=True)
    assert [list(each.attributes) for each in module.walk()] == attributes


def test_single_operations() -> None:
    text = "func.func @f(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  return %y : i32\n}"
    (function,) = parse_xdsl(text).body.ops
    assert twinjit.fingerprint(function) == twinjit.fingerprint(text)
    addition = next(iter(function.body.ops))
    uses = list(addition.operands[0].uses)
    with pytest.raises(UnsupportedProgramError, match="values from outside of it"):
        twinjit.fingerprint(addition)
    (inner,) = parse_xdsl('func.func @f(%x: i32) {\n  "t.o"(%x) : (i32) -> ()\n}').body.ops
    with pytest.raises(UnsupportedProgramError, match="outside of it"):
        twinjit.fingerprint(next(iter(inner.body.ops)))
    assert list(addition.operands[0].uses) == uses


def test_resources() -> None:
    text = """"t.o"() {{a = dense_resource<{}> : tensor<1xi32>}} : () -> ()
        {{-# dialect_resources: {{ builtin: {{ {}: "0x0400000001000000" }} }} #-}}"""
    module = parse_xdsl(text.format("test_xdsl", "test_xdsl"))
    expected = twinjit.fingerprint(text.format("k", "k"), allow_unregistered=True)
    assert twinjit.fingerprint(module) == expected
    with pytest.raises(UnfingerprintableError, match="no data"):
        twinjit.fingerprint(parse_xdsl(attribute("dense_resource<nothing> : tensor<1xi32>")))


def test_domain() -> None:
    text = '%0 = "test.op"() : () -> !test.type<"{}">'
    one, two = (parse_xdsl(text.format(name)) for name in "ab")
    assert read(one).domain == f"xdsl {version('xdsl')}: test"
    assert twinjit.fingerprint(one) == twinjit.fingerprint(parse_xdsl(text.format("a")))
    assert twinjit.fingerprint(one) != twinjit.fingerprint(two)
    data = open_source(one).data
    assert twinjit.fingerprint(data, allow_unregistered=True) != twinjit.fingerprint(one)


def test_diff() -> None:
    same, other = (parse_xdsl(f'"test.op"() {{a = {n}}} : () -> ()') for n in (1, 2))
    text = '"test.op"() {a = 1} : () -> ()'
    assert not twinjit.diff(same, same)
    (value,) = twinjit.diff(same, other)
    assert (value.path[-1], value.a, value.b) == ("attribute a", "1 : i64", "2 : i64")
    (package,) = twinjit.diff(same, text, allow_unregistered=True)
    known = f"xdsl {version('xdsl')}: test"
    assert (package.path, package.a, package.b) == (("package",), known, "any")
    assert not twinjit.equivalent(same, text, allow_unregistered=True)


def test_property_that_mlir_has_renamed() -> None:
    """XDSL has ``inbounds``, which MLIR 22 has among ``noWrapFlags``."""
    text = """llvm.func @f(%p: !llvm.ptr) -> !llvm.ptr {
      %0 = llvm.getelementptr inbounds %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.return %0 : !llvm.ptr
    }"""
    module = parse_xdsl(text)
    assert read(module).domain == f"xdsl {version('xdsl')}: llvm"
    with pytest.raises(UnsupportedProgramError, match="'inbounds'"):
        twinjit.compile(module, cache=False)


def test_compiles(compiler: twinjit.Compiler) -> None:
    text = (
        "func.func @twice(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}"
    )
    assert compiler.compile(parse_xdsl(text)).twice(21) == 42


def test_locations() -> None:
    module = parse_xdsl("func.func private @f()")
    assert b"loc(" not in open_source(module).data
    assert b"loc(unknown)" in open_source(module, locations=True).data
