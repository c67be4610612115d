"""Output files, which appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Give a file to write that takes the place of `path` when the ``with`` statement ends well.

    A symbolic link stays, and what it leads to is replaced. What is no regular file, such as a
    device or a pipe, is written as it is.

    Raises
    ------
    OSError
        If the file cannot be written or moved; nothing is left behind.
    """
    try:
        with _target(os.path.realpath(path)) as file:
            yield file
    except OSError as error:
        error.filename, error.filename2 = path, None  # not of the stand-in
        raise


@contextmanager
def _target(path: str) -> Iterator[BinaryIO]:
    if os.path.lexists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
