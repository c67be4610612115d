"""``twinjit cache verify``, ``prune`` and ``clear``: what keeps a cache in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeVar

import typer
from rich.text import Text

import twinjit
from twinjit.cli.cache.stores import check_store, open_store
from twinjit.cli.failures import DAMAGED, IO_FAILED, report_error
from twinjit.cli.options import Cache, Json
from twinjit.cli.show import plural, print_json, printable, size, stderr, stdout
from twinjit.errors import ConfigError

__all__ = ["clear", "prune", "verify"]

T = TypeVar("T")

# What another release or a secret explains is not damage, and what could not be read may be whole.
_REMOVABLE = ("damaged", "untrusted")
_OTHERS = ("version", "machine")


def _reading(parse: Callable[[str], T]) -> Callable[[str], T]:
    def read(text: str) -> T:
        try:
            return parse(text)
        except ConfigError as error:
            raise typer.BadParameter(str(error)) from error

    return read


MaxSize = Annotated[
    int | None,
    typer.Option(
        parser=_reading(twinjit.parse_size),
        metavar="SIZE",
        help="The bound, such as 512M; by default that of the settings.",
    ),
]
MaxAge = Annotated[
    float | None,
    typer.Option(
        parser=_reading(twinjit.parse_duration),
        metavar="TIME",
        help="Remove what was not used for so long, such as 30d or 12h; by default the settings' "
        "limit, if there is one.",
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="Remove the files that are damaged.")]


def verify(*, remove: Remove = False, cache: Cache = None, json: Json = False) -> None:
    """Read everything in the cache, and name what a lookup would not take.

    Exit codes: 0 all is well; 3 the cache, or a file in it, cannot be read; 4 a file is damaged.
    """
    store = open_store(cache)
    read, found = _read_all(store)
    removed = {bad.path for bad in found if remove and _is_removed(bad)}
    if json:
        bad = [{**each._asdict(), "removed": each.path in removed} for each in found]
        print_json({"path": store.root, "read": read, "bad": bad})
    else:
        _show_bad(found, removed)
        others = sum(bad.reason in _OTHERS for bad in found)
        note = f", {others} for another release or machine" if others else ""
        stdout().print(
            f"read {plural(read, 'file')} of {printable(store.root)}, "
            f"{len(found) - others or 'none'} of them bad{note}",
            highlight=False,
        )
    check_store(store)
    _exit_for(found)


def _read_all(store: twinjit.DiskStore) -> tuple[int, list[twinjit.Bad]]:
    read = 0
    with _progress() as show:

        def count(done: int, total: int) -> None:
            nonlocal read
            read = done
            show(done, total)

        found = list(store.verify(count))
    return read, found


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show how far a command is, where standard error is a terminal."""
    from rich.progress import Progress  # here, as no other command should wait for it

    console = stderr()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _is_removed(bad: twinjit.Bad) -> bool:
    if bad.reason not in _REMOVABLE or os.path.isdir(bad.path):
        return False
    try:
        os.unlink(bad.path)
    except FileNotFoundError:
        pass  # another process was faster
    except OSError as error:
        report_error(error)
        return False
    return True


def _show_bad(found: list[twinjit.Bad], removed: set[str]) -> None:
    console = stdout()
    for bad in found:
        done = " (removed)" if bad.path in removed else ""
        console.print(
            Text.assemble(
                (bad.reason, "red"), f"  {printable(bad.path)}: {bad.message}", (done, "dim")
            )
        )


def _exit_for(found: list[twinjit.Bad]) -> None:
    reasons = {bad.reason for bad in found}
    if reasons.difference(_OTHERS, ["failed"]):
        raise typer.Exit(DAMAGED)
    if "failed" in reasons:
        raise typer.Exit(IO_FAILED)


def prune(*, max_size: MaxSize = None, max_age: MaxAge = None, cache: Cache = None) -> None:
    """Remove what is too old, then what was used longest ago, until the rest keeps the bound."""
    store = open_store(cache)
    pruned = store.prune(max_size, max_age)
    died = f", and {plural(pruned.temporaries, 'remain')} of killed processes"
    stdout().print(
        f"removed {plural(pruned.entries, 'file')}, {size(pruned.bytes)}"
        f"{died if pruned.temporaries else ''}, from {printable(store.root)}",
        highlight=False,
    )
    check_store(store)


def clear(*, cache: Cache = None) -> None:
    """Remove everything in the cache; the counts of `stats` stay."""
    store = open_store(cache)
    before = store.stats()
    store.clear()
    after = store.stats()
    stdout().print(
        f"removed {plural(before.entries - after.entries, 'entry', 'entries')}, "
        f"{size(before.bytes - after.bytes)}, from {printable(store.root)}",
        highlight=False,
    )
    check_store(store)
