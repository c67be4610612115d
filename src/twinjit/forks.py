"""Forks beside other threads: the child finds whole state and free locks.

A child of fork() has one thread, and locks that others held at that moment stay locked in it for
ever. So before a fork, compiler work of other threads is waited for while new work waits, and the
locks made here are taken. Calls of compiled code are not waited for. Not covered is what else
others have locked: a live module's context that a thread of the caller's is working in, or a module
that it is importing.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from time import monotonic
from typing import Protocol

from twinjit._native.gate import PATIENCE, close_gate, held_off, open_gate

__all__ = ["fork_lock", "held_off", "start_anew_in_children"]

# Weak references to the locks. They are copied before they are gone through: finalisers remove
# references at any time, but not during a copy, which runs no Python code.
_locks: set[weakref.ref[threading.RLock]] = set()

# Taken before all others, so that two threads that fork do not each wait for what the other has.
_turn = threading.RLock()

# What each thread that is forking has taken, by its identifier.
_taken: dict[int, list[threading.RLock]] = {}


def fork_lock() -> threading.RLock:
    """Make a lock that is free in forked children, and what it guards consistent.

    Hold it for a few operations on Python state; take no other lock and do no native work
    meanwhile. It is re-entrant for the sake of a thread that forks while it holds it, in a signal
    handler for instance.
    """
    lock = threading.RLock()
    _locks.add(weakref.ref(lock, _locks.discard))
    return lock


class _Restarted(Protocol):
    def start_anew(self) -> None: ...


# What children do not take over.
_restarted: weakref.WeakSet[_Restarted] = weakref.WeakSet()


def start_anew_in_children(state: _Restarted) -> None:
    """Have `state.start_anew` called in each forked child, as long as `state` lives."""
    _restarted.add(state)


def _living_locks() -> list[threading.RLock]:
    found = (reference() for reference in _locks.copy())
    return [_turn, *(lock for lock in found if lock is not None)]


def _before() -> None:
    close_gate()
    deadline = monotonic() + PATIENCE
    taken = _taken[threading.get_ident()] = []
    for lock in _living_locks():
        taken.append(lock)  # first: an exception of a signal handler may end this anywhere
        if not lock.acquire(timeout=max(0.0, deadline - monotonic())):
            taken.pop()


def _release() -> list[threading.RLock]:
    taken = _taken.pop(threading.get_ident(), [])
    for lock in taken:
        with suppress(RuntimeError):  # not acquired, see _before
            lock.release()
    return taken


def _after_in_parent() -> None:
    _release()
    open_gate()


def _after_in_child() -> None:
    taken = {id(lock) for lock in _release()}
    _taken.clear()  # of threads that are gone
    for lock in _living_locks():
        if id(lock) not in taken:
            lock._at_fork_reinit()  # type: ignore[attr-defined]  # as the standard library does
    for state in list(_restarted):
        state.start_anew()


os.register_at_fork(
    before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
)
