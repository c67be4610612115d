"""Finding the files of a store and removing those used longest ago."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from twinjit.store.ledger import blocks

__all__ = ["Found", "evict", "scan"]


_CLOCKS_DIFFER_NS = 60 * 10**9  # at most, among the machines that use a directory


class Found(NamedTuple):
    """One file of a store.

    Attributes
    ----------
    used
        When it was last used, in nanoseconds of the system's clock.
    path
        Where it is.
    size
        Its bytes.
    """

    used: int
    path: str
    size: int

    @property
    def blocks(self) -> int:
        """What it takes, in blocks of `twinjit.store.ledger`."""
        return blocks(self.size)


def scan(directory: str, suffix: str) -> Iterator[Found]:
    """Walk the files with a suffix in the folders of a directory.

    Folders and files that vanish meanwhile, or never were, are passed over.

    Raises
    ------
    OSError
        If a folder is there but cannot be listed.
    """
    for folder in _entries(directory):
        if not folder.is_dir(follow_symlinks=False):
            continue
        for file in _entries(folder.path):
            if not file.name.endswith(suffix):
                continue
            try:
                status = file.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield Found(status.st_mtime_ns, file.path, status.st_size)


def evict(
    found: Collection[Found], allowed: int, report: Callable[[OSError], None]
) -> tuple[list[Found], int]:
    """Remove files, those used longest ago first, until the rest takes no more than is allowed.

    A time in the future is one from before the clock was set back: longer ago than all others. A
    file that another process removes first counts for neither side; one that cannot be removed
    stays in the total.

    Parameters
    ----------
    found
        All files.
    allowed
        Blocks that may stay.
    report
        Called with each failure to remove a file.

    Returns
    -------
    tuple
        The files removed, and the blocks that stay.
    """
    total = sum(file.blocks for file in found)
    removed = []
    future = time.time_ns() + _CLOCKS_DIFFER_NS
    for file in sorted(found, key=lambda file: (file.used <= future, file)):
        if total <= allowed:
            break
        try:
            os.unlink(file.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            report(error)
            continue
        else:
            removed.append(file)
        total -= file.blocks
    return removed, total


def _entries(directory: str) -> Iterator[os.DirEntry[str]]:
    try:
        listing = os.scandir(directory)
    except FileNotFoundError:
        return
    with listing:
        yield from listing
