"""``twinjit run``: call a function of a program, show and save what comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Annotated, Any

import typer

import twinjit
from twinjit.cli.arguments import ArgumentSpec, bind_arguments, parse_argument
from twinjit.cli.options import (
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
)
from twinjit.cli.outputs import collect_outputs, output_data, save_outputs, show_outputs
from twinjit.cli.show import duration, print_json, report_data, stderr

__all__ = ["run"]

Entry = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The function to call; needed where there are several."),
]
Arguments = Annotated[
    list[ArgumentSpec] | None,
    typer.Option(
        "--arg",
        parser=parse_argument,
        metavar="SPEC",
        help="An argument, in order: FILE.npy, FILE.npz:NAME, 8x64xf32=random:SEED, 16xf32=1.5, "
        "4x4xi32=arange, a scalar (3, 2.5, true, 1+2j); or, where the function says the shape, "
        "zeros, ones, arange, random, random:SEED or a number.",
    ),
]
ShowArguments = Annotated[
    list[int] | None,
    typer.Option(
        "--show-arg",
        min=0,
        metavar="N",
        help="Treat argument N, as the call leaves it, like a result. Counted from 0.",
    ),
]
Out = Annotated[
    str | None, typer.Option(metavar="FILE.npy", help="Save the only result instead of showing it.")
]
Save = Annotated[
    str | None,
    typer.Option(
        metavar="PREFIX",
        help="Save results as PREFIX.result0.npy, PREFIX.arg3.npy … instead of showing them.",
    ),
]
Repeat = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Call N times with the same arguments, and say how long it took."
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Do not report on the compilation and the calls.")
]


def run(
    file: File,
    *,
    entry: Entry = None,
    arg: Arguments = None,
    show_arg: ShowArguments = None,
    out: Out = None,
    save: Save = None,
    repeat: Repeat = 1,
    quiet: Quiet = False,
    pipeline: Pipeline = "auto",
    opt_level: OptLevel = 3,
    policy: Policy = None,
    confirm: Confirm = None,
    language: Language = "auto",
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Call a function of a program.

    Results go to standard output; where the code came from and how long it ran, to standard error.
    """
    if out and save:
        raise typer.BadParameter("give this or --save, not both", param_hint="'--out'")
    compiler = open_compiler(
        cache, pipeline=pipeline, opt_level=opt_level, policy=policy, confirm=confirm
    )
    executable = compiler.compile(open_program(file), language=language)
    name = entry or _only_entry(executable)
    function = executable[name]
    signature = executable.signatures[name]
    shown = show_arg or []
    _check_outputs(signature, shown, out)
    arguments = bind_arguments(arg or [], signature)

    result, seconds = _call(function, arguments, repeat)

    outputs = collect_outputs(signature, result, arguments, shown)
    save_outputs(outputs, out=out, prefix=save)
    if json:
        print_json(
            {
                "entry": name,
                "signature": str(signature),
                "outputs": [output_data(output) for output in outputs],
                "calls": _times(seconds),
                "report": report_data(executable.report),
            }
        )
        return
    show_outputs(outputs)
    if not quiet:
        console = stderr()
        console.print(str(executable.report), style="dim")
        console.print(_describe_times(_times(seconds)), style="dim")


def _only_entry(executable: twinjit.Executable) -> str:
    callable_ = [name for name, each in executable.signatures.items() if not each.uncallable]
    if len(callable_) == 1:
        return callable_[0]
    known = ", ".join(executable) or "none at all"
    raise typer.BadParameter(
        f"say which function to call; the program has {known}", param_hint="'--entry'"
    )


def _check_outputs(signature: twinjit.Signature, shown: Sequence[int], out: str | None) -> None:
    for position in shown:
        if position >= len(signature.arguments):
            raise typer.BadParameter(
                f"there is no argument {position} ({signature})", param_hint="'--show-arg'"
            )
    count = len(signature.results) + len(shown)
    if out and count != 1:
        raise typer.BadParameter(
            f"one result can be saved so, but there are {count} ({signature}); choose an argument "
            "with --show-arg, or give --save PREFIX",
            param_hint="'--out'",
        )


def _call(
    function: Callable[..., object], arguments: Sequence[object], count: int
) -> tuple[object, list[float]]:
    """Call a function; return the last result and each call's seconds."""
    seconds = []
    result = None
    for _ in range(count):
        start = perf_counter()
        result = function(*arguments)
        seconds.append(perf_counter() - start)
    return result, seconds


def _times(seconds: Sequence[float]) -> dict[str, Any]:
    return {
        "count": len(seconds),
        "min_seconds": min(seconds),
        "median_seconds": median(seconds),
        "max_seconds": max(seconds),
    }


def _describe_times(times: dict[str, Any]) -> str:
    if times["count"] == 1:
        return f"ran in {duration(times['min_seconds'])}"
    return (
        f"ran {times['count']} times: median {duration(times['median_seconds'])}, "
        f"{duration(times['min_seconds'])} to {duration(times['max_seconds'])}"
    )
