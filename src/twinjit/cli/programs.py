"""``twinjit compile`` and ``fingerprint``: what runs nothing of the program."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

import twinjit
from twinjit.cli.failures import describe_error, report_error
from twinjit.cli.files import replacing
from twinjit.cli.options import (
    STDIN,
    AllowUnregistered,
    Cache,
    Confirm,
    File,
    Json,
    Language,
    OptLevel,
    Pipeline,
    Policy,
    open_compiler,
    open_program,
    read_policy,
)
from twinjit.cli.show import print_json, report_data, signature_data, stderr
from twinjit.errors import TwinjitError

__all__ = ["compile_program", "fingerprint"]

_STDOUT = "-"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="MLIR or LLVM IR, text or binary; - for standard input."
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.o",
        help="The object file; - for standard output. By default FILE's name with .o, here.",
    ),
]


def compile_program(
    file: File,
    *,
    output: Output = None,
    pipeline: Pipeline = "auto",
    opt_level: OptLevel = 3,
    policy: Policy = None,
    confirm: Confirm = None,
    language: Language = "auto",
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Write a program's object file.

    The file is relocatable ELF for this machine. It appears whole or not at all.
    """
    path = output or _default_output(file)
    if json and path == _STDOUT:
        raise typer.BadParameter(
            "the object file needs standard output alone", param_hint="'--json'"
        )
    compiler = open_compiler(
        cache, pipeline=pipeline, opt_level=opt_level, policy=policy, confirm=confirm
    )
    executable = compiler.compile(open_program(file), language=language)
    if path == _STDOUT:
        sys.stdout.buffer.write(executable.object_code)
        return
    with replacing(path) as target:
        target.write(executable.object_code)
    if json:
        print_json(
            {
                "output": path,
                "key": executable.key.hex,
                "functions": [signature_data(each) for each in executable.signatures.values()],
                "report": report_data(executable.report),
            }
        )
    else:
        stderr().print(f"{path}: {executable.report}", style="dim")


def fingerprint(
    files: Files,
    *,
    policy: Policy = None,
    allow_unregistered: AllowUnregistered = False,
    language: Language = "auto",
    json: Json = False,
) -> None:
    """Print the fingerprints of programs.

    One a line, with the file's name. A file that fails is reported, and the others are still done.
    """
    counts = read_policy(policy)
    rows: list[dict[str, Any]] = []
    code = 0
    for file in files:
        row: dict[str, Any] = {"file": file, "fingerprint": None, "error": None}
        try:
            program = open_program(file)
            row["fingerprint"] = twinjit.fingerprint(
                program, counts, allow_unregistered=allow_unregistered, language=language
            )
        except (TwinjitError, OSError) as error:
            code = max(code, report_error(error))
            row["error"] = describe_error(error)
        rows.append(row)
        if row["fingerprint"] and not json:
            typer.echo(f"{row['fingerprint']}  {file}")
    if json:
        print_json({"fingerprints": rows})
    raise typer.Exit(code)


def _default_output(file: str) -> str:
    if file == STDIN:
        raise typer.BadParameter(
            "say where the object file of standard input goes", param_hint="'--output'"
        )
    return os.path.splitext(os.path.basename(file))[0] + ".o"
