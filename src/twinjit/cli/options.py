"""Options that several commands have, and what they ask of the API."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import twinjit
from twinjit.errors import PolicyError

__all__ = [
    "STDIN",
    "AllowUnregistered",
    "Cache",
    "Colour",
    "ColourWhen",
    "Confirm",
    "File",
    "Full",
    "Json",
    "Language",
    "OptLevel",
    "Pipeline",
    "Policy",
    "open_compiler",
    "open_program",
    "read_policy",
]

STDIN = "-"
_NO_CACHE = "off"


def _check_language(word: str) -> str:
    if word not in ("auto", "mlir", "llvm"):
        raise typer.BadParameter(f"{word!r} is neither auto, mlir nor llvm")
    return word


class ColourWhen(str, Enum):
    """When output has colours."""

    auto = "auto"
    always = "always"
    never = "never"


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
        help="The disk cache's directory, or none; by default what the settings say.",
    ),
]
AllowUnregistered = Annotated[
    bool,
    typer.Option("--allow-unregistered", help="Accept operations of dialects MLIR does not know."),
]
Language = Annotated[
    str,
    typer.Option(
        callback=_check_language,
        metavar="auto|mlir|llvm",
        help="What FILE is in, where that should not be found out.",
    ),
]
Policy = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="KEY=VALUE|JSON",
        help="What counts as the same: one setting, such as private_symbols=rename, or several in "
        "a JSON object. May be given several times.",
    ),
]
Confirm = Annotated[
    str | None,
    typer.Option(
        metavar="never|always",
        help="Whether to compare the program of each hit with the one that the code was compiled "
        "from; by default what the settings say.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show long parts of the key in full.")]
Colour = Annotated[
    ColourWhen,
    typer.Option("--color", metavar="auto|always|never", help="By default, on terminals only."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs to read.")]


def open_compiler(
    cache: str | None,
    *,
    pipeline: str = "auto",
    opt_level: int = 3,
    policy: Sequence[str] | None = None,
    confirm: str | None = None,
    for_its_directory: bool = False,
) -> twinjit.Compiler:
    """Make the compiler that the options describe.

    Of one that is made `for_its_directory` alone, what the settings say of targets and shared
    stores is not looked at: who mends them may want to look at the cache.

    Raises
    ------
    typer.BadParameter
        If the cache's directory has no name, as from an unset variable of a shell, or there is no
        such policy or way to confirm.
    ConfigError
        If a setting of the environment cannot be used.
    """
    if cache == "":
        raise typer.BadParameter("an empty name is no directory", param_hint="'--cache'")
    place = True if cache is None else False if cache == _NO_CACHE else cache
    return twinjit.Compiler(
        pipeline=pipeline,
        opt_level=opt_level,
        policy=read_policy(policy),
        confirm=_read_confirm(confirm),
        cache=place,
        target=twinjit.Target.host() if for_its_directory else None,
        shared=not for_its_directory,
    )


def _read_confirm(word: str | None) -> Literal["never", "always"] | None:
    if word is None:
        return None
    if word == "never":
        return "never"
    if word == "always":
        return "always"
    raise typer.BadParameter(f"{word!r} is neither never nor always", param_hint="'--confirm'")


def open_program(file: str) -> Path | bytes:
    """Return what the API takes as the program in a FILE.

    Raises
    ------
    OSError
        If standard input cannot be read.
    """
    return sys.stdin.buffer.read() if file == STDIN else Path(file)


def read_policy(settings: Sequence[str] | None) -> twinjit.Policy:
    """Make the policy that ``--policy`` options describe; what is said last holds.

    Raises
    ------
    typer.BadParameter
        If there is none such.
    """
    found: dict[str, Any] = {}
    try:
        for text in settings or ():
            found |= _read_settings(text)
        return twinjit.Policy.from_settings(found)
    except PolicyError as error:
        raise typer.BadParameter(str(error), param_hint="'--policy'") from error


def _read_settings(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            settings: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise PolicyError(f"{text!r} is not JSON: {error}") from error
        return settings
    name, found, value = text.partition("=")
    if not found:
        raise PolicyError(f"{text!r} is no setting: give KEY=VALUE or a JSON object")
    if name == "lift_bytes" and value.isdecimal():
        return {name: int(value)}
    if name == "discardable" and value not in ("keep", "ignore"):
        return {name: value.split(",")}
    return {name: value}
