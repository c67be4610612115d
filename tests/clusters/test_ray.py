"""A real Ray of this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import twinjit
from tests.clusters.test_pool import ADD, TENSOR
from twinjit.errors import CompilationTimeoutError, ConfigError, LoweringError

ray = pytest.importorskip("ray")

pytestmark = [pytest.mark.filterwarnings("ignore")]  # Ray's own, which differ by release


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def nap() -> None:
    time.sleep(3)


def test_without_a_cluster() -> None:
    assert not ray.is_initialized()
    with pytest.raises(ConfigError, match=r"ray\.init\(\)"):
        twinjit.Compiler(cache=False, executor="ray")


def test_the_cluster_compiles(cluster: None) -> None:
    compiler = twinjit.Compiler(cache=False, executor="ray")
    executable = compiler.compile(ADD.format(k=100))
    assert executable.add(1) == 101
    assert "remote" in executable.report.phases


def test_equal_keys_are_compiled_once(cluster: None, tmp_path: Path) -> None:
    """Compilers that have neither memory nor disk in common."""
    compilers = [twinjit.Compiler(cache=tmp_path / str(k), executor="ray") for k in range(4)]
    busy = [ray.remote(nap).remote() for _ in range(2)]  # until all have asked
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda each: each.compile(ADD.format(k=200)), compilers))
    ray.get(busy)
    assert [each.add(1) for each in found] == [201] * 4
    # What one compilation took, to the last digit.
    assert len({str(each._code.artifact.report) for each in found}) == 1


def test_errors_and_limits(cluster: None) -> None:
    compiler = twinjit.Compiler(cache=False, executor="ray", pipeline="convert-func-to-llvm")
    for _ in range(2):
        with pytest.raises(LoweringError):
            compiler.compile(TENSOR)
    busy = [ray.remote(nap).remote() for _ in range(2)]
    with pytest.raises(CompilationTimeoutError):
        twinjit.Compiler(cache=False, executor="ray").compile(ADD.format(k=300), timeout=0.2)
    ray.get(busy)
