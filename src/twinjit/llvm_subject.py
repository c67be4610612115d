"""LLVM IR on its way to code; see `subject.Subject`."""

from __future__ import annotations

from twinjit import confirmation
from twinjit._native import _llvm
from twinjit._native._llvm import note_phase
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions, artifact_of
from twinjit.confirmation import PROGRAM_SECTION, Verdict
from twinjit.constants import LiftedConstant
from twinjit.key import Key
from twinjit.lowering import Compiled, ResolvedPipeline, compile_bitcode
from twinjit.own_subject import OwnSubject
from twinjit.pipeline import Pipeline
from twinjit.report import Clock
from twinjit.signature import Signature
from twinjit.source import SourceBytes
from twinjit.stop import Stop

__all__ = ["LlvmSubject"]

_NO_PASSES = ResolvedPipeline(Pipeline("llvm", "", "no passes of MLIR"), (), "", True)


class LlvmSubject(OwnSubject[_llvm.Module]):
    """LLVM IR that is read and compiled in the calling thread; see `Subject`."""

    def __init__(
        self, source: SourceBytes, clock: Clock, stop: Stop, options: BuildOptions
    ) -> None:
        super().__init__(source, clock, stop, options)
        self._bytes = source

    @property
    def resolved(self) -> ResolvedPipeline:
        """No pipeline: LLVM IR is what pipelines lead to."""
        return _NO_PASSES

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very module."""
        return confirmation.judge_module(artifact, self.program, self._options.policy)

    def build(self, key: Key) -> Artifact:
        """Compile it, consuming the module."""
        options = self._options
        extras = {PROGRAM_SECTION: self.program.bitcode()} if options.keeps_program else {}
        compiled = self._compile()
        report = {"pipeline": "llvm", "language": "llvm", "phases": dict(self._clock.phases)}
        return artifact_of(compiled, key, options, report, extras)

    def written(self) -> bytes:
        """Write the program down as it was handed in."""
        return self._bytes.data

    def _compile(self) -> Compiled:
        module, options, imports = self.program, self._options, self._imports
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

    def _parse(self) -> _llvm.Module:
        return _llvm.parse_module(self._bytes.data, self._bytes.name)

    def _find_fingerprint(self) -> bytes:
        return self.program.fingerprint(self._options.policy.text)

    def _find_constants(self) -> list[tuple[str, bytes]]:
        return self.program.constants(self._options.policy.text)
