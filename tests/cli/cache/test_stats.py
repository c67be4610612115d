"""``twinjit cache stats``, for people, programs and Prometheus."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

import twinjit
from tests.cli.programs import TWICE
from twinjit.cli.cache.stats import _REASONS

NOTHING = {
    "entries": 0,
    "bytes": 0,
    "max_bytes": 1024**3,
    "max_age": None,
    "since": None,
    "hits": {"memory": 0, "disk": 0, "shared": 0},
    "hit_rate": None,
    "compiled": 0,
    "uncacheable": 0,
    "misses": dict.fromkeys(get_args(twinjit.MissReason), 0),
    "puts": 0,
    "evictions": 0,
    "faults": 0,
    "shared": {
        "misses": dict.fromkeys(get_args(twinjit.MissReason), 0),
        "puts": 0,
        "faults": 0,
    },
}


def test_stats_of_nothing(data, root):
    assert data("cache", "stats") == {"path": str(root), **NOTHING}


def test_stats_of_all_processes(root, data, ok, mlir):
    script = "import sys, twinjit; twinjit.compile(sys.argv[1])"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, TWICE], check=True)
    found = data("cache", "stats")
    assert found["hits"] == {"memory": 0, "disk": 1, "shared": 0}
    assert (found["compiled"], found["hit_rate"]) == (1, 0.5)
    assert found["misses"] == {**NOTHING["misses"], "absent": 1}
    assert (found["puts"], found["entries"], found["faults"]) == (1, 1, 0)
    assert abs(found["since"] - time.time()) < 600
    assert list(found) == ["path", *NOTHING]


COUNTS = {
    "memory": 5,
    "disk": 3,
    "shared": 1,
    "compiled": 3,
    "uncacheable": 1,
    "miss-evicted": 2,
    "miss-down": 1,
    "shared-miss-absent": 4,
    "shared-miss-unsigned": 1,
    "shared-puts": 3,
    "shared-faults": 1,
    "evictions": 7,
    "faults": 2,
}


@pytest.fixture
def counted(store):
    """The cache after many events."""
    for event, number in COUNTS.items():
        store.account.add(event, number)
    store.account.flush()


def test_stats_for_programs(counted, data):
    found = data("cache", "stats")
    assert found["hits"] == {"memory": 5, "disk": 3, "shared": 1}
    assert found["hit_rate"] == 0.75
    assert (found["compiled"], found["uncacheable"]) == (3, 1)
    assert found["misses"] == {**NOTHING["misses"], "evicted": 2, "down": 1}
    assert (found["puts"], found["evictions"], found["faults"]) == (3, 7, 2)
    assert found["bytes"] == 40 << 10


def test_stats_for_people(counted, ok, monkeypatch, root):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_AGE", "30d")
    printed = ok("cache", "stats")
    lines = [line.split(maxsplit=1) for line in printed.splitlines()]
    assert ["path", str(root)] in lines
    assert ["size", "40.0 KiB of 1.0 GiB"] in lines
    assert ["hits", "9 of 12 programs (75.0%)"] in lines
    assert ["memory", "5"] in lines
    assert ["misses", "3 lookups"] in lines
    assert ["evicted", "2 (removed to keep the bound)"] in lines
    assert ["faults", "2"] in lines
    assert "since 20" in printed
    assert "expired" not in printed
    assert "uncacheable" in printed


def test_every_reason_of_a_miss_is_told():
    assert set(_REASONS) == set(get_args(twinjit.MissReason))


def test_prometheus(counted, ok, data):
    text = ok("cache", "stats", "--prometheus")
    found = data("cache", "stats")
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert all(each.documentation for each in families.values())
    values = {
        (sample.name, *sample.labels.items()): sample.value
        for each in families.values()
        for sample in each.samples
    }
    prefix = "twinjit_cache_"
    counters = ("hits", "misses", "compiled", "uncacheable", "puts", "evictions", "faults")
    shared = ("shared_misses", "shared_puts", "shared_faults")
    gauges = ("entries", "bytes", "max_bytes")
    kinds = {name: each.type for name, each in families.items()}
    assert kinds == {f"{prefix}{name}": "counter" for name in (*counters, *shared)} | {
        f"{prefix}{name}": "gauge" for name in gauges
    }
    for tier, number in found["hits"].items():
        assert values.pop((f"{prefix}hits_total", ("tier", tier))) == number
    for reason, number in found["misses"].items():
        assert values.pop((f"{prefix}misses_total", ("reason", reason))) == number
    for reason, number in found["shared"]["misses"].items():
        assert values.pop((f"{prefix}shared_misses_total", ("reason", reason))) == number
    for name in ("puts", "faults"):
        assert values.pop((f"{prefix}shared_{name}_total",)) == found["shared"][name]
    for name in counters[2:]:
        assert values.pop((f"{prefix}{name}_total",)) == found[name]
    for name in gauges:
        assert values.pop((f"{prefix}{name}",)) == found[name]
    assert values == {}
    assert text.endswith("\n")


def test_reset(counted, ok, data, cli, root):
    assert ok("cache", "stats", "--reset") == ""
    found = data("cache", "stats")
    assert (found["hits"], found["misses"]) == (NOTHING["hits"], NOTHING["misses"])
    assert (found["entries"], found["puts"]) == (3, 0)
    assert cli("cache", "stats", "--reset", "--json").exit_code == 2
    (root / "v1" / "account").unlink()
    (root / "v1" / "account").mkdir()
    result = cli("cache", "stats", "--reset")
    assert result.exit_code == 3
    assert "cannot be written" in result.stderr
