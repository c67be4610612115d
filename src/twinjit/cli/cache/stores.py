"""The store that a command works on, and the entries that its arguments name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer

import twinjit
from twinjit.cli.failures import IO_FAILED
from twinjit.cli.options import open_compiler
from twinjit.errors import ArtifactError, ConfigError

__all__ = ["check_store", "find_entry", "open_store", "read_entry", "unique_prefixes"]

_KEY_DIGITS = 64
_LEAST_DIGITS = 4
_SHOWN_DIGITS = 8
_SHOWN_MATCHES = 3


def open_store(cache: str | None) -> twinjit.DiskStore:
    """Give the disk store that ``--cache`` or the settings name.

    Raises
    ------
    ConfigError
        If there is none.
    """
    store = open_compiler(cache, for_its_directory=True).store
    if store is None:
        raise ConfigError("there is no disk cache: it is off; name a directory with --cache")
    return store


def check_store(store: twinjit.DiskStore) -> None:
    """Exit if the store could not do its work; it has said why."""
    if store.stats().faults:
        raise typer.Exit(IO_FAILED)


def find_entry(entries: Iterable[twinjit.Entry], prefix: str) -> twinjit.Entry:
    """Find the one entry whose key begins with some digits.

    Raises
    ------
    typer.BadParameter
        If those are no digits, or too few, or there is no such entry, or several.
    """
    digits = prefix.lower()
    if not _LEAST_DIGITS <= len(digits) <= _KEY_DIGITS or set(digits) - set("0123456789abcdef"):
        raise typer.BadParameter(
            f"{prefix!r} is no key: give its first {_LEAST_DIGITS} hexadecimal digits, or more"
        )
    found = [entry for entry in entries if entry.key_digest.hex().startswith(digits)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise typer.BadParameter(
            f"no entry's key begins with {prefix}; twinjit cache list shows those that there are"
        )
    some = ", ".join(entry.key_digest.hex()[: len(digits) + 4] for entry in found[:_SHOWN_MATCHES])
    more = ", …" if len(found) > _SHOWN_MATCHES else ""
    raise typer.BadParameter(
        f"{len(found)} keys begin with {prefix} ({some}{more}); give more of their digits"
    )


def read_entry(store: twinjit.DiskStore, entry: twinjit.Entry) -> twinjit.Artifact:
    """Read an entry without using it.

    Raises
    ------
    ArtifactError
        If a lookup would not take it.
    """
    found = store.inspect(entry.key_digest)
    if isinstance(found, twinjit.Bad):
        raise ArtifactError(f"{found.path}: {found.reason}: {found.message}")
    return found


def unique_prefixes(entries: Sequence[twinjit.Entry]) -> dict[bytes, str]:
    """Shorten each key's digits to what tells it from the others, and 8 at least."""
    keys = sorted({entry.key_digest.hex() for entry in entries})
    short = {}
    for before, key, after in zip(["", *keys], keys, [*keys[1:], ""], strict=False):
        length = 1 + max(_common(key, before), _common(key, after))
        short[bytes.fromhex(key)] = key[: max(length, _SHOWN_DIGITS)]
    return short


def _common(one: str, other: str) -> int:
    """Count the digits in which two keys begin alike."""
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
