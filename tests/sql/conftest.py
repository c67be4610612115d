"""Fixtures that tests of queries share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sql.postgres_server import postgres_server


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    """What to connect to, for a PostgreSQL 15 that all tests of a process share."""
    with postgres_server() as address:
        yield address
