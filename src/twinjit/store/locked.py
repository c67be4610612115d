"""Files that are locked, and whose locks end with the process that took them."""

from __future__ import annotations

import errno
import os
import threading
import weakref
from io import FileIO

__all__ = ["InheritedError", "LockedFile"]

# Guards `_files`. It is held while a file is opened and listed or closed, and by whoever forks, so
# that a child finds each file that it inherits. Reentrant, for a signal handler may fork.
_forking = threading.RLock()
_files: weakref.WeakSet[FileIO] = weakref.WeakSet()


class InheritedError(OSError):
    """A forked child goes on with what its parent was doing with a locked file."""


def _inherited() -> InheritedError:
    return InheritedError(errno.EBADF, "the file is the parent's, and closed in its child")


class LockedFile(FileIO):
    """A file that is closed in each child that is forked meanwhile.

    A lock (of ``flock``, or of an open file description) holds until all copies of its descriptor
    are closed: a child that kept one would hold it for as long as it lives, even after its parent
    was killed. The child closes it and does not unlock, which would end it for the parent, too.

    Parameters
    ----------
    path
        The file. No link is followed, no pipe waited for.
    flags, mode
        Those of `os.open`.
    """

    def __init__(self, path: str, flags: int, mode: int = 0o600) -> None:
        self._process = os.getpid()  # a signal handler may fork before the file is listed
        flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        opened: list[int] = []
        with _forking:
            try:
                # In one call, for a signal handler may raise after any: it would be lost.
                opened.extend(map(os.open, (path,), (flags,), (mode,)))
                super().__init__(opened[0], "r+b")
                _files.add(self)
            except BaseException:
                if self.closed:  # it takes no descriptor over that it fails with
                    for descriptor in opened:
                        os.close(descriptor)
                else:
                    super().close()
                raise

    def __enter__(self) -> LockedFile:
        return self

    def __exit__(self, _: object, error: object, __: object) -> None:
        """Close the file; raises InheritedError if it was that which made the body fail."""
        if self._process != os.getpid() and isinstance(error, OSError):
            raise _inherited() from None
        self.close()

    def fileno(self) -> int:
        """Return the descriptor.

        Raises
        ------
        InheritedError
            In a child that was forked since, as a signal handler may in the middle of anything.
        """
        if self._process != os.getpid():
            self.close()
        try:
            return super().fileno()
        except ValueError:
            raise _inherited() from None

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
