"""The Redis tier against servers that answer what no Redis would."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.samples import numbered_artifact
from twinjit.errors import CacheWarning
from twinjit.store.redis import RedisBackend
from twinjit.store.shared import SharedStore

ARTIFACT = numbered_artifact(1)
LIMIT = 1 << 20
TIMEOUT = 0.25

Send = Callable[[bytes], None]


def send_for_ever(chunk: bytes) -> Callable[[Send], None]:
    def behave(send: Send) -> None:
        while True:
            send(chunk)

    return behave


def after(first: bytes, behave: Callable[[Send], None]) -> Callable[[Send], None]:
    def both(send: Send) -> None:
        send(first)
        behave(send)

    return both


def drip(send: Send) -> None:
    while True:
        send(b"x")
        time.sleep(TIMEOUT / 3)


def only(answer: bytes) -> Callable[[Send], None]:
    return lambda send: send(answer)


BEHAVIOURS: dict[str, Callable[[Send], None]] = {
    "slow drip": after(b"$1000\r\n", drip),
    "endless bulk": after(b"$9999999999999\r\n", send_for_ever(b"x" * 65536)),
    "endless line": after(b"+", send_for_ever(b"x" * 65536)),
    "endless array": after(b"*1000000000\r\n", send_for_ever(b":1\r\n" * 9999)),
    "endless second answer": after(
        b"$1\r\nx\r\n:900\r\n$99999999999\r\n", send_for_ever(b"x" * 9999)
    ),
    "deep array": send_for_ever(b"*1\r\n" * 9999),
    "too long a number": only(b"$" + b"9" * 5000 + b"\r\n"),
    "no number": only(b"$abc\r\n"),
    "negative": only(b"$-7\r\n:1\r\n"),
    "numbers for bytes": only(b":1\r\n:1\r\n"),
    "bytes for numbers": only(b"$1\r\nx\r\n$1\r\nx\r\n"),
    "lists": only(b"*1\r\n:1\r\n*1\r\n:1\r\n"),
    "nothing there": only(b"$-1\r\n$-1\r\n"),
    "negative size": only(b"$1\r\nx\r\n:-5\r\n$1\r\nx\r\n"),
    "size that is too large for the rest": only(b"$1\r\nx\r\n:500\r\n$1\r\nx\r\n"),
    "error in no encoding": only(b"-ERR \xff\xfe\x1b[31m\r\n:1\r\n"),
    "cut short": only(b"$1000\r\nabc"),
    "silence": only(b""),
}


@contextmanager
def server(behave: Callable[[Send], None]) -> Iterator[str]:
    """Serve greetings as Redis does, and then as told."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection = listener.accept()[0]
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while b"twinjit:" not in (asked := connection.recv(65536)):
                if not asked:
                    return
                connection.sendall(b"+OK\r\n" * asked.count(b"SETINFO"))
            behave(connection.sendall)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


CALLS: dict[str, Callable[[SharedStore], object]] = {
    "get": lambda store: store.get(ARTIFACT.key_digest),
    "put": lambda store: store.put(ARTIFACT),
    "get_direct": lambda store: store.get_direct(ARTIFACT.key_digest),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.filterwarnings("ignore::twinjit.errors.CacheWarning")
def test_a_call_ends_soon_and_takes_little(behaviour: str, call: str) -> None:
    with server(BEHAVIOURS[behaviour]) as url:
        backend = RedisBackend(url, timeout=TIMEOUT, ttl=60, max_bytes=LIMIT)
        store = SharedStore(backend, max_entry_bytes=LIMIT)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.monotonic()
        assert not CALLS[call](store)
        assert time.monotonic() - start < 20 * TIMEOUT
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert taken << 10 < 64 << 20


def test_what_a_server_says_does_not_reach_the_terminal_as_it_is() -> None:
    with server(BEHAVIOURS["error in no encoding"]) as url:
        store = SharedStore(RedisBackend(url, timeout=TIMEOUT))
        with pytest.warns(CacheWarning) as told:
            store.get(ARTIFACT.key_digest)
        assert str(told[0].message).isprintable()
