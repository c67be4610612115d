"""What processes of ours write to their standard error."""

from __future__ import annotations

import os

__all__ = ["OUTPUT_BYTES", "Output"]

OUTPUT_BYTES = 4096
"""How much is kept of what a process wrote."""


class Output:
    """A file in memory for it, which costs no disk and goes with its last holder.

    Parameters
    ----------
    name
        Shown by the system where it lists descriptors.

    Attributes
    ----------
    fd
        Its descriptor, which is not inherited.

    Raises
    ------
    OSError
        If there is no memory or no descriptor for it.
    """

    def __init__(self, name: str) -> None:
        self.fd = os.memfd_create(name, os.MFD_CLOEXEC)

    def end(self) -> str:
        """Read the end of what was written, cut to `OUTPUT_BYTES`."""
        size = os.fstat(self.fd).st_size
        data = os.pread(self.fd, OUTPUT_BYTES, max(0, size - OUTPUT_BYTES))
        return data.decode(errors="backslashreplace")

    def clear(self) -> None:
        """Forget what was written, between jobs."""
        os.ftruncate(self.fd, 0)
        os.lseek(self.fd, 0, os.SEEK_SET)  # the writer's, too: they share the offset

    def close(self) -> None:
        """Let go of it; any number of times."""
        fd, self.fd = self.fd, -1  # first: whatever gets in between, once is enough
        if fd >= 0:
            os.close(fd)
