"""The gate between forks and compiler work (``native/forks``), as Python passes it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from twinjit._native import _llvm

__all__ = ["PATIENCE", "close_gate", "held_off", "open_gate"]

PATIENCE = 10.0
"""Seconds that a fork waits for the work of other threads. What takes longer is left in the middle,
and whatever needs its state raises `ForkError` in the child."""

# Modules of the standard library that register to take a lock of theirs before forks.
_LOCKING = {"logging", "concurrent.futures.thread"}


def close_gate() -> None:
    """Hold back new work, and wait for what is under way; once is enough."""
    _llvm.hold_work(PATIENCE)


def open_gate() -> None:
    """Let work go on."""
    _llvm.resume_work()


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
        with _HOOKS.closing_first():
            yield
    finally:
        _llvm.end_import()


class _Hooks:
    """Has forks close the gate before they take locks that late imports wait for.

    What runs before forks runs in the reverse order of registration. `logging`, for one, registers
    there, as it is imported, to take its lock, and goes on to use it: a fork at that moment would
    take the lock, and then wait at the gate for the import, which waits for the lock.
    """

    def __init__(self) -> None:
        # Guards the rest. Whoever holds it is counted in at the gate, so no fork of another thread
        # meets it locked.
        self._lock = threading.RLock()
        self._imports = 0  # under way
        self._known: set[str] = set()  # those of `_LOCKING` that the gate is closed before
        self._register = os.register_at_fork

    @contextmanager
    def closing_first(self) -> Iterator[None]:
        """Let hooks that are registered already or meanwhile run once the gate is closed."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._imports += 1
            if self._imports == 1:
                self._register = os.register_at_fork
                os.register_at_fork = self._register_after
            loaded = _LOCKING & sys.modules.keys()
            if not loaded <= self._known:
                self._register(before=close_gate)
                self._known |= loaded

    def _leave(self) -> None:
        with self._lock:
            self._imports -= 1
            if self._imports == 0 and os.register_at_fork == self._register_after:
                os.register_at_fork = self._register

    def _register_after(
        self, *, before: Callable[..., Any] | None = None, **others: Callable[..., Any] | None
    ) -> None:
        """Do what `os.register_at_fork` does, with the gate closed before `before`."""
        if before is None:
            self._register(**others)
        else:
            self._register(before=partial(_close_then, before), **others)


def _close_then(before: Callable[[], object]) -> None:
    close_gate()
    before()


_HOOKS = _Hooks()
