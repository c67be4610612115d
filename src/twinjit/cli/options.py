"""Options that several commands have, and what they ask of the API."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import twinjit

__all__ = [
    "STDIN",
    "Cache",
    "File",
    "Json",
    "OptLevel",
    "Pipeline",
    "open_compiler",
    "open_program",
]

STDIN = "-"
_NO_CACHE = "off"

File = Annotated[
    str, typer.Argument(metavar="FILE", help="MLIR text or bytecode; - for standard input.")
]
Pipeline = Annotated[
    str,
    typer.Option(
        metavar="NAME|TEXT",
        help=f"One of auto, {', '.join(twinjit.NAMED_PIPELINES)}; or a pass pipeline over "
        "builtin.module in MLIR's syntax.",
    ),
]
OptLevel = Annotated[
    int,
    typer.Option(
        "--opt-level", "-O", min=0, max=3, metavar="0|1|2|3", help="LLVM's optimisation level."
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|off",
        help="The disk cache's directory, or none; by default what the environment says.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs to read.")]


def open_compiler(
    cache: str | None, *, pipeline: str = "auto", opt_level: int = 3
) -> twinjit.Compiler:
    """Make the compiler that the options describe.

    Raises
    ------
    typer.BadParameter
        If the cache's directory has no name, as from an unset variable of a shell.
    ConfigError
        If a setting of the environment cannot be used.
    """
    if cache == "":
        raise typer.BadParameter("an empty name is no directory", param_hint="'--cache'")
    place = True if cache is None else False if cache == _NO_CACHE else cache
    return twinjit.Compiler(pipeline=pipeline, opt_level=opt_level, cache=place)


def open_program(file: str) -> Path | bytes:
    """Return what the API takes as the program in a FILE.

    Raises
    ------
    OSError
        If standard input cannot be read.
    """
    return sys.stdin.buffer.read() if file == STDIN else Path(file)
