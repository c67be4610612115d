"""The server that tests compare with ends with them, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
END_SECONDS = 60

USING = """
from tests.sql.postgres_server import postgres_server
with postgres_server() as address:
    print(address, flush=True)
    input()
"""


def folder_of(address: str) -> Path:
    (folder,) = (part[5:] for part in address.split() if part.startswith("host="))
    return Path(folder)


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_it_answers_as_it_should(postgres_address: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    shown = ["server_version", "server_encoding", "lc_collate", "fsync", "jit", "listen_addresses"]
    with psycopg.connect(postgres_address) as connection:
        found = [connection.execute(f"show {name}").fetchone()[0] for name in shown]
    assert found[0].startswith("15.")
    assert found[1:] == ["UTF8", "C", "off", "off", ""]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
def test_it_ends_with_the_tests(postgres_address: str, end: signal.Signals | None) -> None:
    using = subprocess.Popen(
        [sys.executable, "-c", USING],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert using.stdout
    folder = folder_of(using.stdout.readline())
    assert folder != folder_of(postgres_address)
    server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    assert is_running(server)
    if end is not None:
        os.killpg(using.pid, end)  # as whoever ends the tests' group does
    using.communicate("\n" if end is None else None)
    deadline = time.monotonic() + END_SECONDS
    while folder.exists() or is_running(server):
        assert time.monotonic() < deadline, "the server outlives the tests"
        time.sleep(0.02)
