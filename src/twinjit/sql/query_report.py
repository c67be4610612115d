"""What a query does, and did, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from twinjit.sql.execution.counts import QueryCounts
from twinjit.sql.plan import Plan
from twinjit.sql.render import plan_lines

__all__ = ["QueryReport"]


class QueryReport:
    """A plan, and, once it was executed, what that did.

    ``str`` gives it as text.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._execution: dict[str, Any] = {}

    def finish(
        self, counts: QueryCounts, rows: int, planning: float, first: float, total: float
    ) -> None:
        """Take in what an execution did; times in seconds."""
        kernels = counts.kernels
        self._execution = {
            "rows": rows,
            "tables": {name: asdict(scan) for name, scan in counts.scans.items()},
            "kernels": {
                "wanted": len(kernels.signatures),
                "generated": kernels.generated,
                "compiled": kernels.compiled,
                "from_store": kernels.generated - kernels.compiled,
                "reused": kernels.reused,
                "skipped": kernels.skipped,
            },
            "rows_compiled": counts.rows_compiled,
            "rows_interpreted": counts.rows_interpreted,
            "milliseconds": {
                "plan": _milliseconds(planning),
                "generate": _milliseconds(kernels.generate_seconds),
                "compile": _milliseconds(kernels.compile_seconds),
                **{name: _milliseconds(each) for name, each in sorted(counts.seconds.items())},
                "first_row": _milliseconds(first),
                "total": _milliseconds(total),
            },
        }

    def to_data(self) -> dict[str, Any]:
        """Give it as dictionaries and lists, which JSON has.

        Returns
        -------
        dict
            ``plan``: lines of text, each step further in than what it takes rows from. After an
            execution also ``rows`` (of the result); ``tables``: for each the ``partitions`` that
            were looked at, how many of them were ``pruned``, and ``row_groups`` and
            ``row_groups_pruned`` of the others; ``kernels``: how many were ``wanted`` (by
            signature), ``generated``, ``compiled``, found in memory or a store (``from_store``),
            ``reused`` without generating IR (by morsels), and ``skipped``, since there were few
            rows; ``rows_compiled`` and ``rows_interpreted``; and ``milliseconds`` by phase, those
            of work on rows summed over threads.
        """
        return {"plan": plan_lines(self._plan), **self._execution}

    def json(self) -> str:
        """Give `to_data` as JSON."""
        return json.dumps(self.to_data(), indent=2)

    def __str__(self) -> str:
        return "\n".join([*plan_lines(self._plan), *self._lines()])

    def _lines(self) -> Iterator[str]:
        found = self._execution
        if not found:
            return
        for name, scan in found["tables"].items():
            yield f"{name}: {scan['partitions']} partitions, {scan['pruned']} pruned" + (
                f"; {scan['row_groups']} row groups, {scan['row_groups_pruned']} pruned"
                if scan["row_groups"]
                else ""
            )
        kernels = ", ".join(f"{count} {name}" for name, count in found["kernels"].items())
        yield f"kernels: {kernels.replace('_', ' ')}"
        yield f"rows: {found['rows_compiled']} compiled, {found['rows_interpreted']} interpreted"
        times = (f"{name.replace('_', ' ')} {each}" for name, each in found["milliseconds"].items())
        yield f"milliseconds: {', '.join(times)}"
        yield f"result: {found['rows']} rows"


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
