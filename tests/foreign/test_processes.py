"""Packages beside each other in one process, in any order that their libraries allow."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path

import pytest

import twinjit
from tests.foreign.test_bindings import MORE, TEXTS

ROOT = Path(__file__).parent.parent.parent

FINGERPRINTS = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import twinjit
from tests.foreign.bundles import bindings, parse
bundles = [bindings(name) for name in sys.argv[1:] if name.endswith(".ir")]
for text in json.load(sys.stdin):
    modules = [parse(ir, text) for ir in bundles]
    print(json.dumps([twinjit.fingerprint(module) for module in modules]))
"""


def fingerprints(*imports: str, texts: list[str]) -> list[list[str]]:
    """Import modules in an order; fingerprint texts in each that is MLIR's bindings."""
    output = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS, *imports],
        input=json.dumps(texts),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.stderr == ""
    return [json.loads(line) for line in output.stdout.splitlines()]


def expected(texts: list[str], bundles: int) -> list[list[str]]:
    return [[twinjit.fingerprint(text, allow_unregistered=True)] * bundles for text in texts]


def is_installed(*packages: str) -> bool:
    return all(find_spec(name) for name in packages)


@pytest.mark.skipif(not is_installed("iree"), reason="iree.compiler is not installed")
def test_iree() -> None:
    texts = [*TEXTS.values(), *MORE.values()]
    assert fingerprints("iree.compiler.ir", texts=texts) == expected(texts, 1)


@pytest.mark.skipif(not is_installed("iree"), reason="iree.compiler is not installed")
def test_iree_after_a_fingerprint() -> None:
    code = """if True:
        import twinjit
        text = "func.func private @f()"
        expected = twinjit.fingerprint(text)
        import iree.compiler.ir
        from tests.foreign.bundles import parse
        assert twinjit.fingerprint(parse(iree.compiler.ir, text)) == expected
        executable = twinjit.compile("func.func @f() { return }", cache=False)
        assert executable.f() is None
    """
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.skipif(not is_installed("iree", "jaxlib"), reason="iree or jaxlib is not installed")
def test_iree_beside_jaxlib() -> None:
    texts = [TEXTS["scf"], MORE["resource"]]
    for order in permutations(["iree.compiler.ir", "jaxlib.mlir.ir"]):
        assert fingerprints(*order, texts=texts) == expected(texts, 2)


@pytest.mark.skipif(not is_installed("jaxlib"), reason="jaxlib is not installed")
def test_any_order() -> None:
    names = ["jaxlib.mlir.ir", "twinjit._native._mlir", "mlir.ir"]
    names += ["torch_mlir.ir"] * is_installed("torch_mlir")
    texts = [TEXTS["scf"], MORE["resource"]]
    bundles = len(names) - 1
    for order in (names, names[::-1], names[2:] + names[:2]):
        assert fingerprints(*order, texts=texts) == expected(texts, bundles)
