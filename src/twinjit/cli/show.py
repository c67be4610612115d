"""How values and reports are shown: to people with rich, to programs as JSON."""

from __future__ import annotations

import json
import time
from typing import Any, Literal

import numpy as np
import typer
from rich.console import Console

import twinjit

__all__ = [
    "coloured",
    "duration",
    "format_value",
    "moment",
    "plural",
    "print_json",
    "printable",
    "report_data",
    "signature_data",
    "size",
    "span",
    "stderr",
    "stdout",
    "value_data",
]

_UNITS = ("KiB", "MiB", "GiB", "TiB")
_ABBREVIATED_ABOVE = 200
_SPANS = {"d": 86400, "h": 3600, "m": 60}


def stdout() -> Console:
    """Return a console on what is now standard output; piped output is plain and not wrapped."""
    return Console(soft_wrap=True, markup=False)


def coloured(when: str) -> Console:
    """Return a console on standard output with colours ``auto``, ``always`` or ``never``."""
    if when == "auto":
        return stdout()
    system: Literal["standard"] | None = "standard" if when == "always" else None
    return Console(
        soft_wrap=True, markup=False, force_terminal=when == "always", color_system=system
    )


def stderr() -> Console:
    """Return the same for standard error."""
    return Console(stderr=True, soft_wrap=True, markup=False, highlight=False)


def duration(seconds: float) -> str:
    """Write a time in the unit that suits it, such as ``12.3 µs``."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def size(count: int) -> str:
    """Write a count of bytes, such as ``1.2 MiB``."""
    if count < 1024:
        return f"{count} bytes"
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    return f"{count / 1024**power:.1f} {_UNITS[power - 1]}"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Write a count of things, such as ``1 entry``; by default their plural ends in s."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def printable(name: str) -> str:
    """Write a name that others chose, without what a terminal would obey or cannot show."""
    return name if name.isprintable() else ascii(name)


def span(seconds: float) -> str:
    """Write a time that was set, exactly, such as ``30d (2592000 s)``."""
    exact = f"{seconds:.15g} s"
    if 0 < seconds < 1:
        return f"{1e3 * seconds:.15g}ms ({exact})"
    for unit, length in _SPANS.items():
        count, rest = divmod(seconds, length)
        if count and not rest:
            return f"{count:.0f}{unit} ({exact})"
    return exact


def moment(seconds: float) -> str:
    """Write a time in seconds since 1970 as that of this machine's zone, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def format_value(value: object) -> str:
    """Write a value for people; long arrays lose their middle."""
    if isinstance(value, np.ndarray):
        return np.array2string(value, threshold=_ABBREVIATED_ABOVE, separator=", ")
    return str(value)


def print_json(data: object) -> None:
    """Print one JSON object, on one line."""
    typer.echo(json.dumps(data, allow_nan=False))


def value_data(value: object) -> Any:
    """Express a value in JSON.

    Arrays are nested lists, a complex number is ``[real, imaginary]``, and what JSON has no numbers
    for is ``"nan"``, ``"inf"`` or ``"-inf"``.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind == "V":  # ml_dtypes' types, of which float32 holds every value
            value = value.astype(np.float32)
        return value_data(value.tolist())
    if isinstance(value, list):
        return [value_data(each) for each in value]
    if isinstance(value, complex):
        return [value_data(value.real), value_data(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def signature_data(signature: twinjit.Signature) -> dict[str, Any]:
    """Express a function's signature in JSON."""
    return {
        "name": signature.name,
        "signature": str(signature),
        "arguments": [value.text for value in signature.arguments],
        "results": [value.text for value in signature.results],
        "uncallable": signature.uncallable or None,
    }


def report_data(report: twinjit.Report) -> dict[str, Any]:
    """Express a report in JSON."""
    return report.to_data()
