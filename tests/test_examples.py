"""The PyTorch graphs give PyTorch's results, from every tier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import twinjit

EXAMPLES = Path(__file__).parent.parent / "examples"

TOLERANCE = {"mlp": 1e-6, "mlp_args": 1e-6, "mlp_dynamic": 1e-6, "encoder": 1e-5, "convnet": 1e-5}


def recorded(name):
    with np.load(EXAMPLES / f"{name}.npz") as arrays:
        count = sum(key.startswith("input_") for key in arrays)
        return [arrays[f"input_{i}"] for i in range(count)], arrays["output_0"]


@pytest.mark.parametrize("name", TOLERANCE)
def test_graph_agrees_with_pytorch(compiler, name):
    inputs, expected = recorded(name)
    tiers = []
    for each in (compiler, compiler, twinjit.Compiler(cache=compiler.store.root)):
        executable = each.compile(EXAMPLES / f"{name}.mlir")
        tiers.append(executable.report.tier)
        np.testing.assert_allclose(
            executable[name](*inputs), expected, rtol=0, atol=TOLERANCE[name]
        )
    assert tiers == ["compiled", "memory", "disk"]


def test_dynamic_batch(compiler):
    function = compiler.compile(EXAMPLES / "mlp_dynamic.mlir").mlp_dynamic
    inputs, expected = recorded("mlp")
    np.testing.assert_allclose(function(*inputs), expected, rtol=0, atol=1e-6)
    assert function(np.zeros((0, 64), np.float32)).shape == (0, 10)


def test_saxpy_and_gcd(compiler):
    exe = compiler.compile(str(EXAMPLES / "saxpy.mlir"))
    x, y = np.random.default_rng(1).random((2, 1000), np.float32)
    out = np.empty_like(x)
    exe.saxpy(2.5, x, y, out)
    np.testing.assert_array_equal(out, np.float32(2.5) * x + y)
    assert exe.gcd(252, -105) == 21
