"""The campaign that damages files of a store, and reads them.

Findings
--------
``accepted``
    A changed entry or record was taken as whole; or, after a change of another file of the store,
    an entry was read as something else than what was put.
``lost``
    An entry was not found after a change of another file.
``unhealed``
    The next put was refused, or the next get did not find what it put.
``raised``
    A call of the store or of a compiler raised an exception.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.campaign.damage import DAMAGES, flip
from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import (
    UNBOUNDED,
    OpenStore,
    artifact,
    program,
    result,
    same,
    source,
)
from twinjit import Compiler
from twinjit.errors import CacheWarning

__all__ = ["OTHER_FINDINGS", "run"]

OTHER_FINDINGS = ("lost", "unhealed", "raised")

_ENTRIES = 24
_PROGRAMS = 4


class _Victim(NamedTuple):
    """A file, and how to read and to write what is in it."""

    path: Path
    kind: str  # "entry", "record" or "other"
    read: Callable[[], bool | None]  # whether it gave what was put; None for a miss
    put: Callable[[], bool]


def run(
    folder: Path, *, seed: int, flips: int, others: int, compiles: int, open_store: OpenStore
) -> Account:
    """Damage files one after another.

    Parameters
    ----------
    folder
        An empty folder for the stores.
    seed
        What all choices follow from.
    flips
        Single bits to change: first each bit of one record and of one small entry, as far as that
        goes, then random ones.
    others
        Damages of each other kind.
    compiles
        Damages that a `Compiler` meets, of all kinds.
    open_store
        Makes the store.
    """
    account = Account()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        campaign = _Campaign(folder / "store", seed, account, open_store)
        campaign.flip_each_bit(limit=flips // 2)
        campaign.damage_at_random(flips, others)
        _compile_damaged(folder / "compiled", seed, compiles, account)
    return account


class _Campaign:
    """One store, and the damage done to it."""

    def __init__(self, root: Path, seed: int, account: Account, open_store: OpenStore) -> None:
        self._seed = seed
        self._account = account
        self._rng = random.Random(f"flips {seed}")
        self._store = open_store(root, UNBOUNDED)
        self._victims = list(self._fill(root))
        self._step = 0

    def flip_each_bit(self, limit: int) -> None:
        """Flip each bit of the smallest record and the smallest entry, but no more than a limit."""
        for kind in ("record", "entry"):
            victims = [victim for victim in self._victims if victim.kind == kind]
            victim = min(victims, key=lambda victim: victim.path.stat().st_size)
            data = victim.path.read_bytes()
            for bit in range(min(8 * len(data), limit)):
                changed = bytearray(data)
                changed[bit // 8] ^= 1 << bit % 8
                self._try(victim, "bit_flips", bytes(changed))
            limit -= min(8 * len(data), limit)

    def damage_at_random(self, flips: int, others: int) -> None:
        """Damage random files until there were so many flips and damages of each other kind."""
        while self._account.counts["bit_flips"] < flips:
            self._damage_one("bit_flips")
        for kind in DAMAGES:
            while self._account.counts[kind] < others:
                self._damage_one(kind)

    def _fill(self, root: Path) -> Iterator[_Victim]:
        for number in range(_ENTRIES):
            self._store.put(artifact(self._seed, number))
            self._store.put_direct(source(self._seed, number), _key(self._seed, number))
        digests = {_key(self._seed, number).hex(): number for number in range(_ENTRIES)}
        sources = {source(self._seed, number).hex(): number for number in range(_ENTRIES)}
        for path in _files(root):
            entry, record = _number_of(path, digests), _number_of(path, sources)
            if entry is not None:
                yield self._victim(path, "entry", entry)
            elif record is not None:
                yield self._victim(path, "record", record)
            else:
                yield self._victim(path, "other", 0)

    def _victim(self, path: Path, kind: str, number: int) -> _Victim:
        expected, request = artifact(self._seed, number), source(self._seed, number)

        def read_entry() -> bool | None:
            found = self._store.get(expected.key_digest)
            return None if found is None else same(found, expected)

        def read_record() -> bool | None:
            found = self._store.get_direct(request)
            return None if found is None else found == expected.key_digest

        def put_record() -> bool:
            return self._store.put_direct(request, expected.key_digest)

        if kind == "record":
            return _Victim(path, kind, read_record, put_record)
        return _Victim(path, kind, read_entry, lambda: self._store.put(expected))

    def _damage_one(self, kind: str) -> None:
        # The store may have removed files that are neither entries nor records.
        there = [victim for victim in self._victims if victim.path.exists()]
        filled = [victim for victim in there if victim.path.stat().st_size]
        victim = self._rng.choice(there if kind == "appended" else filled)
        data, other = victim.path.read_bytes(), self._rng.choice(filled).path.read_bytes()
        changed = DAMAGES.get(kind, flip)(data, other, self._rng)
        if changed != data:
            self._try(victim, kind, changed)

    def _try(self, victim: _Victim, kind: str, changed: bytes) -> None:
        self._step += 1
        self._account.counts[kind] += 1
        place = f"{victim.path} (seed {self._seed}, step {self._step}, {kind})"
        victim.path.write_bytes(changed)
        try:
            read = victim.read()
            if read is False or (read and victim.kind != "other"):
                self._account.found("accepted", place, f"a changed {victim.kind} was taken")
            if read is None and victim.kind == "other":
                self._account.found("lost", place, "an entry that was not damaged is missing")
            if not victim.put() or not victim.read():
                self._account.found("unhealed", place, f"the {victim.kind} was not put again")
        except Exception as error:
            self._account.found("raised", place, repr(error))


def _compile_damaged(root: Path, seed: int, steps: int, account: Account) -> None:
    """Damage the files of a compiler, and see that programs run as they should."""
    rng = random.Random(f"compiles {seed}")
    entries: dict[str, int] = {}
    for number in range(_PROGRAMS):
        entries[Compiler(cache=root).compile(program(number)).key.hex] = number
    for step in range(steps):
        paths = sorted(path for path in _files(root) if path.stat().st_size)
        path, other = rng.sample(paths, 2)
        data = path.read_bytes()
        kind = rng.choice([*DAMAGES, "bit_flips"])
        changed = DAMAGES.get(kind, flip)(data, other.read_bytes(), rng)
        path.write_bytes(changed)
        damaged = _number_of(path, entries) if changed != data else None
        account.counts["compiled_damages"] += 1
        _compile_all(root, damaged, f"{path} (seed {seed}, compile step {step}, {kind})", account)


def _compile_all(root: Path, damaged: int | None, place: str, account: Account) -> None:
    compiler = Compiler(cache=root)
    for number in range(_PROGRAMS):
        try:
            executable = compiler.compile(program(number))
            value = executable.f(1)
        except Exception as error:
            account.found("raised", place, repr(error))
            continue
        if value != result(number, 1) or (number == damaged and executable.report.tier == "disk"):
            account.found("accepted", place, f"program {number} ran as {executable.report}")


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def _number_of(path: Path, numbers: dict[str, int]) -> int | None:
    """Which digest in hexadecimal a path spells, in whatever folders it is split into."""
    spelled = "".join(path.parts)
    return next((number for digest, number in numbers.items() if digest in spelled), None)


def _key(seed: int, number: int) -> bytes:
    return artifact(seed, number).key_digest
