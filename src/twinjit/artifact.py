"""What one compilation produces; entry.py has the file that it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blake3 import blake3

from twinjit.entry import NAME_LIMIT, Content, Sections, read_entry, write_entry
from twinjit.errors import ArtifactError, KeyPartError
from twinjit.key import Key, frame
from twinjit.lazily import lazily
from twinjit.packing import Packed

__all__ = ["Artifact", "decode", "encode"]

_REQUIRED = ("key", "manifest", "object", "signatures", "report", "target")
_TARGET_TEXTS = ("triple", "cpu", "features")


@dataclass(frozen=True)
class Artifact:
    """One compiled program: object code and what is known about it.

    An artifact is made by `build` or `decode`. Its sections are unpacked, compared with the
    manifest and parsed when they are asked for; `ArtifactError` is raised then if they are not what
    was built, or not in the form that entry.py says. Parsed values are shared: treat them as
    constants.

    Attributes
    ----------
    key_digest
        Digest of the key, 32 bytes.
    sections
        Pairs of name and content, all of the entry, in its order; unchecked.
    """

    key_digest: bytes
    sections: Sections

    @classmethod
    def build(
        cls,
        *,
        key: Key,
        object_code: bytes,
        signatures: Sequence[Mapping[str, Any]],
        report: Mapping[str, Any],
        target: Mapping[str, Any],
        extras: Mapping[str, bytes] | None = None,
    ) -> Artifact:
        """Make an artifact from its values.

        Parameters
        ----------
        key
            What the code was compiled from and how.
        object_code
            A relocatable object file.
        signatures
            One JSON-able object per callable function.
        report, target
            JSON-able objects, with the names that the grammar in entry.py tells. Keys that are not
            text come back as text.
        extras
            Further sections by name (1 to 255 bytes in UTF-8), kept in the order of their names.

        Raises
        ------
        ArtifactError
            If a value cannot be written as JSON (NaN and infinities included) or the name of an
            extra is empty, too long, or taken.
        """
        extras = extras or {}
        for name in extras:
            if name in _REQUIRED or not 0 < len(name.encode()) <= NAME_LIMIT:
                raise ArtifactError(f"{name!r} cannot be the name of an artifact's section")
        contents = {
            "object": bytes(object_code),
            "signatures": _dump("signatures", list(signatures)),
            "report": _dump("report", dict(report)),
            "target": _dump("target", dict(target)),
            **{name: bytes(extras[name]) for name in sorted(extras)},
        }
        manifest = {name: _bound(key.digest, name, contents[name]) for name in contents}
        framing = ("key", frame(key.parts))
        return cls(
            key.digest, (framing, ("manifest", _dump("manifest", manifest)), *contents.items())
        )

    @property
    def size(self) -> int:
        """Bytes that the sections take in memory as they are, compressed or not."""
        return sum(stored for stored, _ in self.sizes.values())

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Bytes of each section, by name: as it is stored, and as it is read."""
        return {
            name: (len(each.stored if isinstance(each, Packed) else each), len(each))
            for name, each in self.sections
        }

    @property
    def object_code(self) -> bytes | memoryview:
        """The object file; at a 16-byte boundary in memory if it comes from `decode`."""
        return self._required("object")

    @lazily
    def key(self) -> Key:
        """The key with all its parts."""
        try:
            key = Key.from_framing(bytes(self._required("key")))
        except KeyPartError as error:
            raise ArtifactError(f"the artifact's key cannot be read: {error}") from error
        if key.digest != self.key_digest:
            raise ArtifactError("the artifact's key is not the one it was stored under")
        return key

    @lazily
    def manifest(self) -> dict[str, Any]:
        """Digests of all sections but the key, by name, in hexadecimal."""
        manifest: dict[str, Any] = self._parse("manifest", dict)
        return manifest

    @lazily
    def signatures(self) -> list[dict[str, Any]]:
        """One object per callable function."""
        signatures: list[dict[str, Any]] = self._parse("signatures", list)
        if not all(isinstance(signature, dict) for signature in signatures):
            raise ArtifactError("the artifact's section 'signatures' holds a non-object")
        return signatures

    @lazily
    def report(self) -> dict[str, Any]:
        """How the compilation went."""
        report: dict[str, Any] = self._parse("report", dict)
        return report

    @lazily
    def target(self) -> dict[str, Any]:
        """What the code runs on, and under ``"toolchain"`` the builds of what made it."""
        target: dict[str, Any] = self._parse("target", dict)
        toolchain = target.get("toolchain")
        if not isinstance(toolchain, dict):
            raise ArtifactError("the artifact's target does not tell the toolchain")
        texts = [(name, target.get(name)) for name in _TARGET_TEXTS]
        for name, text in [*texts, *toolchain.items()]:
            if not isinstance(text, str):
                raise ArtifactError(f"the artifact's target has no text for {name!r}")
        return target

    def section(self, name: str) -> bytes | memoryview | None:
        """Return the content of a section; None where there is none.

        Raises
        ------
        ArtifactError
            If it is not the content that the artifact was built with.
        """
        content = self._contents.get(name)
        if isinstance(content, Packed):
            content = content.unpack()
        if content is None or name in ("key", "manifest"):  # which `decode` compared with the key
            return content
        if self.manifest.get(name) != _bound(self.key_digest, name, content):
            raise ArtifactError(f"the artifact's section {name!r} is not in its manifest")
        return content

    def check(self) -> None:
        """Make sure that every section is what was built, and those read here have their form.

        Raises
        ------
        ArtifactError
            If one is not.
        """
        for name, _ in self.sections:
            self.section(name)
        for read in ("key", "signatures", "report", "target"):
            getattr(self, read)

    @property
    def extras(self) -> dict[str, bytes]:
        """Copies of the further sections, by name."""
        names = [name for name, _ in self.sections if name not in _REQUIRED]
        return {name: bytes(self._required(name)) for name in names}

    @lazily
    def _contents(self) -> dict[str, Content]:
        return dict(self.sections)

    def _required(self, name: str) -> bytes | memoryview:
        content = self.section(name)
        if content is None:
            raise ArtifactError(f"the artifact has no section {name!r}")
        return content

    def _parse(self, name: str, kind: type) -> Any:
        try:
            value = json.loads(bytes(self._required(name)))
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"the artifact's section {name!r} is not JSON: {error}") from error
        if not isinstance(value, kind):
            raise ArtifactError(f"the artifact's section {name!r} is not a JSON {kind.__name__}")
        return value


