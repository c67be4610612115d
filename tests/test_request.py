"""Digests of requests: what is in them, and that nothing blurs."""

from __future__ import annotations

from twinjit.request import RequestHasher
from twinjit.source import SourceBytes


def test_options_and_program_both_count():
    digests = {
        RequestHasher(options).of_source(SourceBytes(data, "name"))
        for options in ([], [("a", "b")], [("a", "b"), ("c", "")], [("ab", "")])
        for data in (b"", b"x", b"\0x")
    }
    assert len(digests) == 12


def test_name_does_not_count():
    hasher = RequestHasher([("a", "b")])
    one, two = (hasher.of_source(SourceBytes(b"x", name)) for name in ("here", "there"))
    assert one == two


def test_text_is_never_taken_for_a_fingerprint():
    hasher = RequestHasher([])
    assert hasher.of_source(SourceBytes(b"\1" * 32, "")) != hasher.of_fingerprint(b"\1" * 32)


def test_golden():
    digest = RequestHasher([("opt-level", "3")]).of_source(SourceBytes(b"module {}", ""))
    assert digest.hex() == "2fc81d91746c892ab1d6574c812c96b82e79730301f93b15c133797bc9dcc323"
