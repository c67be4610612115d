from __future__ import annotations

from tests.store.backends import Clock
from twinjit.store.breaker import Breaker


def fail(breaker: Breaker) -> float:
    """Let a call fail, and say for how long others are refused."""
    attempt = breaker.enter()
    assert attempt is not None
    breaker.failed(attempt)
    return breaker.retry_in


def test_calls_pass_until_one_fails() -> None:
    breaker = Breaker(Clock())
    for _ in range(3):
        attempt = breaker.enter()
        assert attempt is not None
        breaker.succeeded(attempt)
    assert not breaker.is_open
    assert 0.5 <= fail(breaker) <= 1
    assert breaker.is_open
    assert breaker.enter() is None


def test_the_wait_doubles_up_to_a_minute_and_starts_anew_after_a_success() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for longest in (1, 2, 4, 8, 16, 32, 60, 60):
        assert longest / 2 <= fail(breaker) <= longest
        clock.now += 60
        assert breaker.retry_in == 0
    attempt = breaker.enter()
    assert attempt is not None
    breaker.succeeded(attempt)
    assert not breaker.is_open
    assert breaker.enter() is not None
    assert fail(breaker) <= 1


def test_waits_differ() -> None:
    assert len({fail(Breaker(Clock())) for _ in range(100)}) > 10


def test_one_call_at_a_time_tries_again() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker)
    clock.now += 1
    trying = breaker.enter()
    assert trying is not None
    assert breaker.enter() is None
    assert breaker.is_open
    breaker.succeeded(trying)
    assert breaker.enter() is not None


def test_a_try_that_never_ends_does_not_block_for_ever() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker)
    clock.now += 1
    assert breaker.enter() is not None
    assert breaker.enter() is None
    clock.now += 1
    assert breaker.enter() is not None


def test_of_calls_under_way_the_first_to_fail_counts() -> None:
    breaker = Breaker(Clock())
    attempts = [breaker.enter() for _ in range(10)]
    for attempt in attempts:
        assert attempt is not None
        breaker.failed(attempt)
    assert breaker.retry_in <= 1


def test_a_success_that_began_before_the_failure_does_not_undo_it() -> None:
    breaker = Breaker(Clock())
    slow = breaker.enter()
    assert slow is not None
    fail(breaker)
    breaker.succeeded(slow)
    assert breaker.is_open
