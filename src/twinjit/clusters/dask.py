"""Dask clusters, through `distributed.Client`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from twinjit.clusters.job import run
from twinjit.clusters.remote import lost_by, wait_for
from twinjit.errors import ConfigError, ExecutorError
from twinjit.forks import held_off
from twinjit.stop import Stop

__all__ = ["Dask"]


class Dask:
    """Runs jobs on a Dask cluster; see `Cluster`.

    The scheduler knows equal jobs of all its clients by their key: they are one task, whose result
    all get. A task that nobody waits for any more is not begun; one that runs ends by its own time
    limit alone.

    Raises
    ------
    ConfigError
        If the client is asynchronous: compilations wait in threads.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise ConfigError(
                "executor is an asynchronous distributed.Client; give Client(…, "
                "asynchronous=False), and await what Compiler.submit returns"
            )
        with held_off():
            import distributed
        self._client = client
        self._cancelled = distributed.CancelledError

    def run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any]:
        """Run a job."""
        key = name or f"twinjit-{uuid4()}"
        try:
            # Only the scheduler's allowed-failures keep what ended its worker from the next.
            future = self._client.submit(run, job, key=key, retries=0)
        except Exception as error:
            raise lost_by("the Dask cluster", error) from error
        try:
            return self._wait(future, stop)
        finally:
            future.release()  # cancelling it would take it from others of this client, too

    def _wait(self, future: Any, stop: Stop) -> dict[str, Any]:
        # Not by result(timeout), which may cancel what it gathers and raise something else then.
        wait_for(future, stop)
        try:
            answer: dict[str, Any] = future.result()
            return answer
        except self._cancelled as error:
            raise ExecutorError(
                "the Dask cluster dropped the compilation: its client or scheduler was closed, or "
                "the task was cancelled"
            ) from error
        except Exception as error:
            raise lost_by("the Dask cluster", error) from error
