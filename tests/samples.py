"""Fixed values for tests that need an example rather than a property."""

from __future__ import annotations

from twinjit.artifact import Artifact
from twinjit.key import Key

SAMPLE_KEY = Key(
    (
        ("fingerprint", bytes(range(32))),
        ("pipeline", "builtin.module(canonicalize)"),
        ("größe", "größer als ∅"),
        ("libraries", b""),
    )
)


def sample_artifact() -> Artifact:
    """Make the artifact in tests/golden."""
    return Artifact.build(
        key=SAMPLE_KEY,
        object_code=b"\x7fELF" + bytes(range(256)),
        signatures=[{"name": "main", "arguments": ["i64", "f32"], "result": "f32"}],
        report={"phases": {"lower": 0.5, "emit": 1.25}, "bytes": 260},
        target={"triple": "x86_64-unknown-linux-gnu", "cpu": "znver3"},
        extras={"notes": b"second extra", "debug": b""},
    )


def numbered_artifact(number: int, size: int = 100) -> Artifact:
    """Make an artifact with its own key, whose code is `size` bytes."""
    return Artifact.build(
        key=Key((("number", str(number)),)),
        object_code=bytes([number % 256]) * size,
        signatures=[],
        report={},
        target={},
    )
