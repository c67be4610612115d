"""``twinjit reproduce-crash``: whether a compilation crashes as it once did."""

from __future__ import annotations

from typing import Annotated

import typer

import twinjit
from twinjit.cli.options import Json
from twinjit.cli.show import print_json, printable, stderr, stdout

__all__ = ["reproduce_crash"]

_EXIT_CODES = {"same": 0, "refused": 1, "compiled": 1, "timeout": 1, "other": 5}
_SAYS = {
    "same": "it crashed in the same way",
    "other": "it crashed in another way",
    "refused": "it did not crash: it was refused",
    "compiled": "it did not crash: it was compiled",
    "timeout": "it did not end in time",
}

Directory = Annotated[
    str, typer.Argument(metavar="DIR", help="The reproducer: a directory that the error named.")
]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.001, metavar="SECONDS", help="After which to give up; by default never."),
]


def reproduce_crash(directory: Directory, *, timeout: Timeout = None, json: Json = False) -> None:
    """Compile the program of a crash again, in a process of its own.

    Exit codes: 0 it crashed in the same way; 5 in another way; 1 it did not crash; 3 the reproducer
    cannot be read; 4 it is damaged, or none.
    """
    found = twinjit.reproduce_crash(directory, timeout=timeout)
    if json:
        print_json(
            {
                "outcome": found.outcome,
                "recorded": found.recorded,
                "found": found.found or None,
                "output": found.output,
                "warnings": list(found.warnings),
            }
        )
    else:
        _show(found)
    raise typer.Exit(_EXIT_CODES[found.outcome])


def _show(found: twinjit.CrashReproduction) -> None:
    for warning in found.warnings:
        stderr().print(f"warning: {printable(warning)}")
    console = stdout()
    console.print(f"recorded  {printable(found.recorded)}", highlight=False)
    if found.found:
        lines = map(printable, found.found.splitlines())
        console.print("now       " + "\n".join(lines), highlight=False)
    console.print(_SAYS[found.outcome], highlight=False)
