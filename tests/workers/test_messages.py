"""Messages arrive whole, or not at all."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Iterator

import pytest

from twinjit.workers.messages import BrokenMessage, Message, receive, send

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(False)
    yield ends
    for end in ends:
        end.close()


def waiting(channel: socket.socket):
    def wait(writing: bool) -> None:
        select.select([] if writing else [channel], [channel] if writing else [], [], 30)

    return wait


@pytest.mark.parametrize(
    "message",
    [
        Message({}, []),
        Message({"do": "build", "text": "ä\n\ud800"}, [b"", b"\0\1"]),
        Message({"large": True}, [bytes(range(256)) * 20_000, b"end"]),
    ],
)
def test_what_is_sent_arrives(pair: Pair, message: Message) -> None:
    ours, theirs = pair
    sender = threading.Thread(target=send, args=(ours, message, waiting(ours)))
    sender.start()
    assert receive(theirs, waiting(theirs)) == message
    sender.join()


def test_two_messages_do_not_mix(pair: Pair) -> None:
    ours, theirs = pair
    for number in range(2):
        send(ours, Message({"number": number}, [b"x" * number]), waiting(ours))
    for number in range(2):
        assert receive(theirs, waiting(theirs)) == Message({"number": number}, [b"x" * number])


def test_an_end_is_no_message(pair: Pair) -> None:
    ours, theirs = pair
    ours.send(b"\x10\0\0\0{")
    ours.close()
    assert receive(theirs, waiting(theirs)) is None


def framed(header: bytes) -> bytes:
    return len(header).to_bytes(4, "little") + header


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        framed(b"{"),
        framed(b"[]"),
        framed(b"{}"),
        framed(json.dumps({"sections": 3}).encode()),
        framed(json.dumps({"sections": ["3"]}).encode()),
        framed(json.dumps({"sections": [-1]}).encode()),
        framed(json.dumps({"sections": [1 << 40]}).encode()),
        framed(b"[" * 100_000),
    ],
)
def test_nonsense_is_refused(pair: Pair, data: bytes) -> None:
    ours, theirs = pair
    ours.send(data)
    with pytest.raises(BrokenMessage):
        receive(theirs, waiting(theirs))


def test_a_wait_can_end_it(pair: Pair) -> None:
    ours, _ = pair

    def wait(writing: bool) -> None:
        raise TimeoutError(writing)

    with pytest.raises(TimeoutError, match="False"):
        receive(ours, wait)
    with pytest.raises(TimeoutError, match="True"):
        send(ours, Message({}, [bytes(1 << 24)]), wait)
