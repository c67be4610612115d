"""The format of the fingerprint, as native/ir/identity.cpp and program_writer.h describe it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blake3 import blake3

import twinjit
from tests.golden_fingerprints import BY_POLICY, DEFAULT, POLICIES, digests
from tests.live_programs import PROGRAMS
from twinjit import Policy
from twinjit._native import _mlir

VERSION = 2


def string(text: str) -> bytes:
    return number(len(text.encode())) + text.encode()


def number(value: int, size: int = 8) -> bytes:
    return value.to_bytes(size, "little")


def digest(*fields: bytes) -> bytes:
    return blake3(b"".join(fields)).digest()


def empty_module(policy: Policy, version: int = VERSION, domain: str = "") -> str:
    none = digest(b"\2", string("builtin.none"))
    name = digest(b"\1", string("builtin.string"), string("builtin.module"), none)
    nothing = digest(b"\1", string("builtin.dictionary"), number(0))
    sequence = [1, name, 2, nothing, 2, 0, 0, 0, 1, 1, 0, 0]
    header = string("twinjit.identity"), number(version), string(policy.text), string(domain)
    fields = (part if isinstance(part, bytes) else number(part, 4) for part in sequence)
    return digest(*header, *fields).hex()


def test_written_out() -> None:
    assert twinjit.fingerprint("module {}") == empty_module(Policy())
    assert twinjit.fingerprint("module {}") != empty_module(Policy(), version=VERSION - 1)
    domain = _mlir.fingerprint(_mlir.parse(b"module {}", "t"), Policy().text, "other build").hex()
    assert domain == empty_module(Policy(), domain="other build")
    assert domain != empty_module(Policy())


def test_policy_is_in_every_fingerprint() -> None:
    policies = [Policy(), *POLICIES]
    for path in PROGRAMS:
        program = path.read_text()
        found = {twinjit.fingerprint(program, each, allow_unregistered=True) for each in policies}
        assert len(found) == len(policies)


def golden(path: Path) -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads(path.read_text())
    return loaded


def test_golden_by_default() -> None:
    assert digests(Policy()) == golden(DEFAULT)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.text)
def test_golden_by_policy(policy: Policy) -> None:
    assert digests(policy) == golden(BY_POLICY)[policy.text]
