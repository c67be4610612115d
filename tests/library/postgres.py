"""PostgreSQL's bitcode, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.missing import skip_or_fail
from twinjit import Library


def postgres_bitcode() -> Path:
    """Return the folder of the server's modules, or skip the test."""
    found = shutil.which("pg_config")
    if not found:
        skip_or_fail("PostgreSQL is not installed: pg_config is not in PATH")
    done = subprocess.run([found, "--pkglibdir"], check=True, capture_output=True, text=True)
    folder = Path(done.stdout.strip(), "bitcode", "postgres")
    if not folder.is_dir():
        skip_or_fail(f"PostgreSQL has no bitcode: {folder} is not there")
    return folder


def postgres_library() -> Library:
    """Open it as the server does, which defines all of it."""
    return Library.from_bitcode(postgres_bitcode(), provided=True)
