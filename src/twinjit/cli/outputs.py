"""What a call gave: its results, and the arguments that a user wants to see afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import twinjit
from twinjit.cli.files import replacing
from twinjit.cli.show import format_value, stdout, value_data

__all__ = ["Output", "collect_outputs", "output_data", "save_outputs", "show_outputs"]


@dataclass
class Output:
    """One of them.

    Attributes
    ----------
    name
        ``result0``, ``result1`` …, or ``arg0`` ….
    type
        Its type in MLIR's syntax.
    value
        What Python got.
    file
        Where it was saved.
    """

    name: str
    type: str
    value: object
    file: str | None = None


def collect_outputs(
    signature: twinjit.Signature,
    result: object,
    arguments: Sequence[object],
    shown: Sequence[int],
) -> list[Output]:
    """List a call's results, then the arguments at the positions `shown`."""
    results = result if len(signature.results) > 1 and isinstance(result, tuple) else (result,)
    return [
        *(
            Output(f"result{index}", value.text, each)
            for index, (value, each) in enumerate(zip(signature.results, results, strict=False))
        ),
        *(Output(f"arg{n}", signature.arguments[n].text, arguments[n]) for n in shown),
    ]


def save_outputs(outputs: Sequence[Output], *, out: str | None, prefix: str | None) -> None:
    """Save each output as an array: the only one as `out`, or all beginning with `prefix`.

    Raises
    ------
    OSError
        If a file cannot be written; it is not there then, but those before it are.
    """
    for output in outputs:
        path = out or (f"{prefix}.{output.name}.npy" if prefix else None)
        if path:
            with replacing(path) as file:
                np.save(file, np.asarray(output.value), allow_pickle=False)
            output.file = path


def show_outputs(outputs: Sequence[Output]) -> None:
    """Print outputs for people; a lone scalar is printed alone."""
    console = stdout()
    for output in outputs:
        if output.file:
            console.print(f"{output.name}: {output.type} saved as {output.file}", highlight=False)
        elif isinstance(output.value, np.ndarray):
            console.print(f"{output.name}: {output.type}", style="bold", highlight=False)
            console.print(format_value(output.value))
        elif len(outputs) == 1:
            console.print(format_value(output.value))
        else:
            console.print(f"{output.name}: {output.type} = {format_value(output.value)}")


def output_data(output: Output) -> dict[str, Any]:
    """Express an output in JSON; a saved one without its value."""
    array = np.asarray(output.value)
    data: dict[str, Any] = {
        "name": output.name,
        "type": output.type,
        "shape": list(array.shape),
        "dtype": array.dtype.name,
        "file": output.file,
    }
    if output.file is None:
        data["value"] = value_data(output.value)
    return data
