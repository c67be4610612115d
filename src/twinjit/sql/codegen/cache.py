"""Kernels of a compiler, each generated and compiled once."""

from __future__ import annotations

from collections import Counter, OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import perf_counter
from weakref import WeakKeyDictionary

from twinjit.compiler import Compiler
from twinjit.forks import fork_lock, held_off, start_anew_in_children
from twinjit.sql.codegen.program import Kernel, KernelProgram, Signature
from twinjit.sql.codegen.runtime_symbols import SYMBOLS

__all__ = ["KernelCounts", "Kernels", "kernels_of"]

_WORKERS = 2
_MOST = 1024
"""Kernels that are kept; the one is dropped that was not asked for longest."""


class KernelCounts:
    """What became of the kernels that a query asked for.

    Attributes
    ----------
    generated
        Kernels whose IR was made.
    compiled
        Of these, those that were compiled; the code of the others was in memory or in a store.
    generate_seconds, compile_seconds
        How long that took, beside whatever else was done meanwhile.
    signatures
        How many morsels each kernel, by its signature, was asked for.
    reused
        Morsels for which a kernel was ready without making any IR.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards all attributes
        self.generated = 0
        self.compiled = 0
        self.generate_seconds = 0.0
        self.compile_seconds = 0.0
        self.signatures: Counter[Signature] = Counter()
        self.reused = 0
        self._used: set[Signature] = set()

    def ask(self, signature: Signature) -> None:
        """Count a morsel for which a kernel is asked for."""
        with self._lock:
            self.signatures[signature] += 1

    def use(self, signature: Signature, *, is_reused: bool) -> None:
        """Count a morsel that a kernel handles, which it was ready for or not."""
        with self._lock:
            self._used.add(signature)
            self.reused += is_reused

    @property
    def skipped(self) -> int:
        """Kernels that were asked for and handled no row."""
        return len(self.signatures.keys() - self._used)

    def add(self, *, is_compiled: bool, generate: float, compile_: float) -> None:
        """Count a kernel that was made; times in seconds."""
        with self._lock:
            self.generated += 1
            self.compiled += is_compiled
            self.generate_seconds += generate
            self.compile_seconds += compile_


class Kernels:
    """The kernels that a compiler has made, and makes.

    A kernel is known by its signature before any IR is made. Where that is new, its IR is, and the
    compiler finds the code by the fingerprint, or compiles it. Any number of threads may share one.
    """

    def __init__(self) -> None:
        self._lock = fork_lock()  # guards `_pool` and `_futures`
        self._futures: OrderedDict[Signature, Future[Kernel]] = OrderedDict()
        self._pool: ThreadPoolExecutor | None = None
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Forget, in a forked child, what a thread was making that the child does not have."""
        self._pool = None
        made = [(key, each) for key, each in self._futures.items() if each.done()]
        self._futures = OrderedDict(made)

    def find(self, program: KernelProgram) -> Kernel | None:
        """Give a kernel that is ready.

        Raises
        ------
        CompilationError
            If it could not be compiled.
        """
        future = self._futures.get(program.signature)
        return None if future is None or not future.done() else future.result()

    def start(
        self, program: KernelProgram, compiler: Compiler, counts: KernelCounts
    ) -> Future[Kernel]:
        """Have a kernel made in the background, unless it is ready or under way.

        Parameters
        ----------
        compiler
            The one that these kernels are of.
        """
        signature = program.signature
        with self._lock:
            future = self._futures.get(signature)
            if future is not None:
                self._futures.move_to_end(signature)
                return future
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="twinjit-sql-kernels")
            future = self._futures[signature] = self._pool.submit(_make, program, compiler, counts)
            if len(self._futures) > _MOST:
                self._futures.popitem(last=False)
        future.add_done_callback(partial(self._forget_failed, signature))
        return future

    def _forget_failed(self, signature: Signature, future: Future[Kernel]) -> None:
        """Forget a kernel that could not be made, so that the next query tries again."""
        if future.cancelled() or future.exception() is not None:
            with self._lock:
                self._futures.pop(signature, None)


def _make(program: KernelProgram, compiler: Compiler, counts: KernelCounts) -> Kernel:
    with held_off():
        import twinjit.sql.codegen.kernels  # noqa: F401  # llvmlite is no cost of this kernel
    start = perf_counter()
    module = program.generate()
    generated = perf_counter()
    executable = compiler.compile(module, symbols=SYMBOLS)
    counts.add(
        is_compiled=executable.report.tier == "compiled",
        generate=generated - start,
        compile_=perf_counter() - generated,
    )
    return Kernel(executable.address("kernel"), executable)


# By compiler, so that all queries that share one share its kernels.
_kernels: WeakKeyDictionary[Compiler, Kernels] = WeakKeyDictionary()
_lock = fork_lock()  # guards `_kernels`


def kernels_of(compiler: Compiler) -> Kernels:
    """Give the kernels of a compiler."""
    with _lock:
        found = _kernels.get(compiler)
        if found is None:
            found = _kernels[compiler] = Kernels()
        return found
