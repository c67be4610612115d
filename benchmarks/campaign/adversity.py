"""The campaign that uses a compiler and a store under adverse conditions.

Findings
--------
``raised_into_user``
    A call of a compiler or of a store raised an exception.
``wrong``
    A program or a lookup gave something else than it should.
``unhealed``
    When the condition had passed, what was compiled anew was not kept.
"""

from __future__ import annotations

import random
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType

from benchmarks.campaign.conditions import CONDITIONS
from benchmarks.campaign.finding import Account
from benchmarks.campaign.material import OpenStore, artifact, program, result, same, source
from benchmarks.harness import child
from twinjit import Compiler, DiskStore, Settings
from twinjit.errors import ArtifactError, CacheWarning

__all__ = ["endure", "first_use", "turmoil"]

_BOUND = 1 << 20
_KNOWN = 4  # programs and artifacts that are there before it happens
_FRESH = 4  # and those that come with it
_SEED = 1
_PATIENCE = 10.0  # seconds for a call


def endure(folder: Path, condition: str, open_store: OpenStore, account: Account) -> None:
    """Use a store before, under and after a condition.

    Parameters
    ----------
    folder
        An empty folder that other users can enter.
    condition
        A name in `CONDITIONS`.
    open_store
        Makes the store whose methods are called; compilers make their own.
    account
        Where calls are counted (``calls``), and findings taken down with the condition's name.
    """
    root = folder / "store"
    with _without_cache_warnings():
        user = _User(root, condition, open_store, account)
        older = user.compiler()
        user.work(older, range(_KNOWN))
        with CONDITIONS[condition](root):
            for compiler in (older, user.compiler()):
                user.work(compiler, range(_KNOWN + _FRESH))
            user.tidy()
        user.see_healed()


def first_use(folder: Path, account: Account) -> None:
    """Use a store for the first time in a process that has no descriptor left."""
    root = folder / "store"
    Compiler(cache=root).compile(program(0))
    told = child("benchmarks.campaign.first_use", str(root), environment={})
    account.counts["calls"] += told["calls"]
    for error in told["raised"]:
        account.found("raised_into_user", "first_use", error)


def turmoil(folder: Path, *, seed: int, upheavals: int, account: Account) -> None:
    """Use one compiler in threads while its directory goes away and comes back, again and again."""
    root = folder / "store"
    rng = random.Random(f"turmoil {seed}")
    with _without_cache_warnings():
        user = _User(root, "turmoil", DiskStore, account)
        compiler = user.compiler()
        over = threading.Event()
        threads = [
            threading.Thread(target=user.work_until, args=(over, compiler, first), daemon=True)
            for first in (100, 200, 300)
        ]
        for thread in threads:
            thread.start()
        for _ in range(upheavals):
            time.sleep(rng.uniform(0, 0.02))
            with suppress(OSError):  # the threads were faster
                rng.choice(_UPHEAVALS)(root)
        over.set()
        for thread in threads:
            thread.join(timeout=3 * _PATIENCE)
            if thread.is_alive():
                account.found("raised_into_user", "turmoil", "a thread does not return")
        account.counts["faults"] += compiler.store.stats().faults if compiler.store else 0
        _remove(root)
        user.see_healed()


class _TookTooLongError(Exception):
    """A call did not return; no kind of exception that a store handles."""


