"""A real Dask cluster of this machine, and a real Redis."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import twinjit
from tests.clusters.test_pool import ADD, TENSOR
from tests.redis_server import RedisServer, redis_server
from tests.workers.programs import crashing
from twinjit.errors import (
    CompilationTimeoutError,
    ConfigError,
    ExecutorError,
    LoweringError,
)

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

# Dask's own threads and sockets, when a cluster ends under it.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


def tasks_of(cluster: Any, key: str) -> int:
    """Count how often a task was run."""
    stories = cluster.scheduler.story(key)
    return sum(entry[2] == "memory" and entry[1] == "processing" for entry in stories)


def keep_busy(client: Any) -> list[Any]:
    """Give both workers something else to do for some seconds."""
    busy = [client.submit(time.sleep, 3, pure=False) for _ in range(2)]
    while len(client.processing()) < 2:
        time.sleep(0.01)
    return busy


def test_the_cluster_compiles(client: Any) -> None:
    compiler = twinjit.Compiler(cache=False, executor=client)
    executable = compiler.compile(ADD.format(k=100))
    assert executable.add(1) == 101
    assert "remote" in executable.report.phases
    here = twinjit.Compiler(cache=False).compile(ADD.format(k=100))
    assert executable.object_code == here.object_code


def test_equal_keys_are_compiled_once_in_the_cluster(
    cluster: Any, tmp_path: Path, server: RedisServer
) -> None:
    """Two clients, as two machines: no disk in common, a Redis and a cluster."""
    texts = [ADD.format(k=k) for k in range(200, 206)]
    with distributed.Client(cluster) as one, distributed.Client(cluster) as other:
        compilers = [
            twinjit.Compiler(cache=tmp_path / name, shared=server.url, executor=client)
            for name, client in (("one", one), ("other", other))
        ]
        busy = keep_busy(one)  # until all have asked
        with ThreadPoolExecutor(12) as threads:
            jobs = [
                threads.submit(compiler.compile, text) for text in texts for compiler in compilers
            ]
            executables = [job.result() for job in jobs]
        one.gather(busy)
    for number, executable in enumerate(executables):
        assert executable.add(0) == 200 + number // 2
        assert tasks_of(cluster, f"twinjit-{executable.key.hex}") == 1
    third = twinjit.Compiler(cache=tmp_path / "third", shared=server.url)
    assert [third.compile(text).report.tier for text in texts] == ["shared"] * len(texts)


def test_errors_of_programs(client: Any) -> None:
    compiler = twinjit.Compiler(cache=False, executor=client, pipeline="convert-func-to-llvm")
    for _ in range(2):  # what failed is asked for again, and fails again
        with pytest.raises(LoweringError, match=r"tensor|lower"):
            compiler.compile(TENSOR)


def test_a_time_limit(client: Any) -> None:
    busy = keep_busy(client)
    compiler = twinjit.Compiler(cache=False, executor=client)
    with pytest.raises(CompilationTimeoutError):
        compiler.compile(ADD.format(k=300), timeout=0.2)
    client.gather(busy)
    assert compiler.compile(ADD.format(k=300)).add(1) == 301


def test_a_worker_that_is_killed(cluster: Any) -> None:
    """The scheduler gives a task that was waiting to another worker."""
    with distributed.Client(cluster) as client:
        compiler = twinjit.Compiler(cache=False, executor=client)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        assert compiler.compile(ADD.format(k=400)).add(1) == 401


def test_a_program_that_ends_its_workers() -> None:
    """It ends as many as the scheduler lets it."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = set(client.run(os.getpid).values())
        compiler = twinjit.Compiler(cache=False, executor=client)
        with pytest.raises(ExecutorError, match="KilledWorker"):
            compiler.compile(crashing(1))
        assert compiler.compile(ADD.format(k=401)).add(1) == 402
        assert not victims & set(client.run(os.getpid).values())


def test_a_cluster_that_is_gone() -> None:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, silence_logs=50
    ) as cluster:
        client = distributed.Client(cluster)
        compiler = twinjit.Compiler(cache=False, executor=client)
        assert compiler.compile(ADD.format(k=500)).add(1) == 501
        client.close()
    with pytest.raises(ExecutorError, match="Dask"):
        compiler.compile(ADD.format(k=501))


def test_asynchronous_clients_are_refused(cluster: Any) -> None:
    async def connect() -> None:
        async with distributed.Client(cluster.scheduler_address, asynchronous=True) as client:
            with pytest.raises(ConfigError, match="asynchronous"):
                twinjit.Compiler(cache=False, executor=client)

    asyncio.run(connect())


def test_partitions_of_sql(client: Any, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("pyarrow.dataset")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("sqlglot")
    from twinjit import sql

    for number in range(12):
        table = pa.table({"a": range(10 * number, 10 * number + 10), "b": [number / 7] * 10})
        parquet.write_table(table, tmp_path / f"{number:02}.parquet")
    data = datasets.dataset(tmp_path)
    for text in (
        "SELECT a % 3 AS k, sum(b), count(DISTINCT b) FROM t WHERE a > 5 GROUP BY 1 ORDER BY 1",
        "SELECT a, b FROM t WHERE a % 7 = 0 LIMIT 9",
    ):
        there = sql.query(text, t=data, executor=client, jit="force").to_table()
        assert there == sql.query(text, t=data).to_table()
