"""Where the runtime's functions are, for kernels that call them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from twinjit._native import _sql

__all__ = ["SYMBOLS"]

SYMBOLS: Final[Mapping[str, int]] = MappingProxyType(_sql.symbols())
"""Addresses by the names that kernels declare."""