class _User:
    """Someone who compiles, and looks into the store."""

    def __init__(self, root: Path, condition: str, open_store: OpenStore, account: Account) -> None:
        self._root = root
        self._condition = condition
        self._open_store = open_store
        self._account = account
        # Guards the account; calls are made without it.
        self._lock = threading.Lock()

    def compiler(self) -> Compiler:
        """Make a compiler with nothing in memory."""
        return Compiler(cache=self._root, settings=Settings(cache_max_bytes=_BOUND))

    def work(self, compiler: Compiler, numbers: range) -> None:
        """Compile programs, and call all there is to call."""
        compiler.clear_memory()
        for number in numbers:
            self._compile(compiler, number)
        self._call(lambda: compiler.explain(program(numbers[0])))
        self._call(compiler.stats)
        store = self._open_store(self._root, _BOUND)
        for number in numbers:
            self._use_entry(store, number)
        self._call(lambda: list(store.digests()))
        self._call(lambda: list(store.records()))
        self._call(lambda: list(store.verify()))
        self._call(store.totals)
        self._call(store.stats)
        with self._lock:
            self._account.counts["faults"] += store.stats().faults

    def tidy(self) -> None:
        """Remove what is there, by all ways there are."""
        store = self._open_store(self._root, _BOUND)
        keys = [artifact(_SEED, number).key_digest for number in range(_KNOWN)]
        self._call(store.prune)
        self._call(lambda: store.remove(keys[0]))
        self._call(lambda: store.discard(keys[1], ArtifactError("unusable")))
        self._call(lambda: store.prune(_BOUND // 4))
        self._call(lambda: store.prune(max_age=0.0))
        self._call(store.clear)
        self._call(store.stats)

    def work_until(self, over: threading.Event, compiler: Compiler, first: int) -> None:
        """Work on one number after another, and on old ones."""
        for number in count(first):
            if over.is_set():
                return
            self.work(compiler, range(number, number + 2))

    def see_healed(self) -> None:
        """See that what is compiled now is kept."""
        self._compile(self.compiler(), 1000)
        report = self.compiler().compile(program(1000)).report
        if report.tier != "disk":
            self._found("unhealed", f"a program that was compiled again: {report}")
        store, made = self._open_store(self._root, _BOUND), artifact(_SEED, 1000)
        if not store.put(made) or store.get(made.key_digest) is None:
            self._found("unhealed", "an artifact was not put, or not found")

    def _compile(self, compiler: Compiler, number: int) -> None:
        def compile_and_run() -> None:
            value = compiler.compile(program(number)).f(5)
            if value != result(number, 5):
                self._found("wrong", f"program {number} gave {value}")

        self._call(compile_and_run)

    def _use_entry(self, store: DiskStore, number: int) -> None:
        made, request = artifact(_SEED, number), source(_SEED, number)
        key = made.key_digest
        self._call(lambda: self._get_direct(store, number))
        self._call(lambda: self._get(store, number))
        self._call(lambda: store.put(made))
        self._call(lambda: store.put_direct(request, key))
        self._call(lambda: self._get(store, number))
        self._call(lambda: store.contains(key))

    def _get(self, store: DiskStore, number: int) -> None:
        found = store.get(artifact(_SEED, number).key_digest)
        if found is not None and not same(found, artifact(_SEED, number)):
            self._mistaken(number)

    def _get_direct(self, store: DiskStore, number: int) -> None:
        found = store.get_direct(source(_SEED, number))
        if found is not None and found != artifact(_SEED, number).key_digest:
            self._mistaken(number)

    def _mistaken(self, number: int) -> None:
        self._found("wrong", f"a lookup of artifact {number} gave another")

    def _call(self, function: Callable[[], object]) -> None:
        with self._lock:
            self._account.counts["calls"] += 1
        try:
            with _alarm():
                function()
        except Exception as error:
            self._found("raised_into_user", repr(error))

    def _found(self, kind: str, text: str) -> None:
        with self._lock:
            self._account.found(kind, self._condition, text)


def _remove(root: Path) -> None:
    if root.is_dir() and not root.is_symlink():
        shutil.rmtree(root, ignore_errors=True)  # threads fill it meanwhile
    else:
        root.unlink(missing_ok=True)


def _move_away(root: Path) -> None:
    if root.is_dir() and not root.is_symlink():
        aside = root.with_name("aside")
        shutil.rmtree(aside, ignore_errors=True)
        root.rename(aside)


def _move_back(root: Path) -> None:
    aside = root.with_name("aside")
    if aside.is_dir():
        _remove(root)
        if not root.exists():
            aside.rename(root)


def _put_file(root: Path) -> None:
    _remove(root)
    if not root.exists():
        root.write_bytes(b"in the way")


def _put_link(root: Path) -> None:
    _remove(root)
    if not root.exists():
        root.symlink_to("aside")


def _open_to_all(root: Path) -> None:
    if root.is_dir():
        root.chmod(0o777)


_UPHEAVALS = (_remove, _remove, _move_away, _move_back, _put_file, _put_link, _open_to_all)


@contextmanager
def _alarm() -> Iterator[None]:
    """Raise `_TookTooLongError` in what takes too long; threads cannot be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- a signal's handler
    raise _TookTooLongError(f"longer than {_PATIENCE} seconds")


@contextmanager
def _without_cache_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        yield
