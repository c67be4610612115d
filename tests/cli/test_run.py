"""``twinjit run``: arguments, results, and how both are shown and saved."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.cli.programs import EXAMPLES, MLP, SAXPY


def test_run_a_graph_on_recorded_input(data, tmp_path):
    with np.load(EXAMPLES / "mlp.npz") as arrays:
        np.save(tmp_path / "input.npy", arrays["input_0"])
        expected = arrays["output_0"]
    for argument in (f"{EXAMPLES / 'mlp.npz'}:input_0", tmp_path / "input.npy"):
        printed = data("run", MLP, "--arg", argument)
        (output,) = printed.pop("outputs")
        np.testing.assert_allclose(output.pop("value"), expected, rtol=0, atol=1e-6)
        assert output == {
            "name": "result0",
            "type": "tensor<8x10xf32>",
            "shape": [8, 10],
            "dtype": "float32",
            "file": None,
        }
        assert printed["entry"] == "mlp"
        assert printed["signature"] == "mlp(arg0: tensor<8x64xf32>) -> tensor<8x10xf32>"
        assert list(printed["calls"]) == ["count", "min_seconds", "median_seconds", "max_seconds"]
        assert list(printed["report"]) == [
            "tier", "seconds", "phases", "pipeline", "object_bytes", "cached", "opt_level",
            "functions", "imported", "promoted", "counts", "timing",
        ]  # fmt: skip


SAXPY_RUN = [
    "run", SAXPY, "--entry", "saxpy", "--arg", "2", "--arg", "4xf32=arange", "--arg", "4xf32=1.5",
    "--arg", "4xf32=zeros",
]  # fmt: skip


def test_arguments_that_receive_results(ok, data, tmp_path):
    assert ok(*SAXPY_RUN) == ""
    shown = ok(*SAXPY_RUN, "--show-arg", "3")
    assert shown == "arg3: memref<?xf32>\n[1.5, 3.5, 5.5, 7.5]\n"
    (output,) = data(*SAXPY_RUN, "--show-arg", "3")["outputs"]
    assert (output["name"], output["value"]) == ("arg3", [1.5, 3.5, 5.5, 7.5])


def test_saving(ok, data, tmp_path):
    out = tmp_path / "out.npy"
    printed = ok(*SAXPY_RUN, "--show-arg", "3", "--out", out)
    assert printed == f"arg3: memref<?xf32> saved as {out}\n"
    np.testing.assert_array_equal(np.load(out), np.float32([1.5, 3.5, 5.5, 7.5]))
    outputs = data(*SAXPY_RUN, "--show-arg", "3", "--show-arg", "1", "--save", tmp_path / "s")
    assert [each["file"] for each in outputs["outputs"]] == [
        f"{tmp_path}/s.arg3.npy",
        f"{tmp_path}/s.arg1.npy",
    ]
    assert all("value" not in each for each in outputs["outputs"])
    np.testing.assert_array_equal(np.load(tmp_path / "s.arg1.npy"), np.float32([0, 1, 2, 3]))
    assert sorted(os.listdir(tmp_path)) == ["out.npy", "s.arg1.npy", "s.arg3.npy"]


def test_several_results(ok, mlir):
    pair = mlir("func.func @pair(%x: i64, %y: f64) -> (f64, i64) { return %y, %x : f64, i64 }")
    printed = ok("run", pair, "--arg", "7", "--arg", "-2.5", "-q")
    assert printed == "result0: f64 = -2.5\nresult1: i64 = 7\n"


def test_long_arrays_are_abbreviated_for_people_only(ok, data, mlir):
    program = mlir(
        "func.func @f(%x: tensor<1000xi32>) -> tensor<1000xi32> { return %x : tensor<1000xi32> }"
    )
    assert "[  0,   1,   2, ..., 997, 998, 999]" in ok("run", program, "--arg", "arange")
    assert data("run", program, "--arg", "arange")["outputs"][0]["value"] == list(range(1000))


def test_repeat(cli, data):
    result = cli("run", MLP, "--arg", "random", "--repeat", "5")
    assert "ran 5 times: median" in result.stderr
    calls = data("run", MLP, "--arg", "random", "--repeat", "5")["calls"]
    assert calls["count"] == 5
    assert 0 < calls["min_seconds"] <= calls["median_seconds"] <= calls["max_seconds"]


def identity_of(mlir, kind):
    return mlir(f"func.func @f(%x: {kind}) -> {kind} {{ return %x : {kind} }}")


@pytest.mark.parametrize(
    ("kind", "argument", "expected"),
    [
        ("i64", "-3", -3),
        ("i64", "0x10", 16),
        ("i1", "true", True),
        ("f64", "2.5", 2.5),
        ("f64", "3", 3.0),
        ("f64", "nan", "nan"),
        ("f64", "-inf", "-inf"),
        ("complex<f64>", "1+2j", [1.0, 2.0]),
        ("f32", "f32=1.5", 1.5),
        ("i32", "ones", 1),
        ("bf16", "1.5", 1.5),
        ("tensor<3xi8>", "arange", [0, 1, 2]),
        ("tensor<2x2xf16>", "2x2xf16=arange", [[0.0, 1.0], [2.0, 3.0]]),
        ("tensor<2xf32>", "0.5", [0.5, 0.5]),
        ("tensor<2xi1>", "zeros", [False, False]),
        ("tensor<2xbf16>", "2xbf16=3", [3.0, 3.0]),
        ("tensor<2xui8>", "255", [255, 255]),
        ("tensor<1xcomplex<f32>>", "1xcomplex<f32>=1j", [[0.0, 1.0]]),
        ("tensor<f32>", "f32=2", 2.0),
        ("tensor<0xf32>", "random", []),
        ("memref<?xindex>", "2xindex=arange", [0, 1]),
    ],
)
def test_argument_specs(data, mlir, kind, argument, expected):
    (output,) = data("run", identity_of(mlir, kind), "--arg", argument)["outputs"]
    assert output["value"] == expected
    assert type(output["value"]) is type(expected)


def test_random_data_can_be_made_again(data, mlir):
    program = mlir(
        "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {"
        " return %x, %y : tensor<4xf32>, tensor<4xf32> }"
    )

    def values(*arguments):
        specs = [word for argument in arguments for word in ("--arg", argument)]
        return [np.float32(each["value"]) for each in data("run", program, *specs)["outputs"]]

    x, y = values("random", "random")
    assert not np.array_equal(x, y)
    again, seeded = values("random", "4xf32=random:7")
    np.testing.assert_array_equal(again, x)
    np.testing.assert_array_equal(seeded, np.random.default_rng(7).random(4, np.float32))


@pytest.mark.parametrize("dtype", ["i8", "ui64", "i1", "f16", "bf16", "f64", "complex<f64>"])
def test_random_data_of_every_kind(data, mlir, dtype):
    program = identity_of(mlir, f"tensor<50x{dtype}>")
    first = data("run", program, "--arg", "random:1")["outputs"][0]["value"]
    assert first == data("run", program, "--arg", "random:1")["outputs"][0]["value"]
    numbers = np.ravel(first)
    assert len(set(numbers)) > 1
    assert numbers.min() >= 0
    assert numbers.max() < (100 if "i" in dtype else 1)


def test_saved_bfloat16_can_be_loaded(data, mlir, tmp_path):
    program = identity_of(mlir, "tensor<2xbf16>")
    data("run", program, "--arg", "1.5", "--out", tmp_path / "x.npy")
    assert data("run", program, "--arg", tmp_path / "x.npy")["outputs"][0]["value"] == [1.5, 1.5]


@pytest.mark.parametrize("level", ["-O0", "-O3", "--opt-level=1"])
def test_options_of_compilation(data, level):
    key = dict(data("explain", SAXPY, level, "--pipeline", "linalg")["parts"])
    assert key["opt-level"] == level[-1]
    assert "one-shot-bufferize" in key["pipeline"]
    assert data("run", SAXPY, "--entry", "gcd", "--arg", "4", "--arg", "6", level)["report"][
        "cached"
    ]
