"""From a lazy function's part of a module to its artifact, and to code in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from twinjit import machine
from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.engine import Engine
from twinjit.errors import ReproducibilityError
from twinjit.report import Clock, Tier
from twinjit.request import RequestHasher
from twinjit.signature import Signature
from twinjit.source import Linkable, SourceBytes
from twinjit.stop import Stop
from twinjit.subject import Subject, key_of

__all__ = ["FUNCTION", "Found", "LazyCode", "PartCompiler", "link_privately"]

FUNCTION: str = _llvm.FUNCTION
"""What a part calls the function that it is of."""


@dataclass(frozen=True)
class LazyCode:
    """A function's code, linked to what it refers to.

    Attributes
    ----------
    image
        Where it is.
    signature
        What a call must pass; its name is the part's.
    key_digest
        Of the part.
    tier
        Where the artifact came from.
    object_bytes
        Size of the object code.
    """

    image: _llvm.Image
    signature: Signature
    key_digest: bytes
    tier: Tier
    object_bytes: int

    @property
    def address(self) -> int:
        """Of the function, as compiled code calls it."""
        return self.image.exported(FUNCTION)

    def bind(self, name: str, signature: Signature, keeps: object) -> _llvm.Function:
        """Make the function callable from Python, under its own name.

        Raises
        ------
        ArtifactError
            If the code is not what the signature describes.
        """
        described = replace(signature, name=name, slots=self.signature.slots)
        return described.bind(self.image, keeps, FUNCTION)


class PartCompiler:
    """Looks parts up by keys of their own in the tiers of a compiler, and compiles what is new.

    A part is an LLVM program like any other, and compiled wherever the compiler's are. Its artifact
    is kept as it is, since each module links it to cells of its own.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._hasher = RequestHasher([("lazy-part", "1"), *engine.options.parts])

    def find(self, bitcode: bytes, libraries: Linkable | None, clock: Clock) -> Found:
        """Return the artifact of a part, compiling it if it is new.

        Raises
        ------
        CompilationError
            Or one of its subclasses, for one that cannot be compiled.
        ReproducibilityError
            In check mode, if compiling it again gave other code.
        """
        source = SourceBytes(bitcode, "<lazy function>", "llvm", libraries=libraries)
        stop = Stop()
        subject = self._engine.open_subject(source, clock, stop)
        try:
            request = self._hasher.of_source(source)
            found = self._find_by_request(request, subject)
            if found is None:
                with self._engine.turns.of_request(request, stop) as outcome:
                    if outcome in ("published", "freed", "timed out"):
                        found = self._find_by_request(request, subject)
                    if found is None:
                        waits = outcome != "timed out"
                        found = self._find_by_key(request, subject, stop, waits=waits)
            if found.tier != "compiled":
                self._check_hit(found.artifact, subject)
        finally:
            subject.close()
        self._engine.counts.add_code(found.tier)
        if "check" in clock.phases:
            self._engine.counts.add("checked")
        return found

    def _check_hit(self, artifact: Artifact, subject: Subject) -> None:
        try:
            subject.check_hit(artifact)
        except ReproducibilityError:
            # Which of the two is right cannot be told.
            self._engine.tiers.forget_artifact(artifact.key_digest)
            raise

    def _find_by_request(self, request: bytes, subject: Subject) -> Found | None:
        if self._engine.confirm == "always":
            return None
        known = self._engine.index.fetch(request)
        found = self._engine.tiers.find_artifact(known) if known else None
        return Found.of(*found, subject) if found else None

    def _find_by_key(self, request: bytes, subject: Subject, stop: Stop, *, waits: bool) -> Found:
        engine = self._engine
        key = key_of(subject, engine.options)
        if subject.fingerprint is None:
            engine.counts.add("uncacheable")
            return Found.of(subject.build(key), "compiled", subject)
        with engine.turns.of_key(key.digest, stop, waits=waits):
            found = engine.tiers.find_artifact(key.digest)
            if found is None or not self._is_confirmed(found[0], subject):
                constants = subject.constants()
                artifact = subject.build(key)
                engine.tiers.keep_artifact(artifact)
                made = Found(artifact, "compiled", constants)
            else:
                made = Found.of(*found, subject)
            engine.index.remember(request, key.digest)
            engine.index.publish(request, key.digest)
        return made

    def _is_confirmed(self, artifact: Artifact, subject: Subject) -> bool:
        if self._engine.confirm != "always":
            return True
        verdict = subject.judge(artifact)
        if verdict != "unknown":
            self._engine.counts.add(verdict)
        return verdict == "confirmed"


@dataclass(frozen=True)
class Found:
    """A part's artifact.

    Attributes
    ----------
    artifact, tier
        And where it came from.
    constants
        The large constants of the part, if the artifact looks for any.
    """

    artifact: Artifact
    tier: Tier
    constants: Constants

    @classmethod
    def of(cls, artifact: Artifact, tier: Tier, subject: Subject) -> Found:
        """Make it, with the constants of the part only where they are needed."""
        is_needed = LiftedConstant.all_of(artifact)
        return cls(artifact, tier, subject.constants() if is_needed else NO_CONSTANTS)

    def link(self, given: Mapping[str, int]) -> LazyCode:
        """Link the part.

        Raises
        ------
        UnresolvedSymbolError
            If nobody defines what it refers to.
        ArtifactError
            If it cannot be linked here.
        """
        artifact = self.artifact
        machine.check_runs_here(artifact)
        signature = Signature.from_json(artifact.signatures[0])
        entries = [FUNCTION] if signature.slots else []
        object_code = artifact.object_code
        bound = self.constants.bind(LiftedConstant.all_of(artifact))
        image = _llvm.load(
            object_code, entries, bound, artifact.key_digest, dict(given), [FUNCTION]
        )
        return LazyCode(image, signature, artifact.key_digest, self.tier, len(object_code))


def link_privately(
    bitcode: bytes, given: Mapping[str, int], exports: Sequence[str], options: BuildOptions
) -> _llvm.Image:
    """Compile and link what belongs to one module alone: its variables, or a public stub.

    Raises
    ------
    CompilationError
        If it cannot be compiled.
    """
    target = options.target
    object_code, *_ = _llvm.emit(bitcode, [], target.triple, target.cpu, target.features, 1)
    return _llvm.load(object_code, [], given=dict(given), exports=list(exports))
