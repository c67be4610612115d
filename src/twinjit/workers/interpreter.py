"""The Python that other processes are started with, and where it is to find modules."""

from __future__ import annotations

import os
import sys

from twinjit.errors import ExecutorError

__all__ = ["python", "search_path"]


def search_path() -> list[str]:
    """Say where this process finds modules: what in `sys.path` is no text, Python passes over."""
    return [each for each in sys.path if isinstance(each, str)]


def python() -> str:
    """Say which program is Python.

    Raises
    ------
    ExecutorError
        If none is known.
    """
    if not hasattr(os, "pidfd_open"):
        raise ExecutorError("isolated workers need Linux; give executor='thread'")
    if getattr(sys, "frozen", False):
        raise ExecutorError(
            "isolated workers need a Python interpreter to start, which an application frozen into "
            "one file has not; give executor='thread'"
        )
    if not sys.executable:
        raise ExecutorError(
            "isolated workers need a Python interpreter to start, and the application that embeds "
            "this one names none: set sys.executable to the path of one of the same version, or "
            "give executor='thread'"
        )
    return sys.executable
