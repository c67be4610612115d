"""Hits confirmed against the program that the code was compiled from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.errors import TwinjitError
from twinjit.policy import Policy
from twinjit.warn import warn_of_cache

if TYPE_CHECKING:
    from twinjit._native import _mlir

__all__ = [
    "PROGRAM_SECTION",
    "FalseHits",
    "Verdict",
    "judge",
    "judge_module",
    "to_section",
]

PROGRAM_SECTION = "program"
"""The section of artifacts with the program as it was before compilation: a ``builtin.module`` in
the bytecode of the MLIR that the artifact's key names, without locations that do not count; or a
module in the bitcode of that LLVM."""

_STORED = "<stored program>"

Verdict = Literal["confirmed", "refuted", "unknown"]


class FalseHits:
    """Tells of hits that turned out to be of another program, once."""

    def __init__(self) -> None:
        self._warned = False  # races may warn twice, which harms nobody

    def warn(self, what: str) -> None:
        """Tell of a hit that was refuted."""
        if self._warned:
            return
        self._warned = True
        warn_of_cache(
            f"Twinjit caught a false hit: {what}. It was discarded, and the program compiled. If "
            "this recurs, examine the disk, and who can write to the cache; 'twinjit cache clear' "
            "removes all of it."
        )


def to_section(program: _mlir.Program, policy: Policy) -> dict[str, bytes]:
    """Write the section of an artifact; nothing for a program that cannot be written.

    It is the private copy as it was read, without locations that do not count. The canonical form
    would not do: that has lost its large constants, which a comparison has to find.
    """
    try:
        return {PROGRAM_SECTION: program.bytecode(policy.text)}
    except TwinjitError:
        return {}


def judge(artifact: Artifact, program: _mlir.Program, policy: Policy) -> Verdict:
    """Say whether an artifact is of this very program; unknown if it has none to compare."""
    from twinjit._native import _mlir  # loaded by whoever made the program

    def is_same(stored: bytes) -> bool:
        # What its artifact stores may be read with more leave than what users hand in.
        other = _mlir.parse(stored, _STORED, allow_unregistered=True)
        return _mlir.equivalent(program, other, policy.text)

    return _judge(artifact, is_same)


def judge_module(artifact: Artifact, module: _llvm.Module, policy: Policy) -> Verdict:
    """Do as `judge` does, for LLVM IR."""

    def is_same(stored: bytes) -> bool:
        return module.equivalent(_llvm.parse_module(stored, _STORED), policy.text)

    return _judge(artifact, is_same)


def _judge(artifact: Artifact, is_same: Callable[[bytes], bool]) -> Verdict:
    try:
        stored = artifact.section(PROGRAM_SECTION)
        if stored is None:
            return "unknown"
        return "confirmed" if is_same(bytes(stored)) else "refuted"
    except TwinjitError:
        return "unknown"
