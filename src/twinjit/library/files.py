"""Where the bitcode of a library is, and how that travels to other processes."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from twinjit._native import _llvm
from twinjit.errors import ConfigError, LibraryError

__all__ = ["INDEX_ENDING", "Bitcode", "LibraryFiles"]

INDEX_ENDING = ".index.bc"
"""End of the name of a ThinLTO summary index, which lies beside the folder of its modules."""

Bitcode = str | os.PathLike[str] | bytes

_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


@dataclass(frozen=True)
class LibraryFiles:
    """The bitcode that a library was opened from.

    Attributes
    ----------
    items
        Absolute paths of files, and bitcode or LLVM IR as bytes, in the order of search.
    index
        Path of the summary index that names the files; None without one.
    """

    items: tuple[str | bytes, ...]
    index: str | None = None

    @classmethod
    def find(cls, given: Bitcode | Iterable[Bitcode]) -> LibraryFiles:
        """Find the files that a user means: one, some, a folder's, or those of an index.

        Raises
        ------
        LibraryError
            If a folder has none.
        ConfigError
            If something else is meant, or text where a path is expected.
        OSError
            If a folder or an index cannot be read.
        """
        if isinstance(given, (str, os.PathLike)):
            path = os.path.abspath(_path_of(given))
            index = path if path.endswith(INDEX_ENDING) else path + INDEX_ENDING
            if index == path or (os.path.isdir(path) and os.path.isfile(index)):
                return cls(tuple(_of_index(index)), index)
            return cls(tuple(_expand(path)))
        several = list(given) if _is_listed(given) else [given]
        return cls(tuple(item for each in several for item in _expand(each)))

    def read(self) -> tuple[_llvm.BitcodeFiles, bytes | None]:
        """Read all files, and the index if there is one.

        Raises
        ------
        LibraryError, ParseError
            If one is neither bitcode nor LLVM IR.
        OSError
            If one cannot be read.
        """
        files = _llvm.BitcodeFiles()
        folder = os.path.dirname(self.index) + os.sep if self.index else ""
        for number, item in enumerate(self.items):
            if isinstance(item, bytes):
                files.add(f"<bitcode {number}>", _as_bitcode(item, "<library>"))
                continue
            with open(item, "rb", buffering=0) as file:
                data = _as_bitcode(file.readall(), item)
            files.add(item.removeprefix(folder), data)
        return files, Path(self.index).read_bytes() if self.index else None

    def to_plain(self) -> dict[str, Any]:
        """Give what JSON can hold: paths as they are, bytes in base64."""
        items = [
            {"bytes": b64encode(item).decode()} if isinstance(item, bytes) else {"path": item}
            for item in self.items
        ]
        return {"items": items, "index": self.index}

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> LibraryFiles:
        """Make what `to_plain` was called on."""
        items = (
            b64decode(item["bytes"]) if "bytes" in item else item["path"] for item in data["items"]
        )
        return cls(tuple(items), data["index"])


def _is_listed(given: object) -> TypeGuard[Iterable[Bitcode]]:
    return isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray, memoryview))


def _expand(given: object) -> Iterator[str | bytes]:
    if isinstance(given, bytes):
        yield given
        return
    path = os.path.abspath(_path_of(given))
    if not os.path.isdir(path):
        yield path
        return
    found = sorted(
        str(each) for each in Path(path).rglob("*.bc") if not each.name.endswith(INDEX_ENDING)
    )
    if not found:
        raise LibraryError(f"the folder {path} has no bitcode; give one with files that end in .bc")
    yield from found


def _path_of(given: object) -> str | os.PathLike[str]:
    if not isinstance(given, (str, os.PathLike)):
        raise ConfigError(f"a library cannot be opened from {given!r:.200}; give paths or bytes")
    if isinstance(given, str) and ("{" in given or "\n" in given) and not os.path.exists(given):
        raise ConfigError(
            f"a library is to be opened from {given!r:.200}, which is no path; give a program's "
            "text as bytes: text.encode()"
        )
    return given


def _of_index(index: str) -> Iterator[str]:
    folder = os.path.dirname(index)
    for name in _llvm.summarised_modules(Path(index).read_bytes()):
        yield os.path.normpath(os.path.join(folder, name))


def _as_bitcode(data: bytes, name: str) -> bytes:
    """Take LLVM IR as text, too."""
    return data if data.startswith(_MAGIC) else _llvm.parse_module(data, name).bitcode()
