"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

import threading

from tests.threads import at_once
from twinjit.lazily import lazily


class Subject:
    def __init__(self, compute):
        self.compute = compute

    @lazily
    def value(self):
        """What it is."""
        return self.compute()


def test_computed_once():
    calls = []
    subject = Subject(lambda: calls.append(1) or len(calls))
    assert (subject.value, subject.value, len(calls)) == (1, 1, 1)
    assert Subject.value.__doc__ == "What it is."


def test_threads_do_not_wait_for_each_other():
    together = threading.Barrier(2, timeout=20)  # broken unless both compute at a time
    subjects = [Subject(together.wait), Subject(together.wait)]
    threads = [threading.Thread(target=lambda each=each: each.value) for each in subjects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.value for each in subjects} == {0, 1}


def test_threads_that_ask_at_once_get_one_result():
    together = threading.Barrier(8, timeout=20)
    subject = Subject(lambda: (together.wait(), object()))
    found = []
    at_once(lambda _: found.append(subject.value), 8)
    assert {id(each) for each in found} == {id(subject.value)}
