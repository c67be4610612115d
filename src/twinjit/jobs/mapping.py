"""Many programs at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from functools import partial
from queue import SimpleQueue

from twinjit.errors import CompilationCancelledError, ConfigError
from twinjit.executable import Executable
from twinjit.jobs.future import CompileFuture

__all__ = ["Result", "compile_all"]

Result = Executable | Exception
"""What a program gives."""

# Programs that are submitted and have not ended, for each that is compiled at a time: enough that
# no worker waits for the next, and few enough for large programs that are made one by one.
_WINDOW = 4


def compile_all(
    programs: Iterable[object],
    submit: Callable[[object], CompileFuture],
    workers: int,
    *,
    note: Callable[[Result], None],
    return_exceptions: bool,
) -> list[Result]:
    """Compile programs and return their results in order.

    Whatever ends this early cancels what has not ended.

    Parameters
    ----------
    programs
        Taken one by one, each when one of those before it ends.
    submit
        Has one compiled.
    workers
        How many are compiled at a time.
    note
        Called with each result, in the order in which they come.
    return_exceptions
        Whether errors are results, too; else the first is raised.

    Raises
    ------
    ConfigError
        If `programs` is a single program, or cannot be gone through.
    """
    if isinstance(programs, (str, bytes, bytearray, memoryview)) or not hasattr(
        programs, "__iter__"
    ):
        raise ConfigError(
            f"programs is a {type(programs).__name__}; give an iterable of programs, such as a list"
        )
    batch = _Batch(note, return_exceptions=return_exceptions)
    try:
        for program in programs:
            while batch.is_ready or batch.size >= _WINDOW * workers:
                batch.take()
            batch.add(program, submit)
        while batch.size:
            batch.take()
    finally:
        batch.cancel()
    return [batch.results[place] for place in range(len(batch.results))]


class _Batch:
    """Programs on their way, and the results of those that have ended, by their places."""

    def __init__(self, note: Callable[[Result], None], *, return_exceptions: bool) -> None:
        self.results: dict[int, Result] = {}
        self._note = note
        self._return_exceptions = return_exceptions
        self._waiting: dict[int, CompileFuture] = {}
        self._ended: SimpleQueue[int] = SimpleQueue()

    @property
    def size(self) -> int:
        """How many were added and not taken."""
        return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """Whether `take` need not wait."""
        return not self._ended.empty()

    def add(self, program: object, submit: Callable[[object], CompileFuture]) -> None:
        """Have another program compiled."""
        place = len(self.results) + len(self._waiting)
        try:
            future = submit(program)
        except Exception as error:  # it is no program, for instance
            self._keep(place, error)
            return
        self._waiting[place] = future
        future.add_done_callback(partial(self._end, place))

    def take(self) -> None:
        """Wait for the next result."""
        place = self._ended.get()
        future = self._waiting.pop(place)
        try:
            result: Result = future.result()
        except CancelledError:
            result = CompilationCancelledError("the compiler was closed meanwhile")
        except Exception as error:
            result = error
        self._keep(place, result)

    def cancel(self) -> None:
        """Cancel all that was not taken."""
        for future in self._waiting.values():
            future.cancel()

    def _end(self, place: int, _: object) -> None:
        self._ended.put(place)

    def _keep(self, place: int, result: Result) -> None:
        if isinstance(result, Exception) and not self._return_exceptions:
            if sys.version_info >= (3, 11):  # which of many texts that have no name
                result.add_note(f"of the programs to map, number {place} (counted from 0)")
            raise result
        self.results[place] = result
        self._note(result)
