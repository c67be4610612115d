"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazily"]

_T = TypeVar("_T")


class lazily(Generic[_T]):
    """Like ``functools.cached_property``, without a lock.

    Before Python 3.12, that holds one lock for all instances of a class while it computes: threads
    would parse and fingerprint one after the other, and a child that is forked meanwhile would wait
    forever. Threads that ask at the same time compute each for itself, and all get the first
    result: a client that was used and is dropped would close the connections of its user.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazily[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> lazily[_T] | _T:
        if instance is None:
            return self
        value = self._compute(instance)
        found: _T = instance.__dict__.setdefault(self._name, value)  # before this from now on
        return found
