"""Hit, or miss: look a program up, and compile what is new.

A program is looked up in two steps, as ccache does it. Its *request* digest needs no parsing: it
covers the raw text (or, for a live module, the fingerprint) and the options. An index leads from
there to the *key*, which covers the program's fingerprint and every other input that can change the
code; the key leads to the artifact. Text that differs from known text only in spelling misses the
index, but meets the same key.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from twinjit.artifact import Artifact
from twinjit.config import Config
from twinjit.errors import ArtifactError, ConfigError, UnfingerprintableError
from twinjit.executable import Executable, LoadedCode
from twinjit.key import Key
from twinjit.lowering import ResolvedPipeline, compile_program, resolve_pipeline
from twinjit.once import Once
from twinjit.pipeline import AUTO, CHOICE_VERSION, NAMED_PIPELINES
from twinjit.policy import Policy
from twinjit.report import Clock, Report, Tier
from twinjit.request import RequestHasher
from twinjit.source import LiveModule, Source, SourceBytes, open_source
from twinjit.store.disk import DiskStore
from twinjit.store.memory import LruCache
from twinjit.target import Target
from twinjit.toolchain import TOOLCHAIN

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["Compiler", "Explanation"]

# What a change of the code outside the toolchain's libraries would need to make old artifacts
# misses: how calls pass arguments (native/codegen/emit.h), what signatures say.
# 1: first.
_CONVENTION = "1"

_REQUESTS_KEPT = 1 << 16


@dataclass(frozen=True)
class Explanation:
    """How a program would be looked up.

    Attributes
    ----------
    key
        Its key, part by part.
    tier
        Where its code would come from now: ``"memory"``, ``"disk"``, or ``"compiled"`` for a miss.
    direct
        Whether an index leads from the raw program to the key, so that a hit parses nothing.
    """

    key: Key
    tier: Tier
    direct: bool

    def __str__(self) -> str:
        parts = [
            f"{name}: {value.hex() if isinstance(value, bytes) else value}"
            for name, value in self.key.parts
        ]
        direct = "direct" if self.direct else "after parsing"
        found = "a miss" if self.tier == "compiled" else f"a hit in {self.tier}, {direct}"
        return "\n".join([*parts, f"key: {self.key.hex}", f"would be {found}"])


class Compiler:
    """Compiles programs, each distinct one once.

    Any number of threads may share one.

    Parameters
    ----------
    pipeline
        ``"auto"`` to choose by the program's dialects, a name in `NAMED_PIPELINES`, or a pass
        pipeline over ``builtin.module`` in MLIR's syntax.
    opt_level
        LLVM's optimisation level, 0 to 3.
    target
        What to make code for; the host by default.
    cache
        True for the disk store that `config` names; False, None or ``"off"`` for none; or a
        directory.
    config
        Settings; by default the environment's.

    Raises
    ------
    ConfigError
        If an option or a setting of the environment cannot be used.
    TargetError
        If code for `target` cannot run in this process.
    """

    def __init__(
        self,
        *,
        pipeline: str = AUTO,
        opt_level: int = 3,
        target: Target | None = None,
        cache: bool | str | os.PathLike[str] | None = True,
        config: Config | None = None,
    ) -> None:
        _check_options(pipeline, opt_level, target, config)
        config = config or Config.from_environment()
        self.pipeline = pipeline
        self.opt_level = opt_level
        self.target = target or Target.host()
        self.target.check_runs_here()
        self.store = _open_store(cache, config)
        self._fixed_parts = (
            ("convention", _CONVENTION),
            ("opt-level", str(opt_level)),
            ("target-triple", self.target.triple),
            ("target-cpu", self.target.cpu),
            ("target-features", self.target.features),
            ("relocation-model", "pic"),
            ("code-model", "small"),
            *((f"build-{name}", identity) for name, identity in TOOLCHAIN),
        )
        self._hasher = RequestHasher([*self._fixed_parts, *_pipeline_request(pipeline)])
        self._loaded: LruCache[bytes, LoadedCode] = LruCache(config.memory_max_bytes)
        self._once = Once()
        # Guards `_keys` and `_counts`; held for a few dictionary operations only.
        self._lock = threading.Lock()
        self._keys: OrderedDict[bytes, bytes] = OrderedDict()  # request digest to key digest
        self._counts: Counter[str] = Counter()

    def compile(self, program: object) -> Executable:
        """Return the executable of a program, compiling it if it is new.

        Parameters
        ----------
        program
            MLIR text, a path, bytecode, or a live ``mlir.ir`` Module or Operation (never modified;
            no other thread may modify it meanwhile).

        Raises
        ------
        CompilationError
            Or one of its subclasses, for a program that cannot be compiled.
        UnresolvedSymbolError
            If it calls functions that nothing in this process defines.
        UnsupportedProgramError
            If it is no program.
        OSError
            If it names a file that cannot be read.
        """
        clock = Clock()
        source = open_source(program)
        request = self._request(source, clock)
        found = self._find_by_request(request) if request else None
        if found:
            return self._deliver(*found, clock)
        return self._compile_missed(source, request, clock)

    def explain(self, program: object) -> Explanation:
        """Say how a program would be looked up, compiling nothing.

        Raises
        ------
        CompilationError
            If the program cannot be read, or no pipeline takes it.
        UnfingerprintableError
            If part of it has no identity, so that it is never cached.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        source = open_source(program)
        parsed = _read(source, Clock())
        key = self._key(_fingerprint(parsed), resolve_pipeline(self.pipeline, parsed))
        request = self._request(source, Clock())
        tier: Tier = "compiled"
        if key.digest in self._loaded:
            tier = "memory"
        elif self.store and self.store.contains(key.digest):
            tier = "disk"
        return Explanation(key, tier, direct=self._follow(request) == key.digest)

    def stats(self) -> Mapping[str, int]:
        """Count what this compiler did.

        Returns
        -------
        Mapping of str to int
            ``memory``, ``disk`` and ``compiled``: calls of `compile` by where the code came from;
            ``uncacheable``: compilations whose result has no identity, for a part of the program
            or a pass that reads files; ``code_bytes``: code held in memory.
        """
        with self._lock:
            counts = {name: self._counts[name] for name in _COUNTED}
        return {**counts, "code_bytes": self._loaded.stats().bytes}

    def clear_memory(self) -> None:
        """Forget all executables; those that someone still holds stay valid."""
        self._loaded.clear()
        with self._lock:
            self._keys.clear()

    # Lookup

    def _request(self, source: Source, clock: Clock) -> bytes | None:
        """Digest what was asked for; None for a live module without an identity."""
        if isinstance(source, SourceBytes):
            return self._hasher.of_source(source)
        _load_mlir(clock)
        try:
            return self._hasher.of_fingerprint(_fingerprint(source.capsule))
        except UnfingerprintableError:
            return None

    def _follow(self, request: bytes | None) -> bytes | None:
        """The digest of the key that a request is known to lead to."""
        if request is None:
            return None
        with self._lock:
            known = self._keys.get(request)
        return known or (self.store.get_direct(request) if self.store else None)

    def _find_by_request(self, request: bytes) -> tuple[LoadedCode, Tier] | None:
        key_digest = self._follow(request)
        return self._find(request, key_digest) if key_digest else None

    def _find(self, request: bytes, key_digest: bytes) -> tuple[LoadedCode, Tier] | None:
        """Look in the tiers, nearest first, and remember the way there."""
        tier: Tier = "memory"
        code = self._loaded.get(key_digest)
        if code is None:
            tier = "disk"
            code = self._load_stored(key_digest)
        if code is None:
            return None
        self._remember(request, key_digest)
        return code, tier

    def _load_stored(self, key_digest: bytes) -> LoadedCode | None:
        artifact = self.store.get(key_digest) if self.store else None
        if self.store is None or artifact is None:
            return None
        try:
            code = LoadedCode(artifact, is_stored=True)
        except ArtifactError as error:
            # Whole, yet unusable: a miss, which replaces it.
            self.store.discard(key_digest, error)
            return None
        self._loaded.put(key_digest, code, code.size)
        return code

    def _remember(self, request: bytes, key_digest: bytes) -> None:
        with self._lock:
            self._keys[request] = key_digest
            if len(self._keys) > _REQUESTS_KEPT:
                self._keys.popitem(last=False)

    # Compilation

    def _compile_missed(self, source: Source, request: bytes | None, clock: Clock) -> Executable:
        parsed = _read(source, clock)
        clock.lap("parse")
        fingerprint = _identify(parsed)
        clock.lap("fingerprint")
        resolved = resolve_pipeline(self.pipeline, parsed)
        # Without an identity the key is never looked up; it only describes the artifact.
        key = self._key(fingerprint or b"", resolved)
        if request is None or fingerprint is None or resolved.file_reader:
            self._count("uncacheable")
            code = LoadedCode(self._build(parsed, key, resolved, clock), is_stored=False)
            clock.lap("load")
            return self._deliver(code, "compiled", clock)
        with self._once.turn(key.digest):
            found = self._find(request, key.digest)
            if found:
                code, tier = found
            else:
                artifact = self._build(parsed, key, resolved, clock)
                code, tier = self._publish(request, artifact, clock), "compiled"
            if resolved.is_self_contained and self.store:
                self.store.put_direct(request, key.digest)
        return self._deliver(code, tier, clock)

    def _key(self, fingerprint: bytes, resolved: ResolvedPipeline) -> Key:
        return Key((("mlir", fingerprint), *resolved.key_parts, *self._fixed_parts))

    def _build(
        self, parsed: _mlir.Program, key: Key, resolved: ResolvedPipeline, clock: Clock
    ) -> Artifact:
        compiled = compile_program(parsed, resolved.pipeline, self.target, self.opt_level)
        clock.split(compiled.phases)
        return Artifact.build(
            key=key,
            object_code=compiled.object_code,
            signatures=[signature.to_json() for signature in compiled.signatures],
            report={"pipeline": resolved.pipeline.name, "phases": dict(clock.phases)},
            target=asdict(self.target),
        )

    def _publish(self, request: bytes, artifact: Artifact, clock: Clock) -> LoadedCode:
        """Link a new artifact, and only then, since it may lack symbols, keep it."""
        code = LoadedCode(artifact, is_stored=False)
        clock.lap("load")
        if self.store:
            code.is_stored = self.store.put(artifact)
        self._loaded.put(artifact.key_digest, code, code.size)
        self._remember(request, artifact.key_digest)
        clock.lap("publish")
        return code

    # Accounts

    def _deliver(self, code: LoadedCode, tier: Tier, clock: Clock) -> Executable:
        self._count(tier)
        return Executable(
            code,
            Report(
                tier, clock.seconds, clock.phases, code.pipeline, code.object_bytes, code.is_stored
            ),
        )

    def _count(self, event: str) -> None:
        with self._lock:
            self._counts[event] += 1


