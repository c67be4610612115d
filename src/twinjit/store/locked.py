"""Files that are locked, and whose locks end with the process that took them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from io import FileIO

__all__ = ["LockedFile"]

# Guards `_files`. It is held while a file is opened and listed or closed, and by whoever forks, so
# that a child finds each file that it inherits. Reentrant, for a signal handler may fork.
_forking = threading.RLock()
_files: weakref.WeakSet[FileIO] = weakref.WeakSet()


class LockedFile(FileIO):
    """A file that is closed in each child that is forked meanwhile.

    A lock (of ``flock``, or of an open file description) holds until all copies of its descriptor
    are closed: a child that kept one would hold it for as long as it lives, even after its parent
    was killed. The child closes it and does not unlock, which would end it for the parent, too.

    Parameters
    ----------
    path, mode, opener
        As for `io.FileIO`.
    """

    def __init__(
        self, path: str, mode: str, opener: Callable[[str, int], int] | None = None
    ) -> None:
        with _forking:
            super().__init__(path, mode, opener=opener)
            _files.add(self)

    def close(self) -> None:
        """Close the file, and end its locks unless a child that Python does not know has it."""
        with _forking:
            super().close()


def _close_inherited() -> None:
    global _forking
    _forking = threading.RLock()
    for file in list(_files):
        file.close()


os.register_at_fork(
    before=lambda: _forking.acquire(),
    after_in_parent=lambda: _forking.release(),
    after_in_child=_close_inherited,
)
