"""Forks while another thread imports what a store needs late."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, threading
import twinjit
from twinjit.store.objects import FilesystemBackend
from twinjit.store.redis import RedisBackend

backend = {backend}
imported = threading.Event()

class Finder:
    def find_spec(self, name, path, target=None):
        if name.startswith({package!r}):
            imported.set()

sys.meta_path.insert(0, Finder())

def use():
    try:
        backend.get("name")
    except OSError:
        pass

thread = threading.Thread(target=use)
thread.start()
imported.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    use()
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(
    ("backend", "package"),
    [
        ("RedisBackend('redis://127.0.0.1:1/0')", "redis."),
        ("FilesystemBackend('memory://place')", "fsspec."),
    ],
)
def test_a_child_does_not_wait_for_an_import_of_its_parent(backend: str, package: str) -> None:
    script = SCRIPT.format(backend=backend, package=package)
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, timeout=100).returncode == 0
