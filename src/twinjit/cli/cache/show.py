"""``twinjit cache show``: all that one entry tells."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

import twinjit
from twinjit.cli.cache.listing import entry_data
from twinjit.cli.cache.stores import find_entry, open_store, read_entry
from twinjit.cli.files import replacing
from twinjit.cli.options import Cache, Full, Json
from twinjit.cli.parts import show_parts
from twinjit.cli.show import duration, moment, print_json, signature_data, size, stdout

__all__ = ["show"]

_STDOUT = "-"

KeyPrefix = Annotated[
    str, typer.Argument(metavar="KEY", help="The first digits of a key, 4 at least.")
]
Object = Annotated[
    str | None,
    typer.Option(
        "--object",
        metavar="FILE.o",
        help="Write the object code there instead; - for standard output.",
    ),
]


def show(
    key: KeyPrefix,
    *,
    object_file: Object = None,
    full: Full = False,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Show an entry: its key part by part, its functions, how it was compiled, what it holds."""
    store = open_store(cache)
    entry = find_entry(store.entries(), key)
    artifact = read_entry(store, entry)
    if object_file == _STDOUT:
        sys.stdout.buffer.write(artifact.object_code)
    elif object_file:
        with replacing(object_file) as target:
            target.write(artifact.object_code)
    elif json:
        print_json(_data(entry, artifact))
    else:
        _show(stdout(), entry, artifact, full=full)


def _data(entry: twinjit.Entry, artifact: twinjit.Artifact) -> dict[str, Any]:
    return {
        **entry_data(entry, artifact),
        "parts": artifact.key.to_data(),
        "functions": [signature_data(each) for each in _signatures(artifact)],
        "report": artifact.report,
        "target": artifact.target,
        "sections": {
            name: {"stored_bytes": stored, "bytes": read}
            for name, (stored, read) in artifact.sizes.items()
        },
    }


def _signatures(artifact: twinjit.Artifact) -> list[twinjit.Signature]:
    return [twinjit.Signature.from_json(each) for each in artifact.signatures]


def _show(
    console: Console, entry: twinjit.Entry, artifact: twinjit.Artifact, *, full: bool
) -> None:
    show_parts(console, artifact.key, full=full)
    console.print(f"{'key':<18}{artifact.key.hex}", style="bold", highlight=False)
    lines = {
        "file": entry.path,
        "size": size(entry.bytes),
        "last used": moment(entry.used),
        "compiled by": f"pipeline {artifact.report.get('pipeline')}{_times(artifact.report)}",
        "sections": ", ".join(_sizes(artifact.sizes)),
        "functions": "\n".join(map(str, _signatures(artifact))).replace("\n", "\n" + 18 * " "),
    }
    for name, text in lines.items():
        console.print(f"{name:<18}{text}".rstrip(), highlight=False)


def _times(report: Mapping[str, Any]) -> str:
    phases: Mapping[str, float] = report.get("phases", {})
    if not phases:
        return ""
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in phases.items())
    return f" in {duration(sum(phases.values()))} ({each})"


def _sizes(sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    return [
        f"{name} {size(stored)}" + (f" ({size(read)} unpacked)" if read != stored else "")
        for name, (stored, read) in sizes.items()
    ]
