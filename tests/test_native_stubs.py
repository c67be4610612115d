"""The committed stubs are what the native modules generate (``make stubs``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("module", ["_llvm", "_mlir", "_sql"])
def test_stub_is_current(module, tmp_path):
    generated = tmp_path / f"{module}.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-p", ROOT / "native/stubs.pat",
               "-m", f"twinjit._native.{module}", "-o", generated]  # fmt: skip
    subprocess.run(command, check=True, cwd=tmp_path)
    committed = ROOT / "src/twinjit/_native" / f"{module}.pyi"
    assert committed.read_text() == generated.read_text()
