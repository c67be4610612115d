"""Profilers and debuggers that are told of the code that this process loads."""

from __future__ import annotations

import os

from twinjit._native import _llvm
from twinjit.settings import Settings

__all__ = ["tell_profilers"]


def tell_profilers(settings: Settings) -> None:
    """Tell those that settings name, too, of all code that is loaded from now on."""
    _llvm.tell_profilers(
        settings.perf == "map",
        settings.perf == "dump",
        settings.gdb,
        os.fsencode(Settings.jit_dump_base()),  # a path need not be text
    )
