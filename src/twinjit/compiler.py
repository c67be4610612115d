"""Hit, or miss: look a program up, and compile what is new.

A program is looked up in two steps, as ccache does it. Its *request* digest needs no parsing: it
covers the raw text (or, for a live module, the fingerprint) and the options. An index leads from
there to the *key*, which covers the program's fingerprint and every other input that can change the
code; the key leads to the artifact. Text that differs from known text only in spelling misses the
index, but meets the same key.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from twinjit import machine, reader
from twinjit.artifact import Artifact
from twinjit.confirmation import Confirmer
from twinjit.constants import LIFTED_SECTION, NO_CONSTANTS, Constants, LiftedConstant
from twinjit.executable import Executable, LoadedCode
from twinjit.explanation import Explanation
from twinjit.forks import fork_lock
from twinjit.index import RequestIndex
from twinjit.key import DIGEST_SIZE, Key
from twinjit.lowering import ResolvedPipeline, compile_program, resolve_pipeline
from twinjit.options import (
    check_options,
    choose_target,
    open_shared_store,
    open_store,
    pipeline_request,
)
from twinjit.pipeline import AUTO
from twinjit.policy import Policy
from twinjit.report import Clock, Report, Tier
from twinjit.request import RequestHasher
from twinjit.settings import Confirm, Settings
from twinjit.source import SourceBytes, open_source
from twinjit.store.base import Backend, Store
from twinjit.subject import Subject, live_fingerprint, load_mlir
from twinjit.target import Target
from twinjit.tiers import Tiers
from twinjit.toolchain import TOOLCHAIN
from twinjit.turns import Turns

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["Compiler"]

# The version of what artifacts mean and no build in the key tells: how calls pass arguments
# (native/codegen/emit.h), what signatures say. One more makes all old artifacts misses.
# 1: first.
_CONVENTION = "1"


class Compiler:
    """Compiles programs, each distinct one once.

    Any number of threads may share one. A store that fails is a `CacheWarning`, never an error.

    Parameters
    ----------
    pipeline
        ``"auto"`` to choose by the program's dialects, a name in `NAMED_PIPELINES`, or a pass
        pipeline over ``builtin.module`` in MLIR's syntax.
    opt_level
        LLVM's optimisation level, 0 to 3.
    target
        What to make code for; the host by default.
    policy
        What counts as the same program; by default, whatever can reach the code. Programs that are
        the same under it share their code, but for large constants that it takes for parameters.
    confirm
        ``"always"`` to compare the program of each hit in full with the one that the code was
        compiled from, which artifacts then contain; ``"never"``; by default what `settings` says.
        Code of another program is discarded and counted (``refuted``), and the program compiled.
    cache
        True for the disk store that `settings` names; False, None or ``"off"`` for none; or a
        directory. Other compilers, threads and processes may use it, too.
    shared
        True for the store that `settings` names and several machines share; False or None for
        none; a URL; or a `Backend` to make it on.
    settings
        Settings; by default ``Settings.load()``: of the environment and the settings file.

    Attributes
    ----------
    store, shared
        The `DiskStore` and the `SharedStore`, for their ``stats``; None where there is none.
    target
        The `Target` in use.

    Raises
    ------
    ConfigError
        If an option or a setting of the environment cannot be used.
    TargetError
        If code for `target`, or for the target that `settings` names, cannot run in this process.
    """

    def __init__(
        self,
        *,
        pipeline: str = AUTO,
        opt_level: int = 3,
        target: Target | None = None,
        policy: Policy | None = None,
        confirm: Confirm | None = None,
        cache: bool | str | os.PathLike[str] | None = True,
        shared: bool | str | Backend | None = True,
        settings: Settings | None = None,
    ) -> None:
        check_options(pipeline, opt_level, target, policy, confirm, settings)
        settings = settings or Settings.load()
        self.pipeline = pipeline
        self.opt_level = opt_level
        self.target = target or choose_target(settings)
        self.target.check_runs_here()
        self.policy = policy or Policy()
        self.confirm = confirm or settings.confirm
        self.store = open_store(cache, settings)
        self.shared = open_shared_store(shared, settings, self.store)
        self._fixed_parts = _fixed_parts(self.policy, opt_level, self.target)
        self._hasher = RequestHasher([*self._fixed_parts, *pipeline_request(pipeline)])
        stores: list[tuple[Tier, Store]] = [("disk", self.store)] if self.store else []
        stores += [("shared", self.shared)] if self.shared else []
        self._tiers = Tiers(stores, settings.memory_max_bytes)
        self._index = RequestIndex([store for _, store in stores])
        self._confirmer = Confirmer(self.policy)
        self._turns = Turns(self.store, settings.wait_seconds)
        self._lock = fork_lock()  # guards `_counts`
        self._counts: Counter[str] = Counter()

    def compile(self, program: object, *, language: str = "auto") -> Executable:
        """Return the executable of a program, compiling it if it is new.

        Parameters
        ----------
        program
            MLIR text, a path, bytecode, or a live Module or Operation of ``mlir.ir``, of MLIR's
            bindings in another package, or of xDSL (never modified; no other thread may modify it
            meanwhile).
        language
            ``"mlir"`` or ``"llvm"``, where it should not be found out by content.

        Raises
        ------
        CompilationError
            Or one of its subclasses, for a program that cannot be compiled.
        UnresolvedSymbolError
            If it calls functions that nothing in this process defines.
        UnsupportedProgramError
            If it is no program, or has dialects that only the package that holds it knows.
        ConfigError
            If `language` is not a language.
        OSError
            If it names a file that cannot be read.
        """
        clock = Clock()
        subject = self._open(program, language, clock)
        request = self._request(subject, clock)
        found = self._find_by_request(request, subject)
        if found:
            return self._deliver(*found, clock)
        if request is None or self.confirm == "always":
            return self._compile_missed(subject, request, clock)
        # Whoever waits need not even read the program then.
        with self._turns.of_request(request) as outcome:
            if outcome in ("published", "freed", "timed out"):
                clock.lap("wait")
                found = self._find_by_request(request, subject)
            if found:
                return self._deliver(*found, clock)
            return self._compile_missed(subject, request, clock, waits=outcome != "timed out")

    def explain(self, program: object, *, language: str = "auto") -> Explanation:
        """Say how a program would be looked up, compiling nothing.

        Raises
        ------
        CompilationError
            If the program cannot be read, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        clock = Clock()
        return self._explain(self._open(program, language, clock), clock)

    def would_hit(self, program: object, *, language: str = "auto") -> bool:
        """Say whether `compile` would find the code of a program, compiling nothing.

        What is found is examined as `compile` would, but not loaded, and not counted as a lookup.

        Raises
        ------
        CompilationError
            If the program has to be read and cannot, or no pipeline takes it.
        UnsupportedProgramError, OSError
            As for `compile`.
        """
        clock = Clock()
        subject = self._open(program, language, clock)
        if self.confirm == "never":
            identity = self._index.find(self._request(subject, clock))
            if identity and self._tiers.where(identity[:DIGEST_SIZE]) != "compiled":
                return True
        return self._explain(subject, clock).tier != "compiled"

    def stats(self) -> Mapping[str, int]:
        """Count what this compiler did.

        Returns
        -------
        Mapping of str to int
            ``memory``, ``disk``, ``shared`` and ``compiled``: calls of `compile` by where the code
            came from; ``uncacheable``: compilations whose result has no identity, for a part of the
            program or a pass that reads files; ``confirmed`` and ``refuted``: hits that turned out
            to be of the very program, and of another; ``code_bytes``: code held in memory.
        """
        with self._lock:
            counts = {name: self._counts[name] for name in _COUNTED}
        return {**counts, "code_bytes": self._tiers.code_bytes}

    def clear_memory(self) -> None:
        """Forget all executables; those that someone still holds stay valid."""
        self._tiers.clear_memory()
        self._index.clear()

    # Lookup

    def _open(self, program: object, language: str, clock: Clock) -> Subject:
        keeps_locations = self.policy.locations == "keep"
        source = open_source(program, language=language, locations=keeps_locations)
        return Subject(source, clock, self.policy)

    def _request(self, subject: Subject, clock: Clock) -> bytes | None:
        """Digest what was asked for; None for a live module without an identity."""
        if isinstance(subject.source, SourceBytes):
            reader.check_is_mlir(subject.source)
            return self._hasher.of_source(subject.source)
        load_mlir(clock)
        fingerprint = live_fingerprint(subject.source, self.policy)
        return None if fingerprint is None else self._hasher.of_fingerprint(fingerprint)

    def _explain(self, subject: Subject, clock: Clock) -> Explanation:
        resolved = resolve_pipeline(self.pipeline, subject.program)
        key = self._key(subject.fingerprint, resolved)
        why = subject.why_unknown
        if resolved.file_reader and not why:
            why = f"the pipeline's pass {resolved.file_reader} reads files"
        if why:
            return Explanation(key, "compiled", direct=False, uncacheable=why)
        identity = self._index.find(self._request(subject, clock)) or b""
        direct = identity[:DIGEST_SIZE] == key.digest and self.confirm == "never"
        return Explanation(key, self._tiers.where(key.digest), direct)

    def _find_by_request(
        self, request: bytes | None, subject: Subject
    ) -> tuple[LoadedCode, Tier] | None:
        if request is None or self.confirm == "always":
            return None
        identity = self._index.fetch(request)
        found = identity and self._tiers.find(identity, subject.constants)
        if found:
            self._remember(request, subject, found[0])
        return found or None

    def _remember(self, request: bytes, subject: Subject, code: LoadedCode) -> None:
        # Of a live module, the fingerprint does not tell which constants it has.
        is_text = isinstance(subject.source, SourceBytes)
        self._index.remember(request, code.identity if is_text else code.artifact.key_digest)

    def _find_by_key(
        self, key: Key, request: bytes, subject: Subject
    ) -> tuple[LoadedCode, Tier] | None:
        """Look for the program's own key, and confirm what is found if that was asked for."""
        if self.confirm == "always":
            self._check_direct(key, request)
        found = self._tiers.find(key.digest, subject.constants)
        if found and self.confirm == "always" and not self._is_confirmed(found[0], subject):
            return None
        return found

    def _check_direct(self, key: Key, request: bytes) -> None:
        known = self._index.find(request)
        if known and known[:DIGEST_SIZE] != key.digest:
            self._count("refuted")
            self._confirmer.warn(
                f"the index led a program of key {key.hex} to the code of key "
                f"{known[:DIGEST_SIZE].hex()}"
            )

    def _is_confirmed(self, code: LoadedCode, subject: Subject) -> bool:
        verdict = self._confirmer.judge(code.artifact, subject.program)
        if verdict != "unknown":
            self._count(verdict)
        if verdict == "refuted":
            self._confirmer.warn(f"key {code.artifact.key_digest.hex()} led to another program")
        if verdict != "confirmed":
            self._tiers.forget(code)
        return verdict == "confirmed"

    # Compilation

    def _compile_missed(
        self, subject: Subject, request: bytes | None, clock: Clock, *, waits: bool = True
    ) -> Executable:
        fingerprint = subject.fingerprint
        resolved = resolve_pipeline(self.pipeline, subject.program)
        key = self._key(fingerprint, resolved)
        constants = NO_CONSTANTS if fingerprint is None else subject.constants()
        if request is None or fingerprint is None or resolved.file_reader:
            self._count("uncacheable")
            artifact = self._build(subject.program, key, resolved, clock)
            code = LoadedCode(artifact, constants, is_stored=False)
            clock.lap("load")
            return self._deliver(code, "compiled", clock)
        with self._turns.of_key(key.digest, waits=waits):
            found = self._find_by_key(key, request, subject)
            if found:
                code, tier = found
            else:
                artifact = self._build(subject.program, key, resolved, clock)
                code, tier = self._publish(artifact, constants, clock), "compiled"
            self._remember(request, subject, code)
            if resolved.is_self_contained:
                self._index.publish(request, key.digest)
        return self._deliver(code, tier, clock)

    def _key(self, fingerprint: bytes | None, resolved: ResolvedPipeline) -> Key:
        # Without an identity it is never looked up; it only describes the artifact.
        return Key((("mlir", fingerprint or b""), *resolved.key_parts, *self._fixed_parts))

    def _build(
        self, parsed: _mlir.Program, key: Key, resolved: ResolvedPipeline, clock: Clock
    ) -> Artifact:
        extras = self._confirmer.to_section(parsed) if self.confirm == "always" else {}
        compiled = compile_program(
            parsed, resolved.pipeline, self.target, self.opt_level, self.policy
        )
        if compiled.lifted:
            extras[LIFTED_SECTION] = LiftedConstant.to_section(compiled.lifted)
        clock.split(compiled.phases)
        return Artifact.build(
            key=key,
            object_code=compiled.object_code,
            signatures=[signature.to_json() for signature in compiled.signatures],
            report={"pipeline": resolved.pipeline.name, "phases": dict(clock.phases)},
            target=machine.to_section(self.target),
            extras=extras,
        )

    def _publish(self, artifact: Artifact, constants: Constants, clock: Clock) -> LoadedCode:
        """Link a new artifact, and only then, since it may lack symbols, keep it."""
        code = self._tiers.publish(artifact, constants)
        clock.lap("load")
        self._tiers.store_published(code)
        clock.lap("publish")
        return code

    # Accounts

    def _deliver(self, code: LoadedCode, tier: Tier, clock: Clock) -> Executable:
        self._count(tier)
        if self.store and tier != "disk":  # which the store counts by itself
            self.store.account.add(tier)
            if tier == "compiled":
                self.store.account.flush()
        return Executable(
            code,
            Report(
                tier, clock.seconds, clock.phases, code.pipeline, code.object_bytes, code.is_stored
            ),
        )

    def _count(self, event: str) -> None:
        with self._lock:
            self._counts[event] += 1


def _fixed_parts(policy: Policy, opt_level: int, target: Target) -> tuple[tuple[str, str], ...]:
    """Name the parts of keys that do not depend on the program."""
    return (
        ("policy", policy.text),
        ("convention", _CONVENTION),
        ("opt-level", str(opt_level)),
        ("target-triple", target.triple),
        ("target-cpu", target.cpu),
        ("target-features", target.features),
        ("relocation-model", "pic"),
        ("code-model", "small"),
        *((f"build-{name}", identity) for name, identity in TOOLCHAIN),
    )


_COUNTED = ("memory", "disk", "shared", "compiled", "uncacheable", "confirmed", "refuted")
