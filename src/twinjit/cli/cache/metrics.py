"""The cache's counts for Prometheus, fit for node_exporter's collector of text files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from twinjit.cli.cache.stats import Totals

__all__ = ["to_prometheus"]


def to_prometheus(entries: int, held: int, bound: int, totals: Totals) -> str:
    """Write the state of a cache in Prometheus' text format.

    Parameters
    ----------
    entries, held, bound
        How many entries there are, the bytes that they take, and those that they may take.
    totals
        The counts of all processes.
    """
    registry = CollectorRegistry()
    registry.register(_Cache(entries, held, bound, totals))
    return generate_latest(registry).decode()


class _Cache(Collector):
    def __init__(self, entries: int, held: int, bound: int, totals: Totals) -> None:
        self._gauges = (
            ("entries", "Entries held now.", entries),
            ("bytes", "Bytes that they take on the disk.", held),
            ("max_bytes", "Bytes that they may take.", bound),
        )
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        totals = self._totals
        yield _labelled("hits", "Programs whose code was found, by tier.", "tier", totals.hits)
        yield _labelled("misses", "Lookups without a result, by reason.", "reason", totals.misses)
        for name, what in (
            ("compiled", "Programs that were compiled."),
            ("uncacheable", "Those of them that have no identity."),
            ("puts", "Entries taken in."),
            ("evictions", "Files removed to keep the bound."),
            ("faults", "Times the cache could not do its work."),
        ):
            count = {**totals.compiled, **totals.events}[name]
            yield CounterMetricFamily(f"twinjit_cache_{name}", what, value=count)
        yield _labelled(
            "shared_misses",
            "Lookups in the shared store without a result, by reason.",
            "reason",
            totals.shared_misses,
        )
        for name, what in (
            ("puts", "Entries that the shared store took in."),
            ("faults", "Times the shared store could not do its work."),
        ):
            count = totals.shared_events[name]
            yield CounterMetricFamily(f"twinjit_cache_shared_{name}", what, value=count)
        for name, what, value in self._gauges:
            yield GaugeMetricFamily(f"twinjit_cache_{name}", what, value=value)


def _labelled(name: str, what: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(f"twinjit_cache_{name}", what, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
