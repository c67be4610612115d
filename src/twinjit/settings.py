"""Settings that come from the environment. No other module reads it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from twinjit.errors import CacheWarning, ConfigError

__all__ = ["Confirm", "Settings", "parse_size"]

Confirm = Literal["never", "always"]
"""Whether hits are compared in full with the program that the code was compiled from."""

_MIB = 1024**2
_UNITS = {"": 1, "K": 1024, "M": _MIB, "G": 1024**3, "T": 1024**4}
_SWITCH = {
    **dict.fromkeys(("", "on", "1", "true", "yes"), True),
    **dict.fromkeys(("off", "0", "false", "no"), False),
}


@dataclass(frozen=True)
class Settings:
    """Defaults of a process.

    Attributes
    ----------
    cache_dir
        Absolute path of the disk store; None for no disk store.
    cache_max_bytes
        Bound of the disk store in bytes; 0 keeps nothing.
    cache_max_age
        Seconds after its last use from which on an entry of the disk store is a miss; None for
        no limit.
    memory_max_bytes
        Bound of the executables held in memory, in bytes; 0 keeps nothing.
    confirm
        Whether hits are confirmed, ``"never"`` or ``"always"``; see `Compiler`.
    wait_seconds
        How long to wait at most for another process that compiles the same program.
    shared_url
        Where the store that machines share is; None for none.
    shared_timeout
        Seconds after which an operation on it has failed.
    shared_ttl
        Seconds for which it shall keep an entry; None for as long as it likes.
    shared_max_entry_bytes
        Size above which an entry is not sent there, nor taken from there.
    shared_secret
        With which its entries are signed, and must be; None for unsigned entries.
    target
        What code is made for: ``"host"``, or a level such as ``"x86-64-v3"``.

    Raises
    ------
    ConfigError
        If a bound is negative, `cache_dir` is not absolute, or `confirm` is another word.
    """

    cache_dir: str | None = None
    cache_max_bytes: int = 1024 * _MIB
    cache_max_age: float | None = None
    memory_max_bytes: int = 256 * _MIB
    confirm: Confirm = "never"
    wait_seconds: float = 60.0
    shared_url: str | None = None
    shared_timeout: float = 0.5
    shared_ttl: float | None = 30 * 86400.0
    shared_max_entry_bytes: int = 64 * _MIB
    shared_secret: bytes | None = field(default=None, repr=False)
    target: str = "host"

    def __post_init__(self) -> None:
        if self.cache_dir is not None and not os.path.isabs(self.cache_dir):
            raise ConfigError(
                f"cache_dir is {self.cache_dir!r}, which is relative; give an absolute path"
            )
        for name in ("cache_max_bytes", "memory_max_bytes"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; give 0 or more bytes")
        if self.confirm not in get_args(Confirm):
            raise ConfigError(f"confirm is {self.confirm!r}; give 'never' or 'always'")

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings; a variable that is empty counts as unset.

        =============================  ==========================================================
        ``TWINJIT_CACHE``              ``off`` for no disk store
        ``TWINJIT_CACHE_DIR``          its directory; else ``$XDG_CACHE_HOME/twinjit``, else
                                       ``~/.cache/twinjit``
        ``TWINJIT_CACHE_MAX_BYTES``    its bound, in the form that `parse_size` reads
        ``TWINJIT_MEMORY_MAX_BYTES``   bound of the executables in memory, in the same form
        ``TWINJIT_CONFIRM``            ``always`` to confirm each hit, or ``never``
        =============================  ==========================================================

        Parameters
        ----------
        environment
            Where to look instead of ``os.environ``.

        Raises
        ------
        ConfigError
            If a variable has a value that cannot be used.

        Warns
        -----
        CacheWarning
            If no variable names a directory and the user has no home; there is no disk store then.
        """
        env = os.environ if environment is None else environment
        return cls(
            cache_dir=_cache_dir(env) if _switch(env, "TWINJIT_CACHE") else None,
            cache_max_bytes=_size(env, "TWINJIT_CACHE_MAX_BYTES", cls.cache_max_bytes),
            memory_max_bytes=_size(env, "TWINJIT_MEMORY_MAX_BYTES", cls.memory_max_bytes),
            confirm=_confirm(env, "TWINJIT_CONFIRM", cls.confirm),
        )


def parse_size(text: str) -> int:
    """Read a count of bytes such as ``512``, ``64K``, ``20M``, ``1G`` or ``1GiB``.

    The suffixes K, M, G and T stand for powers of 1024, in either case, with or without ``B`` or
    ``iB`` after them.

    Raises
    ------
    ConfigError
        If the text is no whole number with such a suffix.
    """
    number = text.strip().upper()
    for ending in ("IB", "B"):
        stem = number.removesuffix(ending)
        if stem != number and stem[-1:] in tuple("KMGT"):
            number = stem
            break
    unit = number[-1:] if number[-1:] in _UNITS else ""
    digits = number.removesuffix(unit).rstrip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise ConfigError(
            f"{text!r} is not a size; give a whole number of bytes, or one with the suffix "
            "K, M, G or T, such as 512M"
        )
    return int(digits) * _UNITS[unit]


def _switch(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "")
    try:
        return _SWITCH[value.strip().lower()]
    except KeyError:
        raise ConfigError(f"{name} is {value!r}; set it to 'on' or 'off', or unset it") from None


def _size(env: Mapping[str, str], name: str, default: int) -> int:
    value = env.get(name)
    if not value:
        return default
    try:
        return parse_size(value)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def _confirm(env: Mapping[str, str], name: str, default: Confirm) -> Confirm:
    value = env.get(name) or default
    if value == "never":
        return "never"
    if value == "always":
        return "always"
    raise ConfigError(f"{name} is {value!r}; set it to 'always' or 'never', or unset it")


def _cache_dir(env: Mapping[str, str]) -> str | None:
    if named := env.get("TWINJIT_CACHE_DIR"):
        return os.path.abspath(os.path.expanduser(named))
    base = env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the XDG specification has relative paths ignored
        home = env.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".cache")
    if os.path.isabs(base):
        return os.path.join(base, "twinjit")
    warnings.warn(
        "Twinjit has no disk cache: there is no home directory to put it in. Set TWINJIT_CACHE_DIR "
        "to a directory, or TWINJIT_CACHE=off.",
        CacheWarning,
        stacklevel=4,
    )
    return None
