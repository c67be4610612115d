"""A PostgreSQL 15 of one's own, to compare with."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["find_postgres", "postgres"]

_DEBIAN = Path("/usr/lib/postgresql/15/bin")


def find_postgres() -> Path | None:
    """Give the folder with ``initdb`` and ``pg_ctl`` of PostgreSQL 15, if there is one."""
    found = shutil.which("pg_ctl")
    for folder in (_DEBIAN, Path(found).resolve().parent if found else _DEBIAN):
        control = folder / "pg_ctl"
        if not control.exists() or not (folder / "initdb").exists():
            continue
        version = subprocess.run([control, "--version"], capture_output=True, text=True, check=True)
        if " 15" in version.stdout:
            return folder
    return None


@contextmanager
def postgres(*settings: str) -> Iterator[str]:
    """Run a server in a temporary folder, on a socket alone; give what to connect to.

    Parameters
    ----------
    *settings
        Such as ``jit=on``.
    """
    programs = find_postgres()
    if programs is None:
        raise FileNotFoundError("there is no PostgreSQL 15; install Debian's postgresql-15")
    # It refuses to run as root. Sockets' paths are short.
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")
    if as_user:
        shutil.chown(folder, "postgres")
    data = f"{folder}/data"
    options = ["fsync=off", "jit=off", "listen_addresses=", f"unix_socket_directories={folder}"]
    arguments = " ".join(f"-c {each}" for each in (*options, *settings))
    control = [*as_user, programs / "pg_ctl", "-D", data, "-w"]

    def run(*command: object) -> None:
        subprocess.run([str(each) for each in command], check=True, cwd=folder, capture_output=True)

    try:
        run(
            *as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres",
            "-E", "UTF8", "--locale=C",
        )  # fmt: skip
        run(*control, "-l", f"{folder}/log", "-o", arguments, "start")
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
