"""A PostgreSQL 15 of the tests' own, which does not outlive them.

As a program: runs a server, prints what to connect to, and ends with its standard input. So the
server ends also where the tests are killed, by whatever signal, also while it starts. Only where
this program is killed too, as by a name that both have, is the server left.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.sql.postgres import find_postgres, postgres

from tests.missing import skip_or_fail

__all__ = ["postgres_server"]

_ROOT = Path(__file__).parents[2]


@contextmanager
def postgres_server() -> Iterator[str]:
    """Give what to connect to; without the programs, skip the test, or fail it."""
    if find_postgres() is None:
        skip_or_fail("PostgreSQL 15 is not installed: no initdb and pg_ctl of that version")
    # In a session of its own, what ends the tests' group does not end it before the server.
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.sql.postgres_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        start_new_session=True,
    )
    assert keeper.stdin
    assert keeper.stdout
    try:
        address = keeper.stdout.readline().strip()
        if address:
            yield address
    finally:
        _, errors = keeper.communicate()  # which ends its input
    assert address, errors
    assert keeper.returncode == 0, errors


def _keep() -> None:
    with postgres() as address:
        print(address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _keep()