_COUNTED = ("memory", "disk", "compiled", "uncacheable")


def _check_options(pipeline: object, opt_level: object, target: object, config: object) -> None:
    # By type, too: 2.0 and True equal integers, but would be other texts in the key.
    if type(opt_level) is not int or opt_level not in range(4):
        raise ConfigError(f"opt_level is {opt_level!r}; give 0, 1, 2 or 3")
    if not isinstance(pipeline, str):
        raise ConfigError(f"pipeline is {pipeline!r}; give a name or a pass pipeline's text")
    if not isinstance(target, Target | None):
        raise ConfigError(f"target is {target!r}; give a twinjit.Target or None")
    if not isinstance(config, Config | None):
        raise ConfigError(f"config is {config!r}; give a twinjit.Config or None")


def _open_store(cache: bool | str | os.PathLike[str] | None, config: Config) -> DiskStore | None:
    if cache is True:
        return DiskStore(config.cache_dir, config.cache_max_bytes) if config.cache_dir else None
    if cache is False or cache is None or cache == "off":
        return None
    if not isinstance(cache, (str, os.PathLike)) or not os.fspath(cache):
        raise ConfigError(
            f"cache is {cache!r}; give True, False (or None, or 'off'), or a directory"
        )
    return DiskStore(os.path.abspath(cache), config.cache_max_bytes)


