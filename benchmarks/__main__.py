"""``python -m benchmarks [NAME ...] [--quick] [--json]``: run benchmarks and print their figures.

With ``--json`` and one name, prints that benchmark's figures as one JSON object; with more names,
one object of objects. All runs also write ``benchmarks/results/NAME.json``, with the machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.harness import Figures, machine

NAMES = (
    *("warm", "calls", "codegen", "identity", "store", "faults", "parallel"),
    *("library", "lazy", "tiers", "reproduce", "sql", "soak"),
)

_RESULTS = Path(__file__).parent / "results"


def _table(name: str, figures: Figures) -> Table:
    table = Table("figure", "value", title=name, title_justify="left")
    for figure, value in figures.items():
        table.add_row(figure, f"{value:,.3f}" if isinstance(value, float) else str(value))
    return table


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}")
    console = Console()
    results: dict[str, Figures] = {}
    _RESULTS.mkdir(exist_ok=True)
    for name in names:
        results[name] = importlib.import_module(f"benchmarks.{name}").run(quick=options.quick)
        document = {"machine": machine(), "figures": results[name]}
        (_RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        if not options.json:
            console.print(_table(name, results[name]))
    if options.json:
        print(json.dumps(results[names[0]] if len(names) == 1 else results))


if __name__ == "__main__":
    main()
