"""Which machines an artifact is for, and whether this is one of them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.errors import ArtifactError, ArtifactMachineError
from twinjit.target import Target
from twinjit.toolchain import TOOLCHAIN

__all__ = ["check_runs_here", "to_section"]

# The section "target" of artifacts is a JSON object:
#
#   triple, cpu, features   as in `Target`: what the compiler was asked for
#   instruction_sets        LLVM's names of all that the code may use, sorted; more than it does
#                           use, since hardly any program uses all
#   toolchain               build identity by library, see `TOOLCHAIN`
#
# Whether code runs here is told from `triple`, `instruction_sets` and `toolchain` alone. A key
# holds the same facts; but entries can be renamed, and imported from elsewhere.

_HOST = Target.host()

# What the features of the host say that it has. LLVM may know of more; to ask it costs the first
# hit of a process a millisecond.
_PLAINLY_HERE = frozenset(each[1:] for each in _HOST.features.split(",") if each[:1] == "+")


def to_section(target: Target) -> dict[str, Any]:
    """Say what code for a target needs, for `Artifact.build`.

    Raises
    ------
    TargetError
        If LLVM does not know the target.
    """
    return {
        "triple": target.triple,
        "cpu": target.cpu,
        "features": target.features,
        "instruction_sets": list(target.instruction_sets),
        "toolchain": dict(TOOLCHAIN),
    }


def check_runs_here(artifact: Artifact) -> None:
    """Make sure that this machine can run an artifact's code, and this process call it.

    Costs a lookup in a dictionary for artifacts of targets that have been checked.

    Raises
    ------
    ArtifactMachineError
        If its system or ABI is another, this CPU lacks an instruction set that it may use, or
        another build of the toolchain made it.
    ArtifactError
        If it does not say what it needs.
    """
    section = artifact.section("target")
    if why := _why_not_here(bytes(section or b"")):
        raise ArtifactMachineError(f"the artifact's code cannot run here: {why}")


@lru_cache(maxsize=256)
def _why_not_here(section: bytes) -> str:
    triple, instruction_sets, toolchain = _read(section)
    for name, identity in TOOLCHAIN:
        if toolchain.get(name) != identity:
            return f"it is of build {toolchain.get(name)} of {name}, this process of {identity}"
    if triple == _HOST.triple and _PLAINLY_HERE.issuperset(instruction_sets):
        return ""
    return _llvm.why_not_here(triple, sorted(instruction_sets))


def _read(section: bytes) -> tuple[str, list[str], dict[str, Any]]:
    try:
        data = json.loads(section)
        triple, instruction_sets = data["triple"], data["instruction_sets"]
        toolchain = data["toolchain"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ArtifactError(f"the artifact's section 'target' cannot be read: {error}") from error
    if (
        not isinstance(triple, str)
        or not isinstance(instruction_sets, list)
        or not all(isinstance(name, str) for name in instruction_sets)
        or not isinstance(toolchain, dict)
    ):
        raise ArtifactError("the artifact's section 'target' has values of wrong types")
    return triple, instruction_sets, toolchain