def encode(artifact: Artifact) -> bytes:
    """Write an artifact as one entry.

    The same artifact always gives the same bytes with one version of zstd, and what `decode` read
    gives the bytes that it was read from.
    """
    return write_entry(artifact.key_digest, artifact.sections)


def decode(data: bytes) -> Artifact:
    """Read one entry, without a copy: the artifact's contents are views into `data`.

    What is compressed stays so until it is asked for, and sections are compared with the manifest
    when they are.

    Raises
    ------
    ArtifactVersionError
        If the entry is intact and of another version.
    ArtifactError
        If any bit of the entry is not as it was written, its key is not that of its digest, or a
        section is missing or not in its manifest.
    """
    artifact = Artifact(*read_entry(data))
    names = [name for name, _ in artifact.sections]
    if not set(_REQUIRED).issubset(names):
        raise ArtifactError(f"the artifact has the wrong sections: {', '.join(names)}")
    if blake3(artifact._required("key")).digest() != artifact.key_digest:
        raise ArtifactError("the artifact's key is not the one it was stored under")
    if {"key", "manifest", *artifact.manifest} != set(names):
        raise ArtifactError(f"the artifact's sections are not those that were written: {names}")
    return artifact


def _dump(name: str, value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtifactError(f"section {name!r} cannot be written as JSON: {error}") from error


def _bound(key_digest: bytes, name: str, content: bytes | memoryview) -> str:
    """Digest a section's content for the manifest."""
    raw_name = name.encode()
    hasher = blake3(bytes((len(raw_name),)) + raw_name, key=key_digest)
    return hasher.update(content).hexdigest()
