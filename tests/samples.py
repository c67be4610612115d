"""Fixed values for tests that need an example rather than a property."""

from __future__ import annotations

import json
from random import Random

from blake3 import blake3

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


SAMPLE_TARGET = {
    "triple": "x86_64-unknown-linux-gnu",
    "cpu": "znver3",
    "features": "+avx2,-avx512f",
    "instruction_sets": ["avx2", "sse2"],
    "toolchain": {"libLLVM.so": "0123456789abcdef", "libMLIRPythonCAPI.so": "größer"},
}


def sample_artifact() -> Artifact:
    """Make the artifact in tests/golden."""
    return Artifact.build(
        key=SAMPLE_KEY,
        object_code=b"\x7fELF" + bytes(range(256)),
        signatures=[{"name": "main", "arguments": ["i64", "f32"], "result": "f32"}],
        report={"phases": {"lower": 0.5, "emit": 1.25}, "bytes": 260},
        target=SAMPLE_TARGET,
        extras={
            "notes": b"second extra",
            "debug": b"",
            "program": b"ML\xefR" + b"program " * 49152,
        },
    )


def numbered_artifact(number: int, size: int = 100) -> Artifact:
    """Make an artifact with its own key, whose code is `size` bytes that cannot be compressed."""
    return Artifact.build(
        key=Key((("number", str(number)),)),
        object_code=Random(number).randbytes(size),
        signatures=[],
        report={},
        target=SAMPLE_TARGET,
    )


def with_sections(
    artifact: Artifact, changes: dict[str, bytes | None], *, listed: bool = False
) -> Artifact:
    """Change sections, or remove those that become None; with `listed`, in the manifest too."""
    contents = {name: artifact.section(name) for name, _ in artifact.sections} | changes
    if listed:
        contents["manifest"] = json.dumps(
            {
                name: blake3(
                    bytes([len(name.encode())]) + name.encode() + bytes(content),
                    key=artifact.key_digest,
                ).hexdigest()
                for name, content in contents.items()
                if name not in ("key", "manifest") and content is not None
            }
        ).encode()
    kept = tuple((name, bytes(each)) for name, each in contents.items() if each is not None)
    return Artifact(artifact.key_digest, kept)
