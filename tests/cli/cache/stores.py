"""Numbered entries in the cache's directory."""

from __future__ import annotations

from tests.samples import numbered_artifact
from tests.store.entries import entry_path


def digest(number):
    return numbered_artifact(number).key_digest


def path_of(root, number):
    return entry_path(root, digest(number))


def damage(root, number):
    path = path_of(root, number)
    path.write_bytes(path.read_bytes()[:-1])
    return path
