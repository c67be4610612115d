"""From a program that was read to its artifact, wherever that is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twinjit import confirmation, machine
from twinjit.artifact import Artifact, decode
from twinjit.constants import LIFTED_SECTION, LiftedConstant
from twinjit.errors import ArtifactError, ExecutorError
from twinjit.key import Key
from twinjit.language import Language
from twinjit.lazily import lazily
from twinjit.lowering import Compiled, Imports, ResolvedPipeline, compile_program
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.stop import Stop
from twinjit.target import Target
from twinjit.toolchain import TOOLCHAIN

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = ["BuildOptions", "artifact_of", "build_artifact", "read_built"]

# The version of what artifacts mean and no build in the key tells: how calls pass arguments
# (native/codegen/emit.h), what signatures say. One more makes all old artifacts misses.
# 1: first.
_CONVENTION = "1"


@dataclass(frozen=True)
class BuildOptions:
    """All that decides, beside a program, which artifact it gets.

    Attributes
    ----------
    pipeline, opt_level, target, policy
        As for `Compiler`.
    keeps_program
        Whether artifacts hold the program, so that hits can be confirmed. No part of keys.
    """

    pipeline: str
    opt_level: int
    target: Target
    policy: Policy
    keeps_program: bool = False

    def to_plain(self) -> dict[str, Any]:
        """Give what JSON can hold of them, the policy in canonical text."""
        return {
            "pipeline": self.pipeline,
            "opt_level": self.opt_level,
            "triple": self.target.triple,
            "cpu": self.target.cpu,
            "features": self.target.features,
            "policy": self.policy.text,
            "keeps_program": self.keeps_program,
        }

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> BuildOptions:
        """Make the options that `to_plain` was called on: they give the same keys and code."""
        return cls(
            data["pipeline"],
            data["opt_level"],
            Target(data["triple"], data["cpu"], data["features"]),
            Policy.from_text(data["policy"]),
            data["keeps_program"],
        )

    @lazily
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The parts of keys that do not depend on the program."""
        return (
            ("policy", self.policy.text),
            ("convention", _CONVENTION),
            ("opt-level", str(self.opt_level)),
            ("target-triple", self.target.triple),
            ("target-cpu", self.target.cpu),
            ("target-features", self.target.features),
            ("relocation-model", "pic"),
            ("code-model", "small"),
            *((f"build-{name}", identity) for name, identity in TOOLCHAIN),
        )

    def key(
        self,
        fingerprint: bytes | None,
        resolved: ResolvedPipeline,
        language: Language = "mlir",
        library: bytes | None = None,
    ) -> Key:
        """Make a program's key, which for one without a fingerprint only describes the artifact.

        `library` is the digest of what can be imported into it; None for nothing.
        """
        imports = () if library is None else (("library", library),)
        return Key(((language, fingerprint or b""), *imports, *resolved.key_parts, *self.parts))


def read_built(entry: bytes, key: Key | None, maker: str) -> Artifact:
    """Read an artifact that was built elsewhere, and see that it is the one that was asked for.

    Parameters
    ----------
    entry
        As `encode` wrote it.
    key
        Of the program; None for whatever its maker found.
    maker
        Who built it, for messages.

    Raises
    ------
    ExecutorError
        If it is damaged, or of another key.
    """
    try:
        artifact = decode(entry)
    except ArtifactError as error:
        raise ExecutorError(f"{maker} gave back a damaged artifact: {error.message}") from error
    if key and artifact.key_digest != key.digest:
        raise ExecutorError(f"{maker} gave back the artifact of another program")
    return artifact


def build_artifact(
    program: _mlir.Program,
    key: Key,
    resolved: ResolvedPipeline,
    options: BuildOptions,
    imports: Imports | None,
    clock: Clock,
    stop: Stop,
) -> Artifact:
    """Compile a program; consumes it.

    Parameters
    ----------
    program
        In a private context.
    key, resolved
        Of this program under `options`.
    imports
        What can be imported into it.
    clock
        The phases are entered here.
    stop
        Ends the work early where that is asked for.

    Raises
    ------
    CompilationError
        Or one of its subclasses, for a program that cannot be compiled.
    CompilationCancelledError, CompilationTimeoutError
        Where `stop` ended it.
    """
    extras = confirmation.to_section(program, options.policy) if options.keeps_program else {}
    compiled = compile_program(
        program,
        resolved.pipeline,
        options.target,
        options.opt_level,
        options.policy,
        imports,
        stop,
    )
    clock.split(compiled.phases)
    report = {"pipeline": resolved.pipeline.name, "phases": dict(clock.phases)}
    return artifact_of(compiled, key, options, report, extras)


def artifact_of(
    compiled: Compiled,
    key: Key,
    options: BuildOptions,
    report: dict[str, Any],
    extras: dict[str, bytes],
) -> Artifact:
    """Put together what a compilation gave, and sections of the program."""
    if compiled.lifted:
        extras = {**extras, LIFTED_SECTION: LiftedConstant.to_section(compiled.lifted)}
    return Artifact.build(
        key=key,
        object_code=compiled.object_code,
        signatures=[signature.to_json() for signature in compiled.signatures],
        report={
            **report,
            "opt_level": options.opt_level,
            **({"imported": len(compiled.imported)} if compiled.imported else {}),
        },
        target=machine.to_section(options.target),
        extras=extras,
    )
