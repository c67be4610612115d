"""What functions take and return, as data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.native_helpers import build, value
from twinjit._native import _mlir
from twinjit.errors import ArtifactError
from twinjit.signature import Signature, Value

TEXT = """
func.func @main(%a: tensor<8x?xf32>, %b: memref<?x4xi32, strided<[?, 2], offset: 3>>, %c: si7,
                %d: memref<2xui8> {llvm.readonly}) -> (tensor<?xbf16>, f64) {
  %e = tensor.empty() : tensor<4xbf16>
  %f = tensor.cast %e : tensor<4xbf16> to tensor<?xbf16>
  %g = arith.constant 1.0 : f64
  return %f, %g : tensor<?xbf16>, f64
}
func.func @nothing() { return }
func.func @vector(%a: vector<4xf32>) -> vector<4xf32> { return %a : vector<4xf32> }
"""


def signatures(text):
    program = _mlir.parse(text.encode(), "test.mlir")
    return {each["name"]: Signature.from_native(each) for each in program.signatures()}


def test_from_the_program():
    found = signatures(TEXT)
    main = found["main"]
    assert main.arguments[0] == Value("tensor", "f32", "tensor<8x?xf32>", (8, -1))
    assert main.arguments[1] == Value(
        "memref", "i32", "memref<?x4xi32, strided<[?, 2], offset: 3>>", (-1, 4), (-1, 2), 3
    )
    assert main.arguments[2] == Value("scalar", "si7", "si7")
    assert main.arguments[3].read_only
    assert (main.uncallable, main.slots) == ("", None)
    assert "vector<4xf32>" in found["vector"].uncallable


@pytest.mark.parametrize(
    "layout",
    # -1 would read as dynamic; what the last one does is beyond strides.
    ["strided<[-1], offset: 3>", "strided<[1], offset: -1>", "affine_map<(d0) -> (d0 mod 3)>"],
)
def test_layouts_that_a_call_cannot_describe(layout):
    found = signatures(f"func.func @f(%a: memref<4xf32, {layout}>) {{ return }}")
    assert layout in found["f"].uncallable


@pytest.mark.parametrize("space", ["1", '"here"', "#gpu.address_space<workgroup>"])
def test_memory_spaces(space):
    text = "func.func @f(%a: memref<4xf32, {}>) {{ return }}"
    assert signatures(text.format(space))["f"].uncallable
    assert not signatures(text.format(0))["f"].uncallable


def test_text():
    found = signatures(TEXT)
    assert str(found["main"]) == (
        "main(arg0: tensor<8x?xf32>, arg1: memref<?x4xi32, strided<[?, 2], offset: 3>>, "
        "arg2: si7, arg3: memref<2xui8>) -> (tensor<?xbf16>, f64)"
    )
    assert str(found["nothing"]) == "nothing() -> None"
    assert str(found["vector"]) == "vector(arg0: vector<4xf32>) -> vector<4xf32>"


@pytest.mark.parametrize("results", ["i32", "(i32, i32)"])
def test_text_is_that_of_the_function(results):
    values = ", ".join(["%a"] * results.count("i32"))
    text = f"func.func @f(%a: i32) -> {results} {{ return {values} : {results.strip('()')} }}"
    image, _, slots = build(text)
    signature = signatures(text)["f"].with_convention(slots["f"])
    function = signature.bind(image)
    assert function.signature == str(signature)
    assert function(3) == (3 if results == "i32" else (3, 3))


sizes = st.lists(st.integers(-1, 100), max_size=3)
values = st.builds(
    Value,
    kind=st.sampled_from(["scalar", "memref", "tensor", "pointer", "unsupported"]),
    dtype=st.text(max_size=5),
    text=st.text(max_size=5),
    shape=sizes.map(tuple),
    strides=st.none() | sizes.map(tuple),
    offset=st.none() | st.integers(-1, 100),
    read_only=st.booleans(),
)


@given(
    st.builds(
        Signature,
        name=st.text(max_size=5),
        arguments=st.lists(values, max_size=3).map(tuple),
        results=st.lists(values, max_size=3).map(tuple),
        uncallable=st.text(max_size=5),
        slots=st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99)),
    )
)
def test_json_round_trip(signature):
    data = json.loads(json.dumps(signature.to_json()))
    assert Signature.from_json(data) == signature


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3},
        {"arguments": None},
        {"arguments": [3]},
        {"arguments": [{}]},
        {"arguments": [{**value("memref", "f32", 2), "shape": [True]}]},
        {"arguments": [{**value("memref", "f32", 2), "shape": "22"}]},
        {"arguments": [{**value("memref", "f32", 2), "strides": [1.0]}]},
        {"arguments": [{**value("memref", "f32", 2), "offset": "0"}]},
        {"arguments": [{**value("memref", "f32", 2), "kind": "other"}]},
        {"arguments": [{**value("memref", "f32", 2), "read_only": 1}]},
        {"slots": [1]},
        {"slots": [1, 2, 3]},
        {"slots": ["1", 2]},
        {"uncallable": None},
    ],
    ids=str,
)
def test_malformed_data_is_refused(change):
    data = {**Signature("f").to_json(), **change}
    with pytest.raises(ArtifactError, match="malformed"):
        Signature.from_json(data)
    for key in data:
        with pytest.raises(ArtifactError):
            Signature.from_json({k: v for k, v in data.items() if k != key})


def test_data_that_is_no_mapping():
    with pytest.raises(ArtifactError):
        Signature.from_json([1, 2])
