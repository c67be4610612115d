"""What lies in a store where something of the store's own should, and would block it for good."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from twinjit.store.layout import Layout

__all__ = ["remove_obstacle"]


def remove_obstacle(layout: Layout, path: str) -> bool:
    """Remove what is of the wrong kind on the way to an entry: a file for a folder, or vice versa.

    Only what lies in the store's own folder is touched, which nobody else can write to.

    Parameters
    ----------
    layout
        The store's.
    path
        The entry that shall be written.

    Returns
    -------
    bool
        Whether anything was removed.
    """
    folders = (layout.staging, os.path.dirname(os.path.dirname(path)), os.path.dirname(path))
    files = (layout.ledger, path)
    removed = [_remove_unless(folder, stat.S_ISDIR) for folder in folders]
    removed += [_remove_unless(file, stat.S_ISREG) for file in files]
    return any(removed)


def _remove_unless(path: str, is_right: Callable[[int], bool]) -> bool:
    # It is not there, or cannot be removed: the put says so. ImportError: no descriptor is left.
    with suppress(OSError, ImportError):
        mode = os.lstat(path).st_mode
        if is_right(mode):
            return False
        if stat.S_ISDIR(mode):
            import shutil  # once in years

            shutil.rmtree(path)
        else:
            os.unlink(path)
        return True
    return False
