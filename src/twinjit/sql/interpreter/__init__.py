"""Evaluating expressions without compiling them, some thousand rows at a time.

What comes out, and which failure of which row comes first, is the same as with kernels.
"""

from __future__ import annotations

from twinjit.sql.interpreter.interpreter import Interpreter

__all__ = ["Interpreter"]
