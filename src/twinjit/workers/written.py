"""What was a live module in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinjit.lazily import lazily
from twinjit.subject import LocalSubject, load_mlir

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["WrittenSubject"]


class WrittenSubject(LocalSubject):
    """A program that was a live module in another process; see `Subject`."""

    @lazily
    def program(self) -> _mlir.Program:
        """In a private context."""
        load_mlir(self._clock)
        from twinjit._native import _mlir

        read = _mlir.read_written(self.source.data)  # type: ignore[union-attr]  # bytes, always
        self._clock.lap("parse")
        return read
