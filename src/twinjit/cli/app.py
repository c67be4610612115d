"""The command line as a whole: its commands, and what holds for all of them."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import twinjit
from twinjit.cli import cache, config, crashes, diff, explain, programs, reproduce, run
from twinjit.cli.failures import EXIT_CODES, reported

__all__ = ["app", "main"]


class _Reporting(TyperGroup):
    """Turns the failures of any command below it into messages and exit codes."""

    def invoke(self, ctx: Any) -> Any:  # Typer's own class of it is private
        with reported(traceback=ctx.params["traceback"]):
            return super().invoke(ctx)


app = typer.Typer(
    name="twinjit",
    cls=_Reporting,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    # Plain help and usage errors: brackets in argument specs are no markup, and paths stay whole.
    rich_markup_mode=None,
    # A failure that is not in failures.py is a bug, and its traceback is the report of it.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("compile")(programs.compile_program)
app.command("fingerprint")(programs.fingerprint)
app.command("diff")(diff.diff)
app.command("explain")(explain.explain)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(cache.app, name="cache")
app.command("config")(config.config)
app.command("reproduce-crash")(crashes.reproduce_crash)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"twinjit {twinjit.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option("--traceback", help="Show where in Twinjit an error was raised, too."),
    ] = False,
) -> None:
    """Compile MLIR programs, each distinct one once, and run them."""


def _open_standard_streams() -> None:
    """Make what the caller has closed (``>&-``) the null device.

    No file that is opened later may become a standard stream, and Python has None in place of it.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def main() -> None:
    """Run the command line that this process was started with, and exit with its code."""
    _open_standard_streams()
    app(prog_name="twinjit")
