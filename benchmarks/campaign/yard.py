"""What the processes of the kill campaign share."""

from __future__ import annotations

import mmap
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from benchmarks.campaign.finding import Finding
from benchmarks.campaign.material import UNBOUNDED, OpenStore
from twinjit import DiskStore

__all__ = ["COUNTED", "Board", "Yard"]

COUNTED = ("puts", "gets", "evicting_puts", "compiles", "prunes", "longest_call_us")

_CELL = 8
_ACKNOWLEDGED = Struct("<QQ")  # the number of an artifact, and 1 if it is about its direct record


class Board:
    """Counters in memory that this process and its forks share.

    Each process counts in a row of its own, so that no addition is lost; what a killed process
    counted stays.

    Parameters
    ----------
    rows
        How many processes count at a time.
    """

    def __init__(self, rows: int) -> None:
        self._width = len(COUNTED)
        self._cells = memoryview(mmap.mmap(-1, _CELL * (rows * self._width + 1))).cast("Q")

    def stop(self) -> None:
        """Tell all processes to end."""
        self._cells[-1] = 1

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return bool(self._cells[-1])

    def add(self, row: int, name: str) -> None:
        """Count one more in a row."""
        self._cells[row * self._width + COUNTED.index(name)] += 1

    def raise_to(self, row: int, name: str, value: int) -> None:
        """Keep the largest value of a row."""
        cell = row * self._width + COUNTED.index(name)
        self._cells[cell] = max(self._cells[cell], value)

    def values(self, name: str) -> list[int]:
        """What all rows have counted under a name."""
        return list(self._cells[COUNTED.index(name) : -1 : self._width])


@dataclass(frozen=True)
class Yard:
    """Three stores, and what is known about them.

    Attributes
    ----------
    folder
        Where everything is. The store ``kept`` has no bound, and nothing is removed from it;
        ``bounded`` evicts; compilers use ``compiled``, and remove what they compiled.
    seed
        What all choices follow from.
    bound
        Of the bounded store, in bytes.
    board
        Counters.
    open_store
        Makes the stores, but for that of the compilers.
    """

    folder: Path
    seed: int
    bound: int
    board: Board
    open_store: OpenStore

    def kept(self) -> DiskStore:
        """Open the store that keeps everything."""
        return self.open_store(self.folder / "kept", UNBOUNDED)

    def bounded(self) -> DiskStore:
        """Open the store that evicts."""
        return self.open_store(self.folder / "bounded", self.bound)

    @property
    def compiled(self) -> Path:
        """The directory of the compilers' store."""
        return self.folder / "compiled"

    def rng(self, worker: object) -> random.Random:
        """Make the source of a worker's choices."""
        return random.Random(f"kills {self.seed} {worker}")

    def acknowledge(self, number: int, *, direct: bool = False) -> None:
        """Take down that a put returned True. One append: whole, or not done."""
        _append(self.folder / "acknowledged", _ACKNOWLEDGED.pack(number, direct))

    def acknowledged(self) -> Iterator[tuple[int, bool]]:
        """Walk what was acknowledged, in no order, each once."""
        with suppress(FileNotFoundError):
            pairs = _ACKNOWLEDGED.iter_unpack((self.folder / "acknowledged").read_bytes())
            yield from {(number, bool(direct)) for number, direct in pairs}

    def any_acknowledged(self, rng: random.Random) -> tuple[int, bool] | None:
        """Choose one of what was acknowledged, in one short read."""
        try:
            with open(self.folder / "acknowledged", "rb") as file:
                count = os.fstat(file.fileno()).st_size // _ACKNOWLEDGED.size
                file.seek(rng.randrange(count) * _ACKNOWLEDGED.size if count else 0)
                data = file.read(_ACKNOWLEDGED.size)
        except FileNotFoundError:
            return None
        if not data:
            return None
        number, direct = _ACKNOWLEDGED.unpack(data)
        return number, bool(direct)

    def found(self, kind: str, place: str, text: str) -> None:
        """Take down a finding, from any process."""
        line = "\t".join((kind, place, text.replace("\n", " | ").replace("\t", " ")))
        _append(self.folder / "findings", f"{line}\n".encode())

    def findings(self) -> Iterator[Finding]:
        """Walk the findings of all processes."""
        with suppress(FileNotFoundError):
            for line in (self.folder / "findings").read_text().splitlines():
                yield Finding(*line.split("\t"))


def _append(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
