"""Texts of functions, and what generates them."""

from __future__ import annotations

import ctypes

I64 = ctypes.c_int64
UNARY = ctypes.CFUNCTYPE(I64, I64)


def body(name: str, callee: str = "", plus: int = 1) -> str:
    """Text of a function that adds a number to its argument, or to what another gives for it."""
    if not callee:
        return f"define i64 @{name}(i64 %x) {{ %r = add i64 %x, {plus} ret i64 %r }}"
    return (
        f"declare i64 @{callee}(i64) define i64 @{name}(i64 %x) {{ "
        f"%y = call i64 @{callee}(i64 %x) %r = add i64 %y, {plus} ret i64 %r }}"
    )


class Generator:
    """Gives texts, and counts how often it was asked for each."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def of(self, name: str, callee: str = "", plus: int = 1):
        def generate() -> str:
            self.asked[name] = self.asked.get(name, 0) + 1
            return body(name, callee, plus)

        return generate
