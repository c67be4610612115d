"""Files that hold settings or the secret, and who may have written them.

Settings say where compiled code comes from, so who can write them can run code in this process.
Such a file must belong to the user or to root and be writable by nobody else, and it is looked for
in places of the user's alone, never in the current directory. Links are followed: many keep such
files elsewhere; what counts is the file that was opened.

Loaded only where there is such a file: a process that hits does without a parser of TOML.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection
from typing import Any

from twinjit.errors import ConfigError
from twinjit.settings_values import KINDS, OTHER_NAMES, place_of_url

__all__ = ["check_known", "read_secret", "read_settings"]

_MOST_BYTES = 1 << 20
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_MAY_READ = stat.S_IRGRP | stat.S_IROTH


def read_settings(path: str) -> dict[str, Any]:
    """Read a TOML file of settings; their values are not checked.

    Raises
    ------
    ConfigError
        If the file cannot be read, others can change it, it is no TOML, a key is unknown, or
        others can read a secret or a password in it.
    """
    data, mode = _read_private(path, "the settings file")
    found = _parse(path, data)
    known = (*KINDS, *OTHER_NAMES.values())
    for key, value in found.items():
        if isinstance(value, dict) and (value or key not in known):
            raise ConfigError(
                f"{path} has a table [{key}]; put settings at the top level, before any table"
            )
        check_known(key, known, f"{path} has")
    url = found.get("shared_url")
    if "shared_secret" in found or (isinstance(url, str) and place_of_url(url) != url):
        _refuse_readers(path, mode)
    return found


def read_secret(label: str, path: object) -> bytes:
    """Read a secret from a file that only the user can read; one newline at its end is left out.

    Parameters
    ----------
    label
        What messages call the setting that names the file.
    path
        That setting's value.

    Raises
    ------
    ConfigError
        If the path is not absolute, the file cannot be read, or others can read or change it.
    """
    if not isinstance(path, str) or not os.path.isabs(path):
        raise ConfigError(f"{label} is {path!r}; give an absolute path as text")
    data, mode = _read_private(path, label)
    _refuse_readers(path, mode)
    return data.removesuffix(b"\n")


def check_known(key: str, known: Collection[str], where: str) -> None:
    """See that a setting exists.

    Raises
    ------
    ConfigError
        If not; it names the setting that is meant, or all of them.
    """
    if key in known:
        return
    import difflib  # takes some milliseconds, and only a mistake needs it

    near = difflib.get_close_matches(key.lower().replace("-", "_"), known, n=1)
    cure = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(known)}"
    raise ConfigError(f"{where} {key!r}, which is no setting; {cure}")


def _parse(path: str, data: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):  # here, as who needs only a secret's file does without
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deep; settings are numbers and texts") from error
    except ValueError as error:  # TOMLDecodeError, and numbers that are too long for Python
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def _read_private(path: str, what: str) -> tuple[bytes, int]:
    """Read a file that only this user and root can change; give its mode, too."""
    if "\0" in path:
        raise ConfigError(f"{what} is {path!r}; a path has no null characters")
    try:
        # A planted pipe does not block the opening.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            _check_file(path, status)
            data = _read(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        cure = (
            "make it, or unset what names it"
            if isinstance(error, FileNotFoundError)
            else ("see that you can read it")
        )
        raise ConfigError(f"{what} {path!r}: {error.strerror}; {cure}") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{what} {path!r} has more than {_MOST_BYTES} bytes; name another file")
    return data, status.st_mode


def _read(descriptor: int) -> bytes:
    data = b""
    while len(data) <= _MOST_BYTES and (more := os.read(descriptor, _MOST_BYTES + 1)):
        data += more
    return data


def _check_file(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path!r} is not a regular file; name one, or unset what names it")
    if status.st_uid not in (os.geteuid(), 0):
        raise ConfigError(
            f"{path!r} belongs to another user (id {status.st_uid}), who could make this process "
            "run code; make a copy of your own"
        )
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise ConfigError(
            f"others can write to {path!r} and could make this process run code; see that it holds "
            f"what you want, then run: chmod go-w {path!r}"
        )


def _refuse_readers(path: str, mode: int) -> None:
    if mode & _OTHERS_MAY_READ:
        raise ConfigError(
            f"others can read {path!r}, which holds a secret; run: chmod 600 {path!r}, "
            "and make a new secret"
        )
