"""``twinjit reproduce``: whether a program gives the same code whenever it is compiled."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer
from rich.text import Text

import twinjit
from twinjit.cli.failures import reported
from twinjit.cli.options import (
    Colour,
    ColourWhen,
    File,
    Json,
    Language,
    OptLevel,
    Pipeline,
    Policy,
    open_compiler,
    open_program,
)
from twinjit.cli.show import coloured, print_json

__all__ = ["reproduce"]

_DIFFERENT = 1
_FAILED = 2

_MODES = "again, fresh, used, thread, process"

Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help=f"Of {_MODES}: how it is compiled once more. May be given several times; by default "
        "all.",
    ),
]
Times = Annotated[int, typer.Option(min=1, metavar="N", help="How often, for each mode.")]


def reproduce(
    context: typer.Context,
    file: File,
    *,
    mode: Modes = None,
    times: Times = 2,
    pipeline: Pipeline = "auto",
    opt_level: OptLevel = 3,
    policy: Policy = None,
    language: Language = "auto",
    json: Json = False,
    color: Colour = ColourWhen.auto,
) -> None:
    """Compile a program several times, and say whether that gives the same code.

    Exit codes: 0 it does; 1 it does not; 2 it could not be compiled.
    """
    modes = cast("list[Literal['again']] | None", mode)  # what it can be, the library checks
    with reported(traceback=context.find_root().params["traceback"], code=_FAILED):
        found = twinjit.reproduce(
            open_program(file),
            modes=modes,
            times=times,
            compiler=open_compiler("off", pipeline=pipeline, opt_level=opt_level, policy=policy),
            language=language,
        )
        if json:
            print_json(_from_standard_input(found.to_data()))
        else:
            _show(found, color)
    raise typer.Exit(0 if found.identical else _DIFFERENT)


def _from_standard_input(data: dict[str, object]) -> dict[str, object]:
    """Name where a program comes from that the library got as bytes."""
    return {**data, "program": str(data["program"]).replace("<bytes>", "<stdin>")}


_STYLES = {"  - ": "red", "  + ": "green", "    ": "dim"}


def _show(found: twinjit.Reproduction, color: ColourWhen) -> None:
    console = coloured(color.value)
    for line in str(found).replace("<bytes>", "<stdin>").splitlines():
        console.print(Text(line, _STYLES.get(line[:4], "")))
