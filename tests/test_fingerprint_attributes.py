"""What attributes and types are, to the fingerprint."""

from __future__ import annotations

import gc

import mlir.ir as ir
import numpy as np
import pytest
from mlir.dialects import llvm

from tests.live_programs import attribute, fingerprint, parse
from twinjit.errors import UnfingerprintableError


def same(a: str, b: str) -> bool:
    return fingerprint(attribute(a)) == fingerprint(attribute(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("1 : i128", f"{2**64 + 1} : i128"),
        (f"{2**999} : i1000", f"{2**998} : i1000"),
        ("-1 : i64", "-1 : si64"),
        ("1 : i64", "1 : index"),
        ("1 : i1", "0 : i1"),
        ("0.0 : f32", "-0.0 : f32"),
        ("0.0 : f16", "0.0 : bf16"),
        ("0x7FC00000 : f32", "0x7FC00001 : f32"),
        ("0x7FF0000000000001 : f64", "0x7FF8000000000001 : f64"),
        ("0.0 : f8E4M3FN", "0.0 : f8E4M3FNUZ"),
        ('"x\\00y"', '"x\\00z"'),
        ('"x"', '"x" : i32'),
        ("@a::@b", "@a"),
        ("@a::@b", '@"a::@b"'),
        ("[]", "{}"),
        ("[1, 2]", "[[1], 2]"),
        ("unit", "[]"),
        ("dense<1> : tensor<2xi32>", "dense<1> : vector<2xi32>"),
        ("dense<1> : tensor<2xi32>", "dense<1> : tensor<3xi32>"),
        ("dense<[0x7FC00000, 1.0]> : tensor<2xf32>", "dense<[0x7FC00001, 1.0]> : tensor<2xf32>"),
        ("dense<[true, false]> : tensor<2xi1>", "dense<[false, true]> : tensor<2xi1>"),
        ('dense<["a", "bc"]> : tensor<2x!t.s>', 'dense<["ab", "c"]> : tensor<2x!t.s>'),
        ("array<i8: 1, 0>", "array<i16: 1>"),
        ("array<i32>", "array<i64>"),
        ("sparse<[[0]], [1]> : tensor<4xi32>", "sparse<[[1]], [1]> : tensor<4xi32>"),
        ("strided<[1], offset: ?>", "strided<[1], offset: 0>"),
        ("affine_map<(d0, d1) -> (d0)>", "affine_map<(d0) -> (d0)>"),
        ("affine_map<(d0)[s0] -> (d0 floordiv s0)>", "affine_map<(d0)[s0] -> (d0 ceildiv s0)>"),
        ("affine_set<(d0) : (d0 >= 0)>", "affine_set<(d0) : (d0 == 0)>"),
        ("#unknown<a>", "#unknown<b>"),
        ("#unknown<a>", "#other<a>"),
        ("!unknown<a>", "#unknown<a>"),
        ("!unknown<a>", "!unknown<b>"),
        ("() -> i32", "(i32) -> ()"),
        ("vector<4xi32>", "vector<[4]xi32>"),
        ("vector<[4]x4xi32>", "vector<4x[4]xi32>"),
        ("tensor<4xi32>", "tensor<4xi32, 1>"),
        ("tensor<*xi32>", "memref<*xi32>"),
        ("memref<4xi32>", "memref<4xi32, 1>"),
        ("memref<4xi32, 1 : i32>", "memref<4xi32, 1 : i64>"),
        ("memref<*xi32>", "memref<*xi32, 1>"),
        ("tuple<i32, tuple<i32>>", "tuple<tuple<i32>, i32>"),
        ("!llvm.ptr", "!llvm.ptr<1>"),
        ("!llvm.func<void (i32)>", "!llvm.func<void (i32, ...)>"),
        ("!llvm.struct<(i8, i32)>", "!llvm.struct<packed (i8, i32)>"),
        ("!llvm.array<2 x i8>", "!llvm.array<3 x i8>"),
        ('!llvm.target<"a", i32, 1>', '!llvm.target<"a", i32, 2>'),
        ("#arith.fastmath<nnan>", "#arith.fastmath<ninf>"),
        ('loc("a.py":1:2)', 'loc("a.py":1:3)'),
        ('loc(fused<"m">["a", "b"])', 'loc(fused<"n">["a", "b"])'),
    ],
)
def test_different(a: str, b: str) -> None:
    assert not same(a, b)
    assert same(a, a)
    assert same(b, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("dense<true> : tensor<3xi1>", "dense<[true, true, true]> : tensor<3xi1>"),
        ("dense<5> : tensor<1xi32>", "dense<[5]> : tensor<1xi32>"),
        ("dense<1> : tensor<2xi16>", 'dense<"0x01000100"> : tensor<2xi16>'),
        ('dense<"a"> : tensor<2x!t.s>', 'dense<["a", "a"]> : tensor<2x!t.s>'),
        ("dense<[]> : tensor<0xi32>", "dense<> : tensor<0xi32>"),
        ("0x3F800000 : f32", "1.0 : f32"),
        ("memref<4x4xi32>", "memref<4x4xi32, affine_map<(i, j) -> (i, j)>>"),
        ("affine_map<(i, j) -> (i + j)>", "affine_map<(x, y) -> (x + y)>"),
        ("{b = 1, a = 2}", "{a = 2, b = 1}"),
        ('!llvm.struct<"S", (i32, ptr)>', '!llvm.struct<"S", (i32, !llvm.ptr)>'),
    ],
)
def test_spelled_otherwise(a: str, b: str) -> None:
    assert same(a, b)


