"""LLVM IR on its way to code; see `subject.Subject`."""

from __future__ import annotations

from twinjit import confirmation
from twinjit._native import _llvm
from twinjit._native._llvm import note_phase
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions, artifact_of
from twinjit.confirmation import PROGRAM_SECTION, Verdict
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.errors import UnfingerprintableError
from twinjit.key import Key
from twinjit.lazily import lazily
from twinjit.lowering import Compiled, Imports, ResolvedPipeline, compile_bitcode
from twinjit.pipeline import Pipeline
from twinjit.report import Clock
from twinjit.signature import Signature
from twinjit.source import Source, SourceBytes
from twinjit.stop import Stop

__all__ = ["LlvmSubject"]

_NO_PASSES = ResolvedPipeline(Pipeline("llvm", "", "no passes of MLIR"), (), "", True)


class LlvmSubject:
    """LLVM IR that is read and compiled in the calling thread; see `Subject`."""

    def __init__(
        self, source: SourceBytes, clock: Clock, stop: Stop, options: BuildOptions
    ) -> None:
        self.source: Source = source
        self._bytes = source
        self._clock = clock
        self._stop = stop
        self._options = options

    @lazily
    def module(self) -> _llvm.Module:
        """In a context of its own. Compiling consumes it."""
        self._stop.check()
        note_phase("parse")
        parsed = _llvm.parse_module(self._bytes.data, self._bytes.name)
        self._clock.lap("parse")
        self._stop.check()
        return parsed

    @lazily
    def fingerprint(self) -> bytes | None:
        """None for a module that has none."""
        return self._identity[0]

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint."""
        return self._identity[1]

    @property
    def resolved(self) -> ResolvedPipeline:
        """No pipeline: LLVM IR is what pipelines lead to."""
        return _NO_PASSES

    @lazily
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it."""
        return self._imports.digest() if self._imports else None

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._constants

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very module."""
        return confirmation.judge_module(artifact, self.module, self._options.policy)

    def build(self, key: Key) -> Artifact:
        """Compile it, consuming the module."""
        options = self._options
        extras = {PROGRAM_SECTION: self.module.bitcode()} if options.keeps_program else {}
        compiled = self._compile()
        report = {"pipeline": "llvm", "language": "llvm", "phases": dict(self._clock.phases)}
        return artifact_of(compiled, key, options, report, extras)

    def written(self) -> bytes:
        """Write the program down as it was handed in."""
        return self._bytes.data

    def check_hit(self, artifact: Artifact) -> None:
        """Do nothing: that is for those of `checking`."""

    def close(self) -> None:
        """Let go of the module."""
        self.__dict__.pop("module", None)

    def _compile(self) -> Compiled:
        module, options, imports = self.module, self._options, self._imports
        note_phase("normalise")  # further ones are noted by the native core
        lifted = module.normalise(options.policy.text)
        signatures = [Signature.from_native(data) for data in module.signatures()]
        bitcode = module.bitcode()
        self.close()
        self._clock.lap("normalise")
        compiled = compile_bitcode(
            bitcode,
            signatures,
            options.target,
            options.opt_level,
            tuple(LiftedConstant(*constant) for constant in lifted),
            imports,
            self._stop,
        )
        self._clock.split(compiled.phases)
        return compiled

    @lazily
    def _imports(self) -> Imports | None:
        libraries = self.source.options.libraries
        return Imports(libraries, tuple(self.module.declarations())) if libraries else None

    @lazily
    def _identity(self) -> tuple[bytes | None, str]:
        module = self.module
        note_phase("fingerprint")
        try:
            return module.fingerprint(self._options.policy.text), ""
        except UnfingerprintableError as error:
            return None, error.message
        finally:
            self._clock.lap("fingerprint")

    @lazily
    def _constants(self) -> Constants:
        policy = self._options.policy
        if policy.constants != "lift":
            return NO_CONSTANTS
        found = self.module.constants(policy.text)
        return Constants(tuple(type_ for type_, _ in found), tuple(data for _, data in found))
