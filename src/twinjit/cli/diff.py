"""``twinjit diff``: what differs between two programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import twinjit
from twinjit.cli.failures import reported
from twinjit.cli.options import (
    STDIN,
    AllowUnregistered,
    Colour,
    ColourWhen,
    Json,
    Language,
    Policy,
    open_program,
    read_policy,
)
from twinjit.cli.show import coloured, print_json

__all__ = ["diff", "show_diff"]

_DIFFERENT = 1
_FAILED = 2

_STYLES = {"changed": "yellow", "inserted": "green", "removed": "red", "moved": "cyan"}


A = Annotated[
    str, typer.Argument(metavar="A", help="MLIR or LLVM IR, text or binary; - for standard input.")
]
B = Annotated[str, typer.Argument(metavar="B", help="The program to compare it with.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing; the exit code is the answer.")
]


def diff(
    context: typer.Context,
    a: A,
    b: B,
    *,
    policy: Policy = None,
    allow_unregistered: AllowUnregistered = False,
    language: Language = "auto",
    json: Json = False,
    quiet: Quiet = False,
    color: Colour = ColourWhen.auto,
) -> None:
    """Say what differs between two programs.

    Exit codes: 0 they are equal; 1 they differ; 2 they could not be compared.
    """
    if a == b == STDIN:
        raise typer.BadParameter("only one program can come from standard input")
    counts = read_policy(policy)
    with reported(traceback=context.find_root().params["traceback"], code=_FAILED):
        found = twinjit.diff(
            open_program(a),
            open_program(b),
            counts,
            allow_unregistered=allow_unregistered,
            language=language,
        )
        found = _from_standard_input(found)
        if json:
            print_json(found.to_data())
        elif not quiet:
            show_diff(found, coloured(color.value))
    raise typer.Exit(_DIFFERENT if found else 0)


def _from_standard_input(found: twinjit.Diff) -> twinjit.Diff:
    """Name where programs come from that the library got as bytes."""

    def named(location: str) -> str:
        return location.replace("<bytes>", "<stdin>")

    return twinjit.Diff(
        [
            replace(each, location_a=named(each.location_a), location_b=named(each.location_b))
            for each in found
        ]
    )


def show_diff(found: twinjit.Diff, console: Console) -> None:
    """Print a diff for people; nothing where there are no differences."""
    for each in found:
        console.print(_render(each))
    if found:
        console.print(Text(found.summary, "bold"))


def _render(difference: twinjit.Difference) -> Text:
    """Put a difference into colours: where it is, then what is there in each program."""
    text = Text.assemble(
        (difference.kind, f"bold {_STYLES[difference.kind]}"), " ", (difference.place, "bold")
    )
    for line in difference.lines:
        style = {"-": "red", "+": "green"}.get(line.sign, "")
        text.append("\n  ")
        text.append(f"{line.sign} {line.value}" if line.sign else line.value, style)
        if line.location:
            text.append(f"  [{line.location}]", "dim")
    if difference.note:
        text.append(f"\n  ({difference.note})", "italic")
    return text