class TestDistinctAttributes:
    """They have an identity and no name, wherever they hide."""

    # DLTI does not tell MLIR's walkers what its attributes hold.
    @pytest.mark.parametrize("form", ["{}", "[{}]", '#dlti.map<"k" = {}>'])
    def test_identity_counts(self, form: str) -> None:
        def program(*numbers: int) -> str:
            parts = [form.format(f"distinct[{number}]<1 : i32>") for number in numbers]
            return "{" + ", ".join(f"a{i} = {part}" for i, part in enumerate(parts)) + "}"

        assert same(program(0, 1), program(8, 3))
        assert same(program(0, 0), program(4, 4))
        assert not same(program(0, 0), program(0, 1))
        assert not same(program(0, 1, 0), program(0, 1, 1))

    def test_identity_counts_across_forms(self) -> None:
        form = '[distinct[0]<unit>, distinct[1]<unit>, #dlti.map<"k" = distinct[{}]<unit>>]'
        assert not same(form.format(0), form.format(1))
        assert not same(form.format(1), form.format(2))

    def test_content_counts(self) -> None:
        assert not same("distinct[0]<1 : i32>", "distinct[0]<2 : i32>")


def resource(data: str, key: str = "k", form: str = "{}") -> str:
    use = form.format(f"dense_resource<{key}> : tensor<2xi32>")
    return attribute(use) + f'\n{{-# dialect_resources: {{ builtin: {{ {key}: "0x{data}" }} }} #-}}'


class TestResources:
    @pytest.mark.parametrize("form", ["{}", "[{}]", '#dlti.map<"k" = {}>'])
    def test_bytes_count(self, form: str) -> None:
        one = fingerprint(resource("040000000100000002000000", form=form))
        assert one == fingerprint(resource("040000000100000002000000", form=form))
        assert one != fingerprint(resource("040000000100000003000000", form=form))

    @pytest.mark.parametrize("form", ["{}", "[{}]"])
    def test_key_does_not_count(self, form: str) -> None:
        data = "040000000100000002000000"
        one = fingerprint(resource(data, form=form))
        assert one == fingerprint(resource(data, key="other", form=form))

    def test_alignment_counts(self) -> None:
        data = "0100000002000000"
        assert fingerprint(resource("04000000" + data)) != fingerprint(resource("40000000" + data))

    def test_missing_data_is_refused(self, capfd: pytest.CaptureFixture[str]) -> None:
        for form in ("{}", "[{}]", '#dlti.map<"k" = {}>'):
            module = parse(attribute(form.format("dense_resource<gone> : tensor<2xi32>")))
            for _ in range(2):
                with pytest.raises(UnfingerprintableError, match=r"'t\.o'.*'gone'.*no data"):
                    fingerprint(module)
        assert capfd.readouterr() == ("", "")

    def test_bytes_changed_in_place(self) -> None:
        data = np.array([1, 2], np.int32)
        context = ir.Context()
        context.allow_unregistered_dialects = True
        with context, ir.Location.unknown():
            tensor = ir.Type.parse("tensor<2xi32>")
            attr = ir.DenseResourceElementsAttr.get_from_buffer(data, "k", tensor, is_mutable=True)
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):
                ir.Operation.create("t.o", attributes={"a": ir.ArrayAttr.get([attr])})
        before = fingerprint(module)
        data[1] = 3
        assert fingerprint(module) != before
        data[1] = 2
        assert fingerprint(module) == before


