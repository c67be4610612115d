"""Where code comes from without compiling: memory first, then the stores."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from twinjit.artifact import Artifact
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.errors import ArtifactError
from twinjit.executable import ARTIFACT_OBJECTS, LoadedCode
from twinjit.forks import fork_lock
from twinjit.key import DIGEST_SIZE
from twinjit.report import Tier
from twinjit.store.base import Store
from twinjit.store.memory import LruCache
from twinjit.symbols import NO_SYMBOLS, Symbols

__all__ = ["Tiers", "tiers_of_process"]

_lock = fork_lock()  # guards `_all`
_all: weakref.WeakSet[Tiers] = weakref.WeakSet()


def tiers_of_process() -> list[Tiers]:
    """Return all that are alive."""
    with _lock:
        return list(_all)


@dataclass(frozen=True)
class _Unbound:
    """Code that each program links to constants or symbols of its own."""

    artifact: Artifact
    is_stored: bool

    objects = ARTIFACT_OBJECTS

    @classmethod
    def of(cls, held: LoadedCode | _Unbound) -> _Unbound:
        return held if isinstance(held, cls) else cls(held.artifact, held.is_stored)

    @property
    def size(self) -> int:
        return self.artifact.size + self.objects


class TierSizes(NamedTuple):
    """Bytes that a memory tier holds.

    Attributes
    ----------
    pages
        Of linked code and its constants.
    artifacts
        Of sections.
    objects
        Of objects around them, about.
    """

    pages: int
    artifacts: int
    objects: int


class Tiers:
    """Code by the digest of its key.

    Code that looks for constants outside of its object is linked for each set of them, and so is
    code to which addresses of symbols are given; it is found by the key's digest, and once linked
    also by its `LoadedCode.content`.

    Parameters
    ----------
    stores
        The tiers below memory by name, nearest first. What is found in one is put into those
        before it.
    memory_max_bytes
        Bound of the memory tier.
    """

    def __init__(self, stores: Sequence[tuple[Tier, Store]], memory_max_bytes: int) -> None:
        self._stores = stores
        self._memory: LruCache[bytes, LoadedCode | _Unbound] = LruCache(memory_max_bytes)
        with _lock:
            _all.add(self)

    @property
    def code_bytes(self) -> int:
        """What the memory tier holds."""
        return self._memory.stats().bytes

    def sizes(self) -> TierSizes:
        """Sum up what the memory tier holds."""
        held = self._memory.values()
        return TierSizes(
            pages=sum(each.pages for each in held if isinstance(each, LoadedCode)),
            artifacts=sum(each.artifact.size for each in held),
            objects=sum(each.objects for each in held),
        )

    def find(
        self,
        content: bytes,
        constants: Callable[[], Constants],
        symbols: Symbols = NO_SYMBOLS,
    ) -> tuple[LoadedCode, Tier] | None:
        """Look in the tiers, nearest first.

        An entry that cannot be linked is a miss, and discarded.

        Parameters
        ----------
        content
            The digest of the key, or a `LoadedCode.content`.
        constants
            Gives the program's constants; called only where they are needed.
        symbols
            What it may refer to.
        """
        held = self._memory.get(content + symbols.digest)
        if isinstance(held, LoadedCode):
            return held, "memory"
        key_digest = content[:DIGEST_SIZE]
        held = self._memory.get(key_digest)
        if held is not None:
            try:
                return self._load(_Unbound.of(held), constants, symbols), "memory"
            except ArtifactError:  # the stores have the same, and will say so
                self._memory.remove(key_digest)
        for place, (tier, store) in enumerate(self._stores):
            artifact = store.get(key_digest)
            if not artifact:
                continue
            found = self._try_load_from(store, artifact, constants, symbols, tier)
            if found:
                for _, nearer in self._stores[:place]:
                    found[0].is_stored |= nearer.put(found[0].artifact)
                return found
        return None

    def find_artifact(self, key_digest: bytes) -> tuple[Artifact, Tier] | None:
        """Look for code that is to be linked by the caller, nearest first."""
        held = self._memory.get(key_digest)
        if held is not None:
            return held.artifact, "memory"
        for place, (tier, store) in enumerate(self._stores):
            artifact = store.get(key_digest)
            if artifact:
                for _, nearer in self._stores[:place]:
                    nearer.put(artifact)
                self._keep_unbound(_Unbound(artifact, is_stored=True))
                return artifact, tier
        return None

    def keep_artifact(self, artifact: Artifact) -> None:
        """Keep new code that is to be linked by the caller, in memory and in the stores."""
        stored = [store.put(artifact) for _, store in self._stores]
        self._keep_unbound(_Unbound(artifact, any(stored)))

    def where(self, key_digest: bytes) -> Tier:
        """Say where `find` would look first with success; ``"compiled"`` where nowhere."""
        if key_digest in self._memory:
            return "memory"
        holding = (tier for tier, store in self._stores if store.contains(key_digest))
        return next(holding, "compiled")

    def publish(
        self, artifact: Artifact, constants: Constants, symbols: Symbols = NO_SYMBOLS
    ) -> LoadedCode:
        """Link new code, which fails if it lacks symbols, and keep it in memory."""
        return self._load(_Unbound(artifact, is_stored=False), lambda: constants, symbols)

    def store_published(self, code: LoadedCode) -> None:
        """Keep in the stores what was published."""
        if not self._stores:
            return
        for _, store in self._stores:
            code.is_stored |= store.put(code.artifact)
        if code.identity != code.artifact.key_digest:
            self._keep_unbound(_Unbound(code.artifact, code.is_stored))

    def forget(self, code: LoadedCode) -> None:
        """Drop code and its entry from all tiers; who holds it can go on using it."""
        self._memory.remove(code.identity)
        self.forget_artifact(code.artifact.key_digest)

    def forget_artifact(self, key_digest: bytes) -> None:
        """Drop what is kept under a key from all tiers."""
        self._memory.remove(key_digest)
        for _, store in self._stores:
            store.remove(key_digest)

    def clear_memory(self) -> None:
        """Let go of all that memory holds."""
        self._memory.clear()

    def _try_load_from(
        self,
        store: Store,
        artifact: Artifact,
        constants: Callable[[], Constants],
        symbols: Symbols,
        tier: Tier,
    ) -> tuple[LoadedCode, Tier] | None:
        try:
            return self._load(_Unbound(artifact, is_stored=True), constants, symbols), tier
        except ArtifactError as error:
            store.discard(artifact.key_digest, error)  # whole, yet unusable: a miss
            return None

    def _load(
        self, unbound: _Unbound, find_constants: Callable[[], Constants], symbols: Symbols
    ) -> LoadedCode:
        is_needed = LiftedConstant.all_of(unbound.artifact)
        constants = find_constants() if is_needed else NO_CONSTANTS
        key_digest = unbound.artifact.key_digest
        identity = key_digest + constants.digest + symbols.digest
        held = self._memory.get(identity) if identity != key_digest else None
        if isinstance(held, LoadedCode):
            return held
        code = LoadedCode(unbound.artifact, constants, symbols, is_stored=unbound.is_stored)
        if identity != key_digest:
            self._keep_unbound(unbound)
        self._memory.put(code.identity, code, code.size)
        return code

    def _keep_unbound(self, unbound: _Unbound) -> None:
        """Keep an artifact to link it again, unless code that has it is there."""
        if isinstance(self._memory.get(unbound.artifact.key_digest), LoadedCode):
            return
        self._memory.put(unbound.artifact.key_digest, unbound, unbound.size)
