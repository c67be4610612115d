from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.store.backends import DictBackend, FaultyBackend, HangingBackend
from twinjit.errors import ConfigError
from twinjit.store.deadline import DeadlineBackend


def test_it_does_what_its_backend_does() -> None:
    inner = DictBackend()
    backend = DeadlineBackend(inner, 60)
    assert backend.url == inner.url
    assert backend.get("a") is None
    backend.put("a", b"1")
    assert backend.get("a") == b"1"
    backend.remove("a")
    assert inner.entries == {}


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_what_its_backend_raises_is_raised(error: type[BaseException]) -> None:
    inner = FaultyBackend()
    inner.fail("get", error=lambda: error("why"))
    with pytest.raises(error, match="why"):
        DeadlineBackend(inner, 60).get("a")


def test_a_call_that_hangs_is_given_up() -> None:
    inner = HangingBackend()
    backend = DeadlineBackend(inner, 0.01)
    with pytest.raises(TimeoutError, match=r"dict://\d+ within 0.01 s"):
        backend.get("a")
    inner.release.set()


def test_a_thread_that_an_interrupt_leaves_behind_counts() -> None:
    inner = HangingBackend()
    backend = DeadlineBackend(inner, 60)

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(4):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                backend.get("a")
    finally:
        signal.signal(signal.SIGALRM, previous)
    with pytest.raises(TimeoutError, match="4 calls"):
        backend.get("a")
    inner.release.set()


def test_threads_that_hang_are_bounded_and_not_held_against_it_once_they_end() -> None:
    inner = HangingBackend()
    backend = DeadlineBackend(inner, 0.01)
    before = set(threading.enumerate())  # one of an earlier test may be about to end
    for _ in range(20):
        with pytest.raises(TimeoutError):
            backend.put("a", b"1")
    assert len(set(threading.enumerate()) - before) == 4
    with pytest.raises(TimeoutError, match="4 calls"):
        backend.get("a")
    inner.release.set()
    for thread in list(backend._late):
        thread.join()
    assert DeadlineBackend(inner, 60).get("a") == b"1"
    assert backend._late
    backend._refuse_if_stuck()
    assert not backend._late


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_that_is_none(seconds: float) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        DeadlineBackend(DictBackend(), seconds)


def test_what_prepares_a_call_has_no_limit() -> None:
    inner = DictBackend()
    backend = DeadlineBackend(inner, 0.2, lambda: time.sleep(0.5))
    backend.put("a", b"1")
    assert backend.get("a") == b"1"


def test_imports_do_not_count_as_time_of_the_store(tmp_path: Path) -> None:
    script = (
        "import sys, threading\n"
        "from twinjit.store import objects\n"
        "from twinjit.store.backends import open_backend\n"
        "backend = open_backend(sys.argv[1], 10.0)\n"
        "threads = []\n"
        "load = objects.import_module\n"
        "objects.import_module = lambda name: (threads.append(threading.current_thread()),\n"
        "                                      load(name))[1]\n"
        "assert 'fsspec' not in sys.modules\n"
        "assert backend.get('a') is None\n"
        "assert 'fsspec' in sys.modules and threads == [threading.main_thread()]\n"
    )
    subprocess.run([sys.executable, "-c", script, f"file://{tmp_path}/shared"], check=True)
