"""Backends for tests of what is built on them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

_numbers = itertools.count()


class DictBackend:
    """Keeps entries in this process. Each has another address, so that it is warned of anew."""

    def __init__(self) -> None:
        self.url = f"dict://{next(_numbers)}"
        self.entries: dict[str, bytes] = {}
        self.calls: list[str] = []

    def get(self, name: str) -> bytes | None:
        self.calls.append("get")
        return self.entries.get(name)

    def put(self, name: str, data: bytes) -> None:
        self.calls.append("put")
        self.entries[name] = data

    def remove(self, name: str) -> None:
        self.calls.append("remove")
        self.entries.pop(name, None)


class FaultyBackend(DictBackend):
    """Raises what `faults` says for an operation (``get``, ``put``, ``remove``), after the call."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: dict[str, Callable[[], BaseException]] = {}

    def fail(self, *operations: str, error: Callable[[], BaseException]) -> None:
        self.faults = dict.fromkeys(operations, error)

    def heal(self) -> None:
        self.faults = {}

    def _raise(self, operation: str) -> None:
        if operation in self.faults:
            raise self.faults[operation]()

    def get(self, name: str) -> bytes | None:
        found = super().get(name)
        self._raise("get")
        return found

    def put(self, name: str, data: bytes) -> None:
        super().put(name, data)
        self._raise("put")

    def remove(self, name: str) -> None:
        super().remove(name)
        self._raise("remove")


class HangingBackend(DictBackend):
    """Does not answer before `release` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()

    def get(self, name: str) -> bytes | None:
        self.release.wait()
        return super().get(name)

    def put(self, name: str, data: bytes) -> None:
        self.release.wait()
        super().put(name, data)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
