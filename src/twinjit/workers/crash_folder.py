"""The folder that reproducers are saved in, and reading one from wherever it is."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress

from twinjit.errors import ReproducerError
from twinjit.store.files import UntrustedError, check_private, make_private, read_private
from twinjit.workers.advice import README_FILE, to_readme
from twinjit.workers.reproducer import CRASH_FILE, PROGRAM_FILES, Reproducer

__all__ = ["KEPT", "KEPT_BYTES", "read_reproducer", "save_reproducer"]

KEPT = 32
"""How many reproducers a folder holds at most."""

KEPT_BYTES = 1 << 30
"""How many bytes they take at most, but for the newest."""

_FINISHED = re.compile(r"\d{8}T\d{6}Z-(?P<digest>[0-9a-f]{16})")
_UNFINISHED = ".unfinished-"
_ABANDONED_SECONDS = 3600.0
_FILES = frozenset((CRASH_FILE, README_FILE, *PROGRAM_FILES))

_MOST_JSON = 1 << 20
_MOST_PROGRAM = 1 << 30


def save_reproducer(reproducer: Reproducer, folder: str) -> str:
    """Put a reproducer into a folder, whole or not at all, and remove the oldest beyond the bounds.

    Where the same crash of the same program is there already, that stays, and nothing is written.

    Parameters
    ----------
    reproducer
        What to save.
    folder
        Absolute path; made if it is missing.

    Returns
    -------
    str
        Path of the directory.

    Raises
    ------
    OSError
        If it cannot be written; UntrustedError if others can look into the folder, or own it.
    """
    make_private(folder)
    check_private(folder)
    for name in _finished(folder):
        if name.endswith(reproducer.digest):
            return os.path.join(folder, name)
    unfinished = os.path.join(folder, f"{_UNFINISHED}{os.getpid()}-{os.urandom(8).hex()}")
    path = os.path.join(folder, reproducer.name)
    try:
        os.mkdir(unfinished, 0o700)
        _write(unfinished, reproducer.program_file, reproducer.source.data)
        _write(unfinished, CRASH_FILE, reproducer.to_json())
        _write(unfinished, README_FILE, to_readme(reproducer).encode())
        _publish(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # not there if all went well
    _keep_bounds(folder, newest=reproducer.name)
    return path


def read_reproducer(path: str) -> Reproducer:
    """Read a reproducer from its directory.

    Raises
    ------
    ReproducerError
        If it is not one, or damaged.
    UntrustedError
        If one of its files is not this user's own, or others could have changed it.
    OSError
        If it cannot be read.
    """
    names = os.listdir(path)
    programs = sorted(set(names) & set(PROGRAM_FILES))
    if CRASH_FILE not in names or len(programs) != 1:
        raise ReproducerError(
            f"{path} is not a reproducer: it should have {CRASH_FILE} and one of "
            f"{', '.join(PROGRAM_FILES)}"
        )
    text = _read(os.path.join(path, CRASH_FILE), _MOST_JSON)
    program = _read(os.path.join(path, programs[0]), _MOST_PROGRAM)
    return Reproducer.from_json(text, program, os.path.join(path, CRASH_FILE))


def _write(folder: str, name: str, data: bytes) -> None:
    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    with open(os.path.join(folder, name), "xb", opener=private) as file:
        file.write(data)


def _publish(unfinished: str, path: str) -> None:
    try:
        os.rename(unfinished, path)
    except OSError:
        # Another process or thread saves the same crash in the same second, and was first.
        if not os.path.isdir(path):
            raise


def _read(path: str, most: int) -> bytes:
    # Who could replace the file after this look is the user alone: read_private sees to it.
    size = os.lstat(path).st_size
    if size > most:
        raise ReproducerError(f"{path} has {size} bytes; a reproducer's has at most {most}")
    data = read_private(path, mark=False)
    if data is None:  # only files that are too old are not read, and none is
        raise UntrustedError("gone", path)
    return data


def _finished(folder: str) -> list[str]:
    """Name the reproducers, the oldest first."""
    return sorted(filter(_FINISHED.fullmatch, os.listdir(folder)))


def _keep_bounds(folder: str, newest: str) -> None:
    _sweep(folder)
    size = 0
    for count, name in enumerate(reversed(_finished(folder)), start=1):
        path = os.path.join(folder, name)
        # Another process may remove it, too; what is left then is for the next time.
        with suppress(OSError):
            size += sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(path))
            if name != newest and (count > KEPT or size > KEPT_BYTES):
                _remove(path)


def _remove(path: str) -> None:
    """Remove a reproducer, unless somebody has put more into it, which makes it theirs."""
    if set(os.listdir(path)) <= _FILES:
        shutil.rmtree(path)


def _sweep(folder: str) -> None:
    """Remove what processes that died while they saved have left behind."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with suppress(OSError):
            if name.startswith(_UNFINISHED):
                age = time.time() - os.lstat(path).st_mtime
                if age > _ABANDONED_SECONDS:
                    shutil.rmtree(path)
