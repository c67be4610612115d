"""Entries in object stores and directories, through fsspec."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from twinjit.errors import ArtifactError, ConfigError, EntryTooLargeError
from twinjit.forks import held_off
from twinjit.settings_values import place_of_url
from twinjit.store.addresses import split_address
from twinjit.store.publish import STALE_SECONDS, publish, sweep

__all__ = ["SCHEMES", "FilesystemBackend"]

# The package that each kind of address needs beside fsspec.
_PACKAGES = {
    "file": None,
    "memory": None,
    "s3": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
}

SCHEMES = tuple(_PACKAGES)


class FilesystemBackend:
    """Entries as files or objects that fsspec reaches. See `twinjit.store.base.Backend`.

    fsspec's packages take credentials and endpoints from where they usually do. They have time
    limits of their own, or none; see `twinjit.store.deadline`.

    Nothing is ever forgotten here: let a bucket's lifecycle rules delete old objects. In a
    directory, `find PATH -type f -atime +30 -delete` does. The process's umask says who else may
    read the files there; only the remains of killed writers are removed, by later ones.

    Parameters
    ----------
    url
        ``s3://bucket/path``, ``gs://…``, ``az://…``, ``file:///path`` for a directory on a file
        system that machines share, or ``memory://path`` for this process alone.
    max_bytes
        Size above which `get` does not fetch a file; None for no limit.

    Raises
    ------
    ConfigError
        If the address cannot be used, or a package is not installed.
    """

    def __init__(self, url: str, *, max_bytes: int | None = None) -> None:
        parts = split_address(url)
        self._scheme = parts.scheme
        self._url = place_of_url(url)
        if not (parts.netloc or parts.path.strip("/")) or parts.query:
            raise ConfigError(
                f"the shared cache's address, {self._url}, is not a place for files; write "
                "s3://bucket/path or file:///path, without options other than read-only"
            )
        if self._scheme == "file" and parts.netloc:
            raise ConfigError(
                f"the shared cache's address, {self._url}, names a host; write file:///path"
            )
        for package in ("fsspec", _PACKAGES[self._scheme]):
            if package and find_spec(package) is None:
                raise ConfigError(
                    f"the shared cache at {self._url} needs the package {package}; "
                    f"install twinjit[fsspec]{'' if package == 'fsspec' else f' and {package}'}"
                )
        self._address = url.rstrip("/")
        self._max_bytes = max_bytes
        # The two below have no lock: at worst, two threads look, or open, at once.
        self._swept = False  # whether remains of killed writers were looked for
        # What fsspec made of the address, and in which process: most cannot be used after a fork.
        # It is kept because fsspec keeps one for each thread, and a deadline makes many threads.
        self._opened: tuple[int, Any, str] = (0, None, "")

    @property
    def url(self) -> str:
        """The address without user and password."""
        return self._url

    def load_packages(self) -> None:
        """Import what calls need. Raises whatever importing raises."""
        for package in ("fsspec", _PACKAGES[self._scheme]):
            if package:
                import_module(package)

    def get(self, name: str) -> bytes | None:
        """Read a file.

        Raises
        ------
        EntryTooLargeError
            If it is too large.
        ArtifactError
            If it is not a file.
        Exception
            If it cannot be read for other reasons.
        """
        filesystem, root = self._open()
        path = f"{root}/{name}"
        try:
            # A local file's reader makes room for all it is asked for, so its size is looked at. It
            # may lie: a link to /dev/zero has none.
            size = filesystem.size(path) if self._scheme == "file" else self._max_bytes
            self._check_size(name, size or 0)
            end = None if size is None else size + 1
            data: bytes = filesystem.cat_file(path, start=0, end=end)
        except FileNotFoundError:
            return None
        except IsADirectoryError as error:
            raise ArtifactError(f"{self._url}/{name} is a directory") from error
        self._check_size(name, len(data))
        return data

    def put(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all. Raises whatever says that it cannot be written."""
        filesystem, root = self._open()
        path = f"{root}/{name}"
        if self._scheme != "file":  # object stores show an object when all of it is there
            filesystem.pipe_file(path, data)
            return
        staging = f"{root}/staging"
        filesystem.makedirs(staging, exist_ok=True)
        filesystem.makedirs(os.path.dirname(path), exist_ok=True)
        if not self._swept:
            self._swept = True
            with suppress(OSError):  # not ours to list
                sweep(staging, STALE_SECONDS)  # locks of other machines are not seen everywhere
        publish(data, path, staging, private=False)

    def remove(self, name: str) -> None:
        """Delete a file. Raises whatever says that it cannot be deleted."""
        filesystem, root = self._open()
        with suppress(FileNotFoundError):
            filesystem.rm_file(f"{root}/{name}")

    def _check_size(self, name: str, size: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes:
            raise EntryTooLargeError(f"{self._url}/{name} has more than {self._max_bytes} bytes")

    def _open(self) -> tuple[Any, str]:
        pid, filesystem, root = self._opened
        if pid != os.getpid():
            with held_off():  # the package of the scheme is imported, too
                import fsspec

                filesystem, root = fsspec.url_to_fs(self._address)
            self._opened = (os.getpid(), filesystem, root)
        return filesystem, root
