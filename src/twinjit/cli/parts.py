"""The parts of keys, as commands show them."""

from __future__ import annotations

from typing import Any

from rich.console import Console

import twinjit

__all__ = ["part_data", "part_text", "shorten", "show_parts"]

_WIDTH = 64
_BEFORE = 6


def part_text(value: str | bytes | None) -> str:
    """Write a part's value for people, digests as digits; None where there is no such part."""
    if value is None:
        return "absent"
    text = value.hex() if isinstance(value, bytes) else value
    return text or "none"


def part_data(value: str | bytes | None) -> Any:
    """Express a part's value in JSON, as `Key.to_data` does; None where there is no such part."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def shorten(text: str, width: int = _WIDTH, *, start: int = 0) -> str:
    """Leave out what does not fit, so that the character at `start` is shown."""
    if len(text) <= width:
        return text
    first = max(0, min(start - _BEFORE, len(text) - width)) if start >= width else 0
    before, after = "…" * (first > 0), "…" * (first + width < len(text))
    return f"{before}{text[first : first + width]}{after}"


def show_parts(console: Console, key: twinjit.Key, *, full: bool) -> None:
    """Print the parts of a key, one a line."""
    for name, value in key.parts:
        text = part_text(value)
        if not full and len(text) > _WIDTH:
            text = f"{shorten(text)} ({len(text)} characters)"
        console.print(f"{name:<18}{text}", highlight=False)
