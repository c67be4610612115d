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

    A ledger that another name leads to, too, is of the wrong kind; see `files.check_book`.

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
    removed = [_remove_unless(folder, stat.S_ISDIR) for folder in folders]
    removed.append(_remove_unless(path, stat.S_ISREG))
    removed.append(_remove_unless(layout.ledger, stat.S_ISREG, has_one_name=True))
    return any(removed)


def _remove_unless(
    path: str, is_right: Callable[[int], bool], *, has_one_name: bool = False
) -> bool:
    # It is not there, or cannot be removed: the put says so. ImportError: no descriptor is left.
    with suppress(OSError, ImportError):
        status = os.lstat(path)
        if is_right(status.st_mode) and not (has_one_name and status.st_nlink > 1):
            return False
        if stat.S_ISDIR(status.st_mode):
            import shutil  # once in years

            shutil.rmtree(path)
        else:
            os.unlink(path)
        return True
    return False
