"""What each setting can be, and how texts say it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from twinjit.errors import ConfigError

__all__ = [
    "KINDS",
    "LEAST_SECRET",
    "LONGEST_AGE",
    "LONGEST_WAIT",
    "MOST_WORKERS",
    "OTHER_NAMES",
    "SWITCH",
    "Kind",
    "is_none",
    "parse_duration",
    "parse_size",
    "place_of_url",
]

_SIZES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
# Of two endings that fit, the longer stands first. Months and years have no fixed length.
_SECONDS = {"ms": 1e-3, "min": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_MOST_DIGITS = 20

LEAST_SECRET = 16
"""Bytes in the shortest secret."""

# The system's calls take waits as milliseconds in 31 bits; ages fit into 63 bits as nanoseconds.
LONGEST_WAIT = 1e6
"""Seconds."""
LONGEST_AGE = 9e9
"""Seconds; some 285 years."""

MOST_WORKERS = 1024
"""Above which more would only be a mistake."""

SWITCH = {
    **dict.fromkeys(("on", "1", "true", "yes"), True),
    **dict.fromkeys(("off", "0", "false", "no"), False),
}
"""What words in lower case mean where something is switched on or off."""


def parse_size(text: str) -> int:
    """Read a count of bytes such as ``512``, ``64K``, ``20M``, ``1G`` or ``1GiB``.

    The suffixes K, M, G and T stand for powers of 1024, in either case, with or without ``B`` or
    ``iB`` after them.

    Raises
    ------
    ConfigError
        If the text is no whole number with such a suffix, or no text.
    """
    number = _text(text).strip().upper()
    for ending in ("IB", "B"):
        stem = number.removesuffix(ending)
        if stem != number and stem[-1:] in tuple("KMGT"):
            number = stem
            break
    unit = number[-1:] if number[-1:] in _SIZES else ""
    digits = number.removesuffix(unit).rstrip()
    if not _is_number(digits):
        raise ConfigError(
            f"{text!r} is not a size; give a whole number of bytes, or one with the suffix "
            "K, M, G or T, such as 512M"
        )
    return int(digits) * _SIZES[unit]


def parse_duration(text: str) -> float:
    """Read a time such as ``30d``, ``12h``, ``1.5h``, ``90s``, ``500ms`` or ``90``, in seconds.

    The suffixes are ms, s, m or min (minutes), h, d and w (weeks), in lower case; without one the
    number counts seconds.

    Raises
    ------
    ConfigError
        If the text is no decimal number with such a suffix, or no text.
    """
    number = _text(text).strip()
    unit = next((each for each in _SECONDS if number.endswith(each)), "")
    decimal = number.removesuffix(unit).rstrip()
    whole, point, fraction = decimal.partition(".")
    if not (_is_number(whole) and (_is_number(fraction) or not point)):
        raise ConfigError(
            f"{text!r} is not a time; give a number of seconds, or one with the suffix "
            "ms, s, m, h, d or w, such as 30d"
        )
    return float(decimal) * _SECONDS.get(unit, 1.0)


def _parse_count(text: str) -> int:
    digits = text.strip()
    if not _is_number(digits):
        raise ConfigError(f"{text!r} is not a count; give a whole number such as 4, or none")
    return int(digits)


def is_none(text: str) -> bool:
    """Whether a text stands for None where that is possible."""
    return text.strip().lower() == "none"


def place_of_url(url: str) -> str:
    """Leave out of a URL what may be secret: user, password and parameters."""
    scheme, separator, rest = url.partition("://")
    length = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    host, path = rest[:length].rpartition("@")[2], rest[length:]
    is_local = scheme == "file" and length == 0  # such a path may have an @, and follows no user
    if not separator or ("@" in scheme + path and not is_local):
        # Where a password would end cannot be told.
        return "…" if "@" in url or "?" in url else url
    return f"{scheme}://{host}{path.partition('?')[0].partition('#')[0]}"


class Kind:
    """What a setting can be.

    Parameters
    ----------
    fits
        Whether a value other than None can be used.
    cure
        What to give instead of one that cannot.
    code_cure
        The same for Python's code, where its values are others than those of texts.
    parse
        Reads a value from text, or raises a ConfigError.
    optional
        Whether it can be None, which texts call ``none``.
    show
        How messages show a value.
    """

    def __init__(
        self,
        fits: Callable[[Any], bool],
        cure: str,
        *,
        code_cure: str = "",
        parse: Callable[[str], object] = str,
        optional: bool = False,
        show: Callable[[Any], str] = repr,
    ) -> None:
        self._fits, self._cure, self._parse, self._show = fits, cure, parse, show
        self._code_cure, self._optional = code_cure or cure, optional

    def check(self, label: str, value: object) -> None:
        """See that a value of Python's code can be used.

        Raises
        ------
        ConfigError
            If not; the message calls the setting `label`.
        """
        self._check(label, value, self._code_cure, "None")

    def read(self, label: str, value: object) -> object:
        """Read a value from the environment or a file, where it may be a text.

        Raises
        ------
        ConfigError
            If it cannot be used; the message calls the setting `label`.
        """
        if isinstance(value, str):
            if self._optional and is_none(value):
                return None
            try:
                value = self._parse(value)
            except ConfigError as error:
                raise ConfigError(f"{label}: {error}") from None
        self._check(label, value, self._cure, "none")
        return value

    def _check(self, label: str, value: object, cure: str, none: str) -> None:
        if self._fits(value) or (value is None and self._optional):
            return
        more = f", or {none}" if self._optional else ""
        raise ConfigError(f"{label} is {self._show(value)}; give {cure}{more}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{value!r} is not a text; give one such as '90'")
    return value


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS


def _is_path(value: object) -> bool:
    return isinstance(value, str) and os.path.isabs(value) and "\0" not in value


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_WORKERS


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value != "" and " " not in value


def _is_perf(value: object) -> bool:
    return isinstance(value, str) and value in ("off", "map", "dump")


def _parse_switch(text: str) -> object:
    return SWITCH.get(text.strip().lower(), text)


def _is_confirm(value: object) -> bool:
    return isinstance(value, str) and value in ("never", "always")


def _is_url(value: object) -> bool:
    scheme, _, rest = value.partition("://") if isinstance(value, str) else ("", "", "")
    return _is_word(value) and rest != "" and scheme.isascii() and scheme[:1].isalpha()


def _is_secret(value: object) -> bool:
    return isinstance(value, bytes) and len(value) >= LEAST_SECRET


def _show_url(value: object) -> str:
    return repr(place_of_url(value)) if isinstance(value, str) else f"a {type(value).__name__}"


def _show_secret(value: object) -> str:
    if isinstance(value, bytes):
        return f"a secret of {len(value)} bytes, which can be guessed"
    return f"a {type(value).__name__}"


def _time(cure: str, least: float, most: float, *, optional: bool = False) -> Kind:
    def fits(value: object) -> bool:  # NaN does not
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return least <= value <= most

    return Kind(fits, cure, parse=parse_duration, optional=optional)


_SIZE = Kind(_is_size, "a whole number of bytes, 0 or more", parse=parse_size)

KINDS = {
    "cache_dir": Kind(_is_path, "an absolute path as text", optional=True),
    "cache_max_bytes": _SIZE,
    "cache_max_age": _time("0 to 9e9 seconds", 0, LONGEST_AGE, optional=True),
    "memory_max_bytes": _SIZE,
    "confirm": Kind(_is_confirm, "'never' or 'always'"),
    "wait_seconds": _time("0 to 1e6 seconds", 0, LONGEST_WAIT),
    "shared_url": Kind(
        _is_url,
        "a URL with its scheme, such as redis://host:6379",
        optional=True,
        show=_show_url,
    ),
    "shared_timeout": _time("0.001 to 1e6 seconds", 1e-3, LONGEST_WAIT),
    "shared_ttl": _time("0.001 to 9e9 seconds", 1e-3, LONGEST_AGE, optional=True),
    "shared_max_entry_bytes": _SIZE,
    "shared_secret": Kind(
        _is_secret,
        f"{LEAST_SECRET} bytes or more",
        parse=lambda text: text.encode("utf-8", "surrogateescape"),
        optional=True,
        show=_show_secret,
    ),
    "target": Kind(
        lambda value: _is_word(value) and value.lower() != "native",
        "'host' for this machine, or a level that means the same everywhere, such as 'x86-64-v3'",
    ),
    "perf": Kind(_is_perf, "'off', 'map' or 'dump'"),
    "gdb": Kind(
        lambda value: isinstance(value, bool),
        "'on' or 'off'",
        code_cure="True or False",
        parse=_parse_switch,
    ),
    "trace": Kind(_is_path, "an absolute path as text", optional=True),
    "workers": Kind(
        _is_count, f"a whole number, 1 to {MOST_WORKERS}", parse=_parse_count, optional=True
    ),
    "compile_timeout": _time("0.001 to 1e6 seconds", 1e-3, LONGEST_WAIT, optional=True),
    "worker_memory_bytes": Kind(
        _is_size, "a whole number of bytes, 0 or more", parse=parse_size, optional=True
    ),
    "crash_dir": Kind(_is_path, "an absolute path as text", optional=True),
}
"""The attributes of `Settings`, by name."""

OTHER_NAMES = {"cache_dir": "cache", "shared_secret": "shared_secret_file"}
"""What the environment and files can say instead of a setting: a switch, and where it is."""
