"""How much of a library is imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from twinjit.errors import ConfigError

__all__ = ["ImportPolicy"]


@dataclass(frozen=True)
class ImportPolicy:
    """Limits for what is imported where the process defines a library's functions.

    A function costs its instructions, those of the static functions that it cannot do without, and
    its static constants. Without these limits too much would be compiled only to be looked at.

    Attributes
    ----------
    max_instructions
        The most that a function which the program calls may cost.
    decay
        What the limit is multiplied by for a function that an imported one calls, and again for
        each call further away; 0 to import only what the program calls.
    constant_bytes
        Bytes of constants that cost as much as an instruction.

    Raises
    ------
    ConfigError
        If `max_instructions` is negative, `decay` is not between 0 and 1, or `constant_bytes` is
        not positive.
    """

    max_instructions: float = 150
    decay: float = 0.5
    constant_bytes: float = 32

    def __post_init__(self) -> None:
        _check("max_instructions", self.max_instructions, lambda value: value >= 0, "0 or more")
        _check("decay", self.decay, lambda value: 0 <= value <= 1, "a number from 0 to 1")
        _check("constant_bytes", self.constant_bytes, lambda value: value > 0, "more than 0")

    @property
    def limits(self) -> tuple[float, float, float]:
        """All fields, in order, as the native core takes them."""
        return float(self.max_instructions), float(self.decay), float(self.constant_bytes)


def _check(name: str, value: float, is_fit: Callable[[float], bool], wanted: str) -> None:
    is_number = isinstance(value, Real)
    if not is_number or not is_fit(value) or not math.isfinite(value):
        raise ConfigError(f"ImportPolicy.{name} is {value!r}; give {wanted}")