def _pipeline_request(pipeline: str) -> list[tuple[str, str]]:
    """Everything that decides which pipeline a program will get."""
    if pipeline == AUTO:
        texts = [(f"auto-{name}", each.text) for name, each in NAMED_PIPELINES.items()]
        return [("auto-choice", CHOICE_VERSION), *texts]
    named = NAMED_PIPELINES.get(pipeline)
    return [("pipeline", named.text if named else pipeline)]


def _load_mlir(clock: Clock) -> None:
    """Load MLIR's library: 200 MB, which a hit on text must not need."""
    if "twinjit._native._mlir" not in sys.modules:
        from twinjit._native import _mlir  # noqa: F401 -- loading it is the point

        clock.lap("import")


def _read(source: Source, clock: Clock) -> _mlir.Program:
    """Bring a program into a private context."""
    _load_mlir(clock)
    from twinjit._native import _mlir

    if isinstance(source, LiveModule):
        return _mlir.transfer(source.capsule)
    return _mlir.parse(source.data, source.name)


def _fingerprint(program: object) -> bytes:
    from twinjit._native import _mlir

    return _mlir.fingerprint(program, Policy().text)


def _identify(parsed: _mlir.Program) -> bytes | None:
    try:
        return _fingerprint(parsed)
    except UnfingerprintableError:
        return None
