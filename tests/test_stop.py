"""Time limits: what they may be, wherever one can be given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mlir.ir as ir
import pytest

import twinjit
from twinjit.errors import CompilationTimeoutError, ConfigError

PROGRAM = "func.func @f(%x: i64) -> i64 { return %x : i64 }"


def run_passes(timeout: float | None) -> None:
    with ir.Context():
        module = ir.Module.parse(PROGRAM)
    twinjit.run_passes(module, "std", timeout=timeout)


TAKERS: dict[str, Callable[..., object]] = {
    "compile": lambda timeout: twinjit.compile(PROGRAM, timeout=timeout),
    "Compiler.compile": lambda timeout: twinjit.Compiler().compile(PROGRAM, timeout=timeout),
    "submit": lambda timeout: twinjit.Compiler().submit(PROGRAM, timeout=timeout).result(),
    "map": lambda timeout: twinjit.Compiler().map([PROGRAM], timeout=timeout),
    "run_passes": run_passes,
}


@pytest.mark.parametrize("timeout", ["1s", b"1", True, float("nan"), 10**400, [1]])
@pytest.mark.parametrize("taker", [*TAKERS, "reproduce_crash"])
def test_what_is_no_time(taker: str, timeout: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"timeout is .*; give seconds, or None"):
        if taker == "reproduce_crash":
            twinjit.reproduce_crash(tmp_path, timeout=timeout)  # type: ignore[arg-type]
        else:
            TAKERS[taker](timeout)


@pytest.mark.parametrize("timeout", [None, 60, 60.0, 1e300, 10**300, float("inf")])
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_one(taker: str, timeout: float | None) -> None:
    TAKERS[taker](timeout)


@pytest.mark.parametrize("timeout", [0, -1, -(10**300), float("-inf")])
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_over_already(taker: str, timeout: float) -> None:
    with pytest.raises(CompilationTimeoutError):
        TAKERS[taker](timeout)
