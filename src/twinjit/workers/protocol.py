"""What workers are told and answer, as messages.

A worker has one program at a time. Each line is a request and its answer; both have sections where
that is said. Instead of any answer there may be ``{"error": ...}``, as in ``plain.py``, or
``{"failure": text}`` where the worker itself failed.

=========================================================  =========================================
request                                                    answer
=========================================================  =========================================
``{"do": "read", "options": …, "source": …,                ``{"fingerprint": hexadecimal or null,
"memory": bytes or null,                                   "why_unknown": text, "phases": …,
"directory": text or null}``; the program                  "resolved": … or "unresolved": an error,
                                                           "types": [text], "imports": hexadecimal
                                                           or null}``; a section for each large
                                                           constant, of these types
``{"do": "judge"}``; an entry                              ``{"verdict": text}``
``{"do": "build"}``; the key's framing                     ``{"phases": …, "retires": bool}``: the
                                                           worker has had enough; an entry
``{"do": "end"}``                                          ``{"retires": bool}``
=========================================================  =========================================
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from twinjit.foreign import Bundle
from twinjit.lowering import ResolvedPipeline
from twinjit.options import open_libraries
from twinjit.pipeline import Pipeline
from twinjit.program_options import ProgramOptions
from twinjit.source import SourceBytes

__all__ = [
    "LIVE",
    "RecordedBundle",
    "resolved_from_plain",
    "resolved_to_plain",
    "source_from_plain",
    "source_to_plain",
]

LIVE = "<live module>"
"""The name of what was a live module, and is now what ``_mlir.write`` made of it."""


class RecordedBundle(Bundle):
    """The package that once held a program, whose text is all that is left.

    Parameters
    ----------
    package, title
        Its package, and what it is called with its version.
    """

    def __init__(self, package: str, title: str) -> None:
        super().__init__(package, None)
        self._title = title

    def __str__(self) -> str:
        return self._title

    def registers_operation(self, name: str) -> bool:  # noqa: ARG002 -- as the class asks
        """Say no: it is not here to be asked."""
        return False

    def registers_dialect(self, namespace: str) -> bool:  # noqa: ARG002 -- as the class asks
        """Say no: it is not here to be asked."""
        return False


def source_to_plain(source: SourceBytes, *, is_live: bool) -> dict[str, Any]:
    """Give what `source_from_plain` reads, but for the program itself."""
    bundle, libraries = source.bundle, source.options.libraries
    return {
        "name": source.name,
        "language": source.language,
        "is_live": is_live,
        "bundle": bundle and [bundle.package, str(bundle)],
        "libraries": libraries and libraries.to_plain(),
    }


def source_from_plain(data: dict[str, Any], program: bytes) -> SourceBytes:
    """Make a source that is read as the one that was handed in."""
    named = data["bundle"]
    bundle = named and RecordedBundle(*named)
    options = ProgramOptions(libraries=open_libraries(data["libraries"]))
    return SourceBytes(program, data["name"], data["language"], bundle, options)


def resolved_to_plain(resolved: ResolvedPipeline) -> dict[str, Any]:
    """Give what `resolved_from_plain` reads."""
    return asdict(resolved)


def resolved_from_plain(data: dict[str, Any]) -> ResolvedPipeline:
    """Make the same resolved pipeline."""
    return ResolvedPipeline(
        Pipeline(**data["pipeline"]),
        tuple((name, value) for name, value in data["key_parts"]),
        data["file_reader"],
        data["is_self_contained"],
    )
