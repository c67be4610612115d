"""The gate between forks and compiler work (``native/forks``), as Python passes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from twinjit._native import _llvm

__all__ = ["PATIENCE", "close_gate", "close_gate_first", "held_off", "open_gate"]

PATIENCE = 10.0
"""Seconds that a fork waits for the work of other threads. What takes longer is left in the middle,
and whatever needs its state raises `ForkError` in the child."""


def close_gate() -> None:
    """Hold back new work, and wait for what is under way; once is enough."""
    _llvm.hold_work(PATIENCE)


def open_gate() -> None:
    """Let work go on."""
    _llvm.resume_work()


def close_gate_first() -> None:
    """Have forks close the gate before anything that was registered until now.

    What runs before a fork runs in the reverse order of registration. Who takes a lock there that
    the work needs must not do so before the work has ended.
    """
    os.register_at_fork(before=close_gate)


@contextmanager
def held_off() -> Iterator[None]:
    """Hold forks off during a ``with`` statement that imports modules late.

    CPython has a lock for each module that is being imported. In a child that was forked meanwhile,
    whoever imports it would wait for ever.

    Raises
    ------
    ForkError
        In a child that was forked in the middle of such an import.
    """
    _llvm.begin_import()
    try:
        yield
    finally:
        _llvm.end_import()
