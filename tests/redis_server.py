"""A Redis server of the tests' own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.missing import skip_or_fail

START_SECONDS = 60


class RedisServer:
    """A server that keeps nothing on disk, on a Unix socket and, if wanted, a port."""

    def __init__(self, folder: Path, program: str) -> None:
        self._program = program
        self._folder = folder
        self.socket = folder / "redis.sock"
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def admin(self) -> redis.Redis:
        """A client with all rights and patience."""
        return redis.Redis(unix_socket_path=str(self.socket), socket_timeout=START_SECONDS)

    def start(self) -> None:
        command = [self._program, "--port", str(self.port), "--unixsocket", str(self.socket)]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._folder)]
        command += ["--bind", "127.0.0.1"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise AssertionError((self._folder / "log").read_text())
            time.sleep(0.01)

    def _answers(self) -> bool:
        try:
            with self.admin as admin:
                return bool(admin.ping())
        except redis.ConnectionError:
            return False

    def listen_on_a_port(self) -> None:
        """Start again, on a free port too."""
        self.kill()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def kill(self) -> None:
        """End it as a crash does: what it held is lost."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self.socket.unlink(missing_ok=True)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Keep it from running, while its sockets take what is sent."""
        assert self._process
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """Run a server for a test; without the program, skip or fail it."""
    program = shutil.which("redis-server")
    if program is None:
        text = "there is no redis-server on this machine"
        skip_or_fail(text)
    # Not pytest's folder, whose name may be too long for a socket.
    with tempfile.TemporaryDirectory(prefix="twinjit-") as folder:
        server = RedisServer(Path(folder), program)
        try:
            server.start()
            yield server
        finally:
            server.kill()
