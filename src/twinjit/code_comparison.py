"""Whether two compilations of one program gave the same code."""

from __future__ import annotations

import json
from itertools import zip_longest

from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.code_difference import CodeDifference
from twinjit.confirmation import PROGRAM_SECTION
from twinjit.errors import ArtifactError

__all__ = ["compare_artifacts"]

_LINES = 24
"""Of disassembly, for each of the two."""

_WORDS = {
    "machine": "the objects are for different machines",
    "sections": "the objects have different sections",
    "content": "the code or data differs",
    "relocations": "what the code refers to differs",
    "symbols": "the symbols differ",
    "layout": "the object files differ, but not in code, data or symbols",
}


def compare_artifacts(first: Artifact, second: Artifact) -> CodeDifference | None:
    """Return the first difference between what a call can see of two artifacts; None for none.

    Compared are key, object, signatures and what else belongs to the code. Reports tell times, and
    a stored program is not code.
    """
    if first.key_digest != second.key_digest:
        return _of_keys(first, second)
    found = _of_objects(first, second)
    if found:
        return found
    if first.signatures != second.signatures:
        return _of_signatures(first, second)
    return _of_extras(first, second)


def _of_keys(first: Artifact, second: Artifact) -> CodeDifference:
    found = first.key.differences(second.key)
    names = ", ".join(each.name for each in found)
    return CodeDifference(
        "key",
        f"the keys differ in {names}",
        first=tuple(f"{each.name}: {_shown(each.mine)}" for each in found),
        second=tuple(f"{each.name}: {_shown(each.theirs)}" for each in found),
    )


def _shown(value: str | bytes | None) -> str:
    if value is None:
        return "none"
    return value.hex() if isinstance(value, bytes) else value


def _of_objects(first: Artifact, second: Artifact) -> CodeDifference | None:
    try:
        found = _llvm.compare_objects(first.object_code, second.object_code)
        if found is None:
            return None
        aspect, section, symbol, offset = found
        name = _llvm.program_name(symbol)
        return CodeDifference(
            "object",
            _told(aspect, section, name, offset),
            section,
            name,
            offset,
            _listing(first, section, symbol, offset),
            _listing(second, section, symbol, offset),
        )
    except ArtifactError as error:  # of two that are not equal
        return CodeDifference("object", f"an object is damaged: {error.message}")


def _told(aspect: str, section: str, function: str, offset: int) -> str:
    text = _WORDS[aspect]
    if not section:
        return text
    where = f", function {function!r}" if function else ""
    at = "" if aspect == "sections" else f", at {offset:#x}"
    return f"{text} in section {section}{where}{at}"


def _listing(artifact: Artifact, section: str, symbol: str, offset: int) -> tuple[str, ...]:
    target = artifact.target
    triple, cpu, features = target["triple"], target["cpu"], target["features"]
    object_code = artifact.object_code
    return tuple(
        _llvm.disassemble(object_code, triple, cpu, features, section, symbol, offset, _LINES)
    )


def _of_signatures(first: Artifact, second: Artifact) -> CodeDifference:
    pairs = [
        (mine, other)
        for mine, other in zip_longest(first.signatures, second.signatures)
        if mine != other
    ]
    return CodeDifference(
        "signatures",
        "the functions' signatures differ",
        first=tuple(json.dumps(mine) for mine, _ in pairs[:_LINES]),
        second=tuple(json.dumps(other) for _, other in pairs[:_LINES]),
    )


def _of_extras(first: Artifact, second: Artifact) -> CodeDifference | None:
    mine, other = first.extras, second.extras
    for name in sorted({*mine, *other} - {PROGRAM_SECTION}):
        if mine.get(name) != other.get(name):
            return CodeDifference(name, f"the artifacts' sections {name!r} differ")
    return None