class TestStructs:
    @pytest.mark.parametrize(
        "text",
        [
            '!llvm.struct<"A", (struct<"A">)>',
            '!llvm.struct<"A", (ptr, struct<"B", (struct<"A">, i32)>)>',
            '!llvm.struct<"A", (array<3 x struct<"B", (struct<"A">, struct<"B">)>>)>',
            "!spirv.struct<A, (!spirv.ptr<!spirv.struct<A>, StorageBuffer>)>",
        ],
    )
    def test_recursive(self, text: str) -> None:
        assert same(text, text)
        assert not same(text, text.replace("A", "C"))

    def test_bodies_count(self) -> None:
        bodies = ["opaque", "()", "(i32)", "(i64)", "packed (i32)", '(struct<"B", (i8)>)']
        bodies += ['(struct<"B", (i16)>)', '(struct<"B", opaque>)', '(struct<"A">)']
        for form in ("{}", "!llvm.array<2 x {}>", "!llvm.struct<(i1, {})>"):
            texts = [attribute(form.format(f'!llvm.struct<"A", {body}>')) for body in bodies]
            assert len({fingerprint(text) for text in texts}) == len(bodies)

    @pytest.mark.parametrize("form", ["{}", "[{}]", "tuple<i1, {}>", "({}) -> ()"])
    def test_body_set_later(self, form: str) -> None:
        context = ir.Context()
        context.allow_unregistered_dialects = True
        with context, ir.Location.unknown():
            struct = llvm.StructType.get_identified("A")
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):
                ir.Operation.create("t.o", attributes={"a": holder(form, struct)})
            before = fingerprint(module)
            assert fingerprint(module) == before
            struct.set_body([ir.IntegerType.get_signless(32), ir.Type.parse("!llvm.ptr")])
            after = fingerprint(module)
        assert after != before
        assert before != fingerprint(attribute(form.format('!llvm.struct<"A", opaque>')))
        assert after == fingerprint(attribute(form.format('!llvm.struct<"A", (i32, ptr)>')))


def holder(form: str, struct: ir.Type) -> ir.Attribute:
    """The attribute that `form` is around a struct, which has no text while it has no body."""
    boolean = ir.IntegerType.get_signless(1)
    return {
        "{}": lambda: ir.TypeAttr.get(struct),
        "[{}]": lambda: ir.ArrayAttr.get([ir.TypeAttr.get(struct)]),
        "tuple<i1, {}>": lambda: ir.TypeAttr.get(ir.TupleType.get_tuple([boolean, struct])),
        "({}) -> ()": lambda: ir.TypeAttr.get(ir.FunctionType.get([struct], [])),
    }[form]()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("tuple<", ">")])
def test_deep_nesting(opening: str, closing: str) -> None:
    def nested(depth: int) -> ir.Module:
        return parse(attribute(opening * depth + closing * depth))

    assert fingerprint(nested(400)) != fingerprint(nested(401))
    assert fingerprint(nested(2000)) != fingerprint(nested(2001))


def test_deep_nesting_that_a_dialect_hides_is_refused() -> None:
    def nested(depth: int) -> ir.Module:
        return parse(attribute('#dlti.map<"k" = ' * depth + "1" + ">" * depth))

    assert fingerprint(nested(20)) != fingerprint(nested(21))
    with pytest.raises(UnfingerprintableError, match="nested"):
        fingerprint(nested(200))


def test_recycled_contexts() -> None:
    """A new context often lies where an old one was, with other attributes at the old addresses."""
    expected: dict[str, str] = {}
    for i in range(60):
        text = attribute(f'[{i % 5} : i32, "s{i % 5}", tensor<{i % 5 + 1}xf32>]')
        digest = fingerprint(text)
        gc.collect()
        assert expected.setdefault(text, digest) == digest
    assert len(set(expected.values())) == 5


def test_block_from_outside_is_refused() -> None:
    module = parse("func.func @f(%x: i32) -> i32 {\n  cf.br ^b\n^b:\n  return %x : i32\n}")
    function = module.body.operations[0]
    branch = function.regions[0].blocks[0].operations[0]
    with pytest.raises(UnfingerprintableError, match=r"'cf\.br' at .*:2:3: a successor"):
        fingerprint(branch.operation)


def test_value_that_cannot_be_seen_is_refused() -> None:
    """An operation isolated from above uses a value from above; the module is not verified."""
    module = parse("%c = arith.constant 1 : i32\nfunc.func @f(%x: i32) {\n"
                   "  %y = arith.addi %x, %x : i32\n  return\n}")  # fmt: skip
    constant, function = module.body.operations
    addition = function.regions[0].blocks[0].operations[0]
    addition.operation.operands[0] = constant.operation.results[0]
    for program in (module, function.operation):
        with pytest.raises(UnfingerprintableError, match=r"'arith\.addi' at .*cannot be seen"):
            fingerprint(program)
    addition.operation.operands[0] = addition.operation.operands[1]
    constant.operation.erase()
    fingerprint(module)
