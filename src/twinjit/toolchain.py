"""The exact builds of the libraries that turn a program into code."""

from __future__ import annotations

from twinjit._native import _llvm

__all__ = ["TOOLCHAIN"]

TOOLCHAIN = tuple((name, identity) for name, _path, identity in _llvm.toolchain())
"""Pairs of library and build identity, in a fixed order.

The identity is the library's GNU build ID, which the linker derives from its content, or the BLAKE3
digest of the file where it has none. A version number would not do: a rebuild keeps it.
"""
