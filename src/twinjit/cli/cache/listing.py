"""``twinjit cache list``: one line for each entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Annotated, Any

import typer
from rich.text import Text

import twinjit
from twinjit.cli.cache.stores import check_store, open_store, unique_prefixes
from twinjit.cli.options import Cache, Json
from twinjit.cli.parts import shorten
from twinjit.cli.show import moment, print_json, size, stdout

__all__ = ["entry_data", "list_entries"]

_PIPELINE_WIDTH = 24
_FUNCTIONS_WIDTH = 60
_HEADER = ("key", "size", "last used", "cpu", "opt", "pipeline", "functions")


class _Order(str, Enum):
    used = "used"
    size = "size"


_ORDERS: dict[_Order, Callable[[twinjit.Entry], float]] = {
    _Order.used: lambda entry: -entry.used,
    _Order.size: lambda entry: -entry.bytes,
}

Sort = Annotated[
    _Order,
    typer.Option("--sort", metavar="used|size", help="What was used last first, or what is large."),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=0, metavar="N", help="List the first N entries only."),
]


def list_entries(
    *, sort: Sort = _Order.used, limit: Limit = None, cache: Cache = None, json: Json = False
) -> None:
    """List the entries: what they hold, how large they are, and when they were last used."""
    store = open_store(cache)
    entries = sorted(store.entries(), key=lambda entry: (_ORDERS[sort](entry), entry.key_digest))
    listed = entries[:limit]
    if json:
        data = [entry_data(entry, store.inspect(entry.key_digest)) for entry in listed]
        print_json({"path": store.root, "entries": data, "total": len(entries)})
    else:
        short = unique_prefixes(entries)
        rows = [
            _row(entry, short[entry.key_digest], store.inspect(entry.key_digest))
            for entry in listed
        ]
        _show_rows(rows)
        if len(listed) < len(entries):
            stdout().print(f"… and {len(entries) - len(listed)} more", style="dim")
    check_store(store)


def entry_data(entry: twinjit.Entry, found: twinjit.Artifact | twinjit.Bad) -> dict[str, Any]:
    """Express an entry in JSON; what is not known of one that is bad is null."""
    data = {
        "key": entry.key_digest.hex(),
        "tier": "disk",
        "file": entry.path,
        "bytes": entry.bytes,
        "used": entry.used,
    }
    if isinstance(found, twinjit.Bad):
        bad = {"reason": found.reason, "message": found.message}
        return {**data, "functions": None, "pipeline": None, "target": None, "bad": bad}
    target = {name: found.target.get(name) for name in ("triple", "cpu", "features")}
    return {
        **data,
        "functions": [each.get("name") for each in found.signatures],
        "pipeline": found.report.get("pipeline"),
        "target": target,
        "bad": None,
    }


def _row(
    entry: twinjit.Entry, prefix: str, found: twinjit.Artifact | twinjit.Bad
) -> tuple[str, ...]:
    known = (prefix, size(entry.bytes), moment(entry.used))
    if isinstance(found, twinjit.Bad):
        return (*known, "", "", "", f"{found.reason}: {found.message}")
    names = ", ".join(str(each.get("name")) for each in found.signatures)
    return (
        *known,
        str(found.target["cpu"]),
        str(dict(found.key.parts).get("opt-level", "")),
        shorten(str(found.report.get("pipeline", "")), _PIPELINE_WIDTH),
        shorten(names, _FUNCTIONS_WIDTH),
    )


def _show_rows(rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(_HEADER, *rows, strict=True)]
    console = stdout()
    for row, style in ((_HEADER, "bold"), *((row, "") for row in rows)):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        console.print(Text("  ".join(cells).rstrip(), style))
