"""``twinjit cache stats``: what the cache holds, and what came of using it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple, get_args

import typer
from rich.console import Console
from rich.text import Text

import twinjit
from twinjit.cli.cache.stores import check_store, open_store
from twinjit.cli.options import Cache, Json
from twinjit.cli.show import moment, plural, print_json, printable, size, span, stdout

__all__ = ["Totals", "stats"]

_REASONS: Mapping[str, str] = {
    "absent": "not seen before, as far as is known",
    "evicted": "removed to keep the bound",
    "expired": "not used for too long",
    "damaged": "not as it was written; removed",
    "version": "in another release's format",
    "machine": "for another machine",
    "large": "beyond the limit of the shared store",
    "untrusted": "another user could have changed it",
    "unsigned": "not signed with the secret",
    "failed": "the disk or the network failed",
    "down": "the shared store was left alone after a failure",
}
_TIERS = ("memory", "disk", "shared")

Prometheus = Annotated[
    bool,
    typer.Option("--prometheus", help="Print metrics in Prometheus' text format."),
]
Reset = Annotated[
    bool, typer.Option("--reset", help="Count from 0 again, for all processes; print nothing.")
]


class Totals(NamedTuple):
    """The counts of all processes, sorted.

    Attributes
    ----------
    hits
        Programs whose code was there, by tier.
    compiled
        Programs that were compiled, and how many of these have no identity.
    misses
        Lookups of the stores that gave nothing, by reason.
    events
        Puts, evictions and faults.
    """

    hits: dict[str, int]
    compiled: dict[str, int]
    misses: dict[str, int]
    events: dict[str, int]
    shared_misses: dict[str, int]
    shared_events: dict[str, int]

    @classmethod
    def of(cls, store: twinjit.DiskStore) -> Totals:
        """Sort the counts of a store; what did not happen is 0."""
        counts = store.totals()

        def chosen(names: Iterable[str], prefix: str = "") -> dict[str, int]:
            return {name: counts.get(prefix + name, 0) for name in names}

        return cls(
            chosen(_TIERS),
            chosen(("compiled", "uncacheable")),
            chosen(get_args(twinjit.MissReason), "miss-"),
            chosen(("puts", "evictions", "faults")),
            chosen(get_args(twinjit.MissReason), "shared-miss-"),
            chosen(("puts", "faults"), "shared-"),
        )

    @property
    def programs(self) -> int:
        """How many programs were asked for."""
        return sum(self.hits.values()) + self.compiled["compiled"]

    @property
    def hit_rate(self) -> float | None:
        """The share of programs whose code was there; None where none was asked for."""
        return sum(self.hits.values()) / self.programs if self.programs else None


def stats(
    *,
    prometheus: Prometheus = False,
    reset: Reset = False,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Say what the cache holds, and count hits and misses of all processes that used it."""
    if json + prometheus + reset > 1:
        raise typer.BadParameter("give one of --json, --prometheus and --reset")
    store = open_store(cache)
    if reset:
        _reset(store)
        return
    found, totals = store.stats(), Totals.of(store)
    check_store(store)
    if prometheus:
        from twinjit.cli.cache.metrics import to_prometheus

        typer.echo(to_prometheus(found.entries, found.bytes, store.max_bytes, totals), nl=False)
    elif json:
        print_json(_data(store, found.entries, found.bytes, totals))
    else:
        console = stdout()
        _show_holdings(console, store, found.entries, found.bytes)
        _show_totals(console, totals, store.counted_since())


def _reset(store: twinjit.DiskStore) -> None:
    if not store.reset_totals():
        raise OSError(f"{store.root}: the counts cannot be written")


def _data(store: twinjit.DiskStore, entries: int, held: int, totals: Totals) -> dict[str, Any]:
    return {
        "path": store.root,
        "entries": entries,
        "bytes": held,
        "max_bytes": store.max_bytes,
        "max_age": store.max_age,
        "since": store.counted_since(),
        "hits": totals.hits,
        "hit_rate": totals.hit_rate,
        **totals.compiled,
        "misses": totals.misses,
        **totals.events,
        "shared": {"misses": totals.shared_misses, **totals.shared_events},
    }


def _show_holdings(console: Console, store: twinjit.DiskStore, entries: int, held: int) -> None:
    _line(console, "path", printable(store.root))
    _line(console, "entries", str(entries))
    _line(console, "size", f"{size(held)} of {size(store.max_bytes)}")
    _line(console, "age limit", "none" if store.max_age is None else span(store.max_age))


def _show_totals(console: Console, totals: Totals, since: float | None) -> None:
    begun = f", since {moment(since)}" if since else ""
    console.print(f"\nin all processes{begun}", style="bold", highlight=False)
    rate = "" if totals.hit_rate is None else f" of {plural(totals.programs, 'program')}"
    rate = rate and f"{rate} ({totals.hit_rate:.1%})"
    _line(console, "hits", f"{sum(totals.hits.values())}{rate}", "green")
    for tier, count in totals.hits.items():
        _line(console, f"  {tier}", str(count))
    compiled, uncacheable = totals.compiled.values()
    _line(console, "compiled", str(compiled))
    if uncacheable:
        _line(console, "  uncacheable", str(uncacheable))
    _show_events(console, totals.misses, totals.events)
    if any(totals.shared_misses.values()) or any(totals.shared_events.values()):
        console.print("\nin the shared store", style="bold", highlight=False)
        _show_events(console, totals.shared_misses, totals.shared_events)


def _show_events(console: Console, misses: dict[str, int], events: dict[str, int]) -> None:
    _line(console, "misses", plural(sum(misses.values()), "lookup"), "yellow")
    for reason, count in misses.items():
        if count:
            _line(console, f"  {reason}", f"{count} ({_REASONS[reason]})")
    for event, count in events.items():
        _line(console, event, str(count), "red" if event == "faults" and count else "")


def _line(console: Console, name: str, value: str, style: str = "") -> None:
    console.print(Text.assemble((f"{name:<15}", style), value))
