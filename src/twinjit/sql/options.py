"""Options of queries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import get_args

from twinjit.compiler import Compiler
from twinjit.errors import ConfigError
from twinjit.forks import fork_lock
from twinjit.sql.execution.counts import QueryCounts
from twinjit.sql.execution.evaluation import Environment, JitMode
from twinjit.sql.execution.remote import check_executor
from twinjit.sql.execution.stopping import QueryStop
from twinjit.sql.tree import Value
from twinjit.stop import check_timeout

__all__ = ["QueryOptions"]


@dataclass(frozen=True)
class QueryOptions:
    """How queries are executed.

    Attributes
    ----------
    jit
        ``"auto"`` to start interpreted, and to compile what is worth it in the background;
        ``"force"`` to compile everything first; ``"off"`` to compile nothing. The results are the
        same.
    threads
        How many partitions are handled at a time; None for one for each core.
    timeout
        Seconds that an execution may take; None for no limit.
    compiler
        What compiles kernels; None for one that all queries without one share.
    executor
        Where partitions of files are handled: a `concurrent.futures.Executor` of processes, or a
        `distributed.Client`; None for here. Kernels are compiled there then.

    Raises
    ------
    ConfigError, ExecutorError
        If one cannot be used.
    """

    jit: JitMode = "auto"
    threads: int | None = None
    timeout: float | None = None
    compiler: Compiler | None = None
    executor: object = None

    def __post_init__(self) -> None:
        if self.jit not in get_args(JitMode):
            raise ConfigError(f"jit is {self.jit!r}; give 'auto', 'force' or 'off'")
        threads = self.threads
        is_number = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (is_number and threads > 0):
            raise ConfigError(f"threads is {threads!r}; give a number from 1 on, or None")
        check_timeout(self.timeout)
        if self.compiler is not None and not isinstance(self.compiler, Compiler):
            raise ConfigError(f"compiler is {self.compiler!r}; give a twinjit.Compiler, or None")
        check_executor(self.executor)

    def environment(self, parameters: tuple[Value, ...], stop: QueryStop) -> Environment:
        """Make what an execution needs."""
        return Environment(
            jit=self.jit,
            compiler=self.compiler or _shared_compiler(),
            parameters=parameters,
            threads=self.threads or len(os.sched_getaffinity(0)),
            stop=stop,
            counts=QueryCounts(),
            executor=self.executor,
        )


_lock = fork_lock()  # guards `_compiler`
_compiler: Compiler | None = None


def _shared_compiler() -> Compiler:
    global _compiler
    with _lock:
        if _compiler is None:
            _compiler = Compiler()
        return _compiler
