"""``twinjit cache``: look at the disk cache, and clean it."""

from __future__ import annotations

from typing import Annotated

import typer

import twinjit
from twinjit.cli.failures import IO_FAILED
from twinjit.cli.options import Cache, Json, open_compiler
from twinjit.cli.show import print_json, size, stdout
from twinjit.errors import ConfigError

__all__ = ["app"]

app = typer.Typer(
    help="Look at the disk cache, and clean it.", no_args_is_help=True, rich_markup_mode=None
)


def _read_size(text: str) -> int:
    try:
        return twinjit.parse_size(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error


MaxSize = Annotated[
    int | None,
    typer.Option(
        parser=_read_size,
        metavar="SIZE",
        help="The bound, such as 512M; by default the environment's.",
    ),
]


@app.command()
def path(*, cache: Cache = None) -> None:
    """Print the cache's directory."""
    typer.echo(_open_store(cache).root)


@app.command()
def stats(*, cache: Cache = None, json: Json = False) -> None:
    """Say what the cache holds."""
    store = _open_store(cache)
    found = store.stats()
    _check(store)
    if json:
        print_json(
            {
                "path": store.root,
                "entries": found.entries,
                "bytes": found.bytes,
                "max_bytes": store.max_bytes,
            }
        )
        return
    console = stdout()
    console.print(f"path:    {store.root}", highlight=False)
    console.print(f"entries: {found.entries}")
    console.print(f"size:    {size(found.bytes)} of {size(store.max_bytes)}")


@app.command()
def prune(*, max_size: MaxSize = None, cache: Cache = None) -> None:
    """Remove what was used longest ago, until the rest keeps the bound."""
    store = _open_store(cache)
    pruned = store.prune(max_size)
    stdout().print(f"removed {pruned.entries} files, {size(pruned.bytes)}, from {store.root}")
    _check(store)


@app.command()
def clear(*, cache: Cache = None) -> None:
    """Remove everything in the cache."""
    store = _open_store(cache)
    before = store.stats()
    store.clear()
    after = store.stats()
    stdout().print(
        f"removed {before.entries - after.entries} entries, {size(before.bytes - after.bytes)}, "
        f"from {store.root}"
    )
    _check(store)


def _open_store(cache: str | None) -> twinjit.DiskStore:
    store = open_compiler(cache).store
    if store is None:
        raise ConfigError("there is no disk cache: it is off; name a directory with --cache")
    return store


def _check(store: twinjit.DiskStore) -> None:
    """Exit if the store could not do its work; it has said why."""
    if store.stats().faults:
        raise typer.Exit(IO_FAILED)
