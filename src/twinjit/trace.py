"""Compilations as a trace that Perfetto and Chrome show.

A file is JSON in the array form of the Trace Event Format, without the bracket at its end, which
that format lets out::

    file  = "[" NL event { "," NL event }
    event = an object on one line

Each call of a compiler appends its events by one write, so that a file is readable whenever its
process ends; only where the disk is full may the last line be cut. Times are those of the system's
monotonic clock, in microseconds: files of several processes of one machine go together.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import weakref
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from twinjit.errors import ConfigError, ObservationWarning
from twinjit.forks import fork_lock
from twinjit.once import Once
from twinjit.report import Clock
from twinjit.warn import warn_of

__all__ = ["Tracer", "open_trace"]

_MOST_THREADS = 1 << 14

_lock = fork_lock()  # guards `_tracers` and `_begun`
_tracers: WeakValueDictionary[str, Tracer] = WeakValueDictionary()
_begun: set[str] = set()  # files that this process, or one that it was forked from, has begun
_opening = Once()  # by path


def open_trace(path: str | os.PathLike[str], label: str = "trace") -> Tracer:
    """Begin a trace, or go on with the one of that path in this process.

    Parameters
    ----------
    path
        Where; ``%p`` in it stands for the number of the process. A file that is there is replaced.
    label
        What messages call what named it.

    Raises
    ------
    ConfigError
        If no file can be written there.
    """
    named = _absolute(path, label)
    with _opening.turn(named):
        with _lock:
            tracer = _tracers.get(named)
        if tracer is None:
            tracer = Tracer(named, label, replaces=named not in _begun)
            with _lock:
                _tracers[named] = tracer
                _begun.add(named)
    return tracer


def _absolute(path: object, label: str) -> str:
    named = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(named, str) or "\0" in named:
        raise ConfigError(
            f"{label} is {path!r}; give the path of a file, as text or a pathlib.Path"
        )
    return os.path.abspath(named.replace("%p", str(os.getpid())))


class Tracer:
    """Writes one file, which is closed with it. Forked children write to it, too.

    Parameters
    ----------
    path
        Of the file, absolute.
    label
        What messages call what named it.
    replaces
        Whether what the file has goes.

    Raises
    ------
    ConfigError
        If it cannot be written.
    """

    def __init__(self, path: str, label: str, *, replaces: bool) -> None:
        self._path = path
        try:
            file = _open(path, replaces)
            weakref.finalize(self, os.close, file).atexit = False  # threads may go on then
            if os.fstat(file).st_size == 0:
                os.write(file, b"[\n" + _line(_metadata("process_name", os.getpid(), 0, "twinjit")))
        except OSError as error:
            raise ConfigError(
                f"{label} is {path!r}, which cannot be written: {error.strerror}; give the path of "
                "a file in a directory that is there"
            ) from error
        self._file: int | None = file
        self._named: set[tuple[int, int]] = set()  # threads; races name one twice, which is right

    def record(self, name: str, clock: Clock, args: Mapping[str, object]) -> None:
        """Append one call that ends now, and the phases that it had."""
        process, thread = os.getpid(), threading.get_native_id()
        common = {"ph": "X", "pid": process, "tid": thread}
        events: list[dict[str, Any]] = []
        if (process, thread) not in self._named:
            if len(self._named) >= _MOST_THREADS:
                self._named.clear()
            self._named.add((process, thread))
            title = threading.current_thread().name
            events.append(_metadata("thread_name", process, thread, title))
        call = {"name": name, "cat": "compile", "ts": 1e6 * clock.start, "dur": 1e6 * clock.seconds}
        events.append({**call, **common, "args": dict(args)})
        for phase, start, seconds in clock.spans:
            span = {"name": phase, "cat": "phase", "ts": 1e6 * start, "dur": 1e6 * seconds}
            events.append({**span, **common})
        self._append(events)

    def _append(self, events: Iterable[dict[str, Any]]) -> None:
        file = self._file
        if file is None:
            return
        data = b"".join(b",\n" + _line(event) for event in events)
        try:
            if os.write(file, data) < len(data):  # the next would tell why, after half a line
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file = None  # left open: another thread may be writing
            warn_of(
                ObservationWarning,
                f"Twinjit's trace {self._path} ends here: {error.strerror}. Compiling goes on.",
            )


def _open(path: str, replaces: bool) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    flags |= os.O_NONBLOCK  # what waits for a pipe's reader would wait for ever
    file = os.open(path, flags | (os.O_TRUNC if replaces else 0), 0o644)
    os.set_blocking(file, True)
    return file


def _metadata(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode()
