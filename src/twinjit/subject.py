"""A program on its way to code: what was handed in, read as far as a lookup needs it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from twinjit import confirmation, reader
from twinjit._native._llvm import note_phase
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions, build_artifact
from twinjit.confirmation import Verdict
from twinjit.constants import Constants
from twinjit.errors import TwinjitError, UnfingerprintableError
from twinjit.key import Key
from twinjit.lazily import lazily
from twinjit.llvm_subject import LlvmSubject
from twinjit.lowering import ResolvedPipeline, resolve_pipeline
from twinjit.own_subject import OwnSubject
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.source import CapturedModule, LiveModule, Source, SourceBytes
from twinjit.stop import Stop

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = [
    "Builder",
    "LocalBuilder",
    "LocalSubject",
    "Subject",
    "bytecode_with_places",
    "capture",
    "key_of",
    "live_fingerprint",
    "load_mlir",
    "open_local",
]


class Subject(Protocol):
    """A program to look up and compile, read when that is first needed, and once.

    It may be read, and compiled, in another process. Used by one thread at a time. Whatever needs
    the program raises a `CompilationError` where that cannot be read, and what `Stop.check` does
    once the call that it serves is to end.

    Programs to compare, in either language, are `identity.Comparand`.

    Attributes
    ----------
    source
        What was handed in.
    """

    source: Source

    @property
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint, naming the part to blame; empty if it has."""

    @property
    def resolved(self) -> ResolvedPipeline:
        """The pipeline that it gets.

        Raises
        ------
        PipelineError
            As `resolve_pipeline` does.
        """

    @property
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it from its libraries; None for nothing.

        Raises
        ------
        LibraryError
            If a library cannot be read, or has no copy to give.
        """

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very program."""

    def build(self, key: Key) -> Artifact:
        """Compile it; consumes the program: ask for all else before.

        Raises
        ------
        CompilationError, CompilationCancelledError, CompilationTimeoutError
            As `build_artifact` does.
        """

    def check_hit(self, artifact: Artifact) -> None:
        """Compile it again, where that is due, and compare with what was found.

        Raises
        ------
        ReproducibilityError
            If these differ.
        """

    def close(self) -> None:
        """Let go of the program; any number of times."""


class Builder(Protocol):
    """Where the programs of a compiler are read and compiled."""

    def open(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        """Take a program for one call, of which `clock` times the phases and `stop` is the end."""

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        """Take it a second time, to be compiled apart from the first.

        Read before the first is compiled, it has another context, worker or job.
        """

    def close(self) -> None:
        """End what was started; any number of times. Nothing can be compiled afterwards."""


class LocalBuilder:
    """Reads and compiles in the calling thread."""

    def __init__(self, options: BuildOptions) -> None:
        self._options = options

    def open(self, source: Source, clock: Clock, stop: Stop) -> LocalSubject | LlvmSubject:
        """Take a program for one call."""
        return open_local(source, clock, stop, self._options)

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> LocalSubject | LlvmSubject:
        """Take it a second time."""
        return self.open(source, clock, stop)

    def close(self) -> None:
        """Do nothing: there is nothing to end."""


def open_local(
    source: Source, clock: Clock, stop: Stop, options: BuildOptions
) -> LocalSubject | LlvmSubject:
    """Take a program of either language, to be read and compiled in the calling thread."""
    if isinstance(source, SourceBytes) and source.language == "llvm":
        return LlvmSubject(source, clock, stop, options)
    return LocalSubject(source, clock, stop, options)


class LocalSubject(OwnSubject["_mlir.Program"]):
    """An MLIR program that is read and compiled in the calling thread; see `Subject`."""

    @lazily
    def resolved(self) -> ResolvedPipeline:
        """The pipeline that it gets."""
        return resolve_pipeline(self._options.pipeline, self.program)

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very program."""
        return confirmation.judge(artifact, self.program, self._options.policy)

    def build(self, key: Key) -> Artifact:
        """Compile it, consuming the program."""
        resolved, imports = self.resolved, self._imports  # which the program tells
        note_phase("passes")  # further ones are noted by the native core
        return build_artifact(
            self.program, key, resolved, self._options, imports, self._clock, self._stop
        )

    def written(self) -> bytes:
        """Write the program down as bytecode, with the places that errors name."""
        try:
            return bytecode_with_places(self.program, self._options.policy)
        except TwinjitError:
            if isinstance(self.source, SourceBytes) and self.source.bundle is None:
                return self.source.data
            raise

    def _load(self) -> None:
        load_mlir(self._clock)

    def _parse(self) -> _mlir.Program:
        return reader.read_to_compile(self.source, self._stop)

    def _find_fingerprint(self) -> bytes:
        from twinjit._native import _mlir

        return _mlir.fingerprint(self.program, self._options.policy.text, stop=self._stop)

    def _find_constants(self) -> list[tuple[str, bytes]]:
        from twinjit._native import _mlir

        return _mlir.constants(self.program, self._options.policy.text, self._stop)


def key_of(subject: Subject, options: BuildOptions) -> Key:
    """Make a program's key; without a fingerprint, it only describes the artifact.

    Raises
    ------
    CompilationError
        As asking the subject does.
    """
    language = subject.source.language
    return options.key(subject.fingerprint, subject.resolved, language, subject.imports)


def live_fingerprint(module: LiveModule, policy: Policy, stop: Stop | None = None) -> bytes | None:
    """Return the fingerprint of a live module where it lives; None where it has none."""
    from twinjit._native import _mlir

    try:
        return _mlir.fingerprint(module.capsule, policy.text, stop=stop)
    except UnfingerprintableError:
        return None


def capture(module: LiveModule, policy: Policy) -> CapturedModule:
    """Write a live module down as it is now, with its locations.

    Raises
    ------
    VerificationError
        If it is not valid.
    UnsupportedProgramError
        If it refers to values outside of it, or cannot be written.
    """
    from twinjit._native import _mlir

    fingerprint = live_fingerprint(module, policy)
    # A copy in a private context would do without bytecode, and take 2 MB for each that waits.
    data = bytecode_with_places(_mlir.transfer(module.capsule), policy)
    return CapturedModule(data, "<live module>", options=module.options, fingerprint=fingerprint)


def bytecode_with_places(program: _mlir.Program, policy: Policy) -> bytes:
    """Write a program down with all its locations, for errors to name them.

    Raises
    ------
    UnsupportedProgramError
        If it cannot be written.
    """
    return program.bytecode(replace(policy, locations="keep").text)


def load_mlir(clock: Clock) -> None:
    """Load MLIR's library: 200 MB, which a hit on text must not need."""
    if "twinjit._native._mlir" not in sys.modules:
        from twinjit._native import _mlir  # noqa: F401 -- loading it is the point

        clock.lap("import")
