"""Where code comes from without compiling: memory first, then the disk store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from twinjit.artifact import Artifact
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.errors import ArtifactError
from twinjit.executable import LoadedCode
from twinjit.key import DIGEST_SIZE
from twinjit.report import Tier
from twinjit.store.disk import DiskStore
from twinjit.store.flight import Outcome
from twinjit.store.memory import LruCache

__all__ = ["Tiers"]


@dataclass(frozen=True)
class _Unbound:
    """Code that each program links to constants of its own."""

    artifact: Artifact
    is_stored: bool


class Tiers:
    """Code by the digest of its key.

    Code that looks for constants outside of its object is linked for each set of them; it is found
    by the key's digest, and once linked also by its `LoadedCode.identity`.

    Parameters
    ----------
    store
        The disk tier, if there is one.
    memory_max_bytes
        Bound of the memory tier.
    wait_seconds
        Limit of a wait for another process.
    """

    def __init__(self, store: DiskStore | None, memory_max_bytes: int, wait_seconds: float) -> None:
        self.store = store
        self._wait_seconds = wait_seconds
        self._memory: LruCache[bytes, LoadedCode | _Unbound] = LruCache(memory_max_bytes)

    @property
    def code_bytes(self) -> int:
        """What the memory tier holds."""
        return self._memory.stats().bytes

    def find(
        self, identity: bytes, constants: Callable[[], Constants]
    ) -> tuple[LoadedCode, Tier] | None:
        """Look in the tiers, nearest first.

        An entry that cannot be linked is a miss, and discarded.

        Parameters
        ----------
        identity
            The digest of the key, or a `LoadedCode.identity`.
        constants
            Gives the program's constants; called only where they are needed.
        """
        held = self._memory.get(identity)
        if isinstance(held, LoadedCode):
            return held, "memory"
        key_digest = identity[:DIGEST_SIZE]
        if identity != key_digest:
            held = self._memory.get(key_digest)
        if isinstance(held, _Unbound):
            return self._try_load(held, constants, "memory")
        artifact = self.store.get(key_digest) if self.store else None
        if artifact is None:
            return None
        return self._try_load(_Unbound(artifact, is_stored=True), constants, "disk")

    def where(self, key_digest: bytes) -> Tier:
        """Say where `find` would look first with success; ``"compiled"`` where nowhere."""
        if key_digest in self._memory:
            return "memory"
        return "disk" if self.store and self.store.contains(key_digest) else "compiled"

    def request_turn(self, request: bytes) -> AbstractContextManager[Outcome]:
        """Hold a request's turn among processes, or go on without after a wait."""
        if self.store:
            return self.store.direct_turn(request, self._wait_seconds)
        return nullcontext("unlocked")

    def turn(self, key_digest: bytes, *, waits: bool) -> AbstractContextManager[Outcome]:
        """Hold a key's turn likewise."""
        if self.store:
            return self.store.turn(key_digest, self._wait_seconds if waits else 0)
        return nullcontext("unlocked")

    def publish(self, artifact: Artifact, constants: Constants) -> LoadedCode:
        """Link new code, which fails if it lacks symbols, and keep it in memory."""
        return self._load(_Unbound(artifact, is_stored=False), constants)

    def store_published(self, code: LoadedCode) -> None:
        """Keep on disk what was published."""
        if self.store:
            code.is_stored = self.store.put(code.artifact)
            if code.identity != code.artifact.key_digest:
                self._keep_unbound(_Unbound(code.artifact, code.is_stored))

    def forget(self, code: LoadedCode) -> None:
        """Drop code and its entry from all tiers; who holds it can go on using it."""
        self._memory.remove(code.identity)
        self._memory.remove(code.artifact.key_digest)
        if self.store:
            self.store.remove(code.artifact.key_digest)

    def clear_memory(self) -> None:
        """Let go of all that memory holds."""
        self._memory.clear()

    def _try_load(
        self, unbound: _Unbound, constants: Callable[[], Constants], tier: Tier
    ) -> tuple[LoadedCode, Tier] | None:
        try:
            needed = LiftedConstant.all_of(unbound.artifact)
            return self._load(unbound, constants() if needed else NO_CONSTANTS), tier
        except ArtifactError as error:
            # Whole, yet unusable: a miss, which replaces it.
            self._memory.remove(unbound.artifact.key_digest)
            if self.store:
                self.store.discard(unbound.artifact.key_digest, error)
            return None

    def _load(self, unbound: _Unbound, constants: Constants) -> LoadedCode:
        identity = unbound.artifact.key_digest + constants.digest
        held = self._memory.get(identity) if constants.contents else None
        if isinstance(held, LoadedCode):
            return held
        code = LoadedCode(unbound.artifact, constants, is_stored=unbound.is_stored)
        if constants.contents:
            self._keep_unbound(unbound)
        self._memory.put(code.identity, code, code.size)
        return code

    def _keep_unbound(self, unbound: _Unbound) -> None:
        artifact = unbound.artifact
        size = sum(len(content) for _, content in artifact.sections)
        self._memory.put(artifact.key_digest, unbound, size)
