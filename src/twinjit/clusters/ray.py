"""Ray clusters."""

from __future__ import annotations

from typing import Any

from twinjit.clusters.job import run
from twinjit.clusters.remote import LOOK_SECONDS, lost_by
from twinjit.errors import ConfigError, ExecutorError
from twinjit.forks import held_off
from twinjit.stop import Stop

__all__ = ["Ray"]

_NAMESPACE = "twinjit"
_ACTOR = "flights-1"  # a number of its own for each form that `_Flights` takes
_ATTEMPTS = 3


class _Flights:
    """Jobs under way by name, of all drivers of a cluster; an actor."""

    def __init__(self) -> None:
        import ray

        self._run = ray.remote(max_retries=0)(run)  # what ended a worker would end the next
        self._flights: dict[str, Any] = {}

    async def run(self, name: str, job: bytes) -> dict[str, Any]:
        """Run a job, or wait for the one of this name."""
        flight = self._flights.get(name)
        if flight is None:
            flight = self._flights[name] = self._run.remote(job)
        try:
            answer: dict[str, Any] = await flight
            return answer
        finally:
            if self._flights.get(name) is flight:
                del self._flights[name]


class Ray:
    """Runs jobs on the Ray cluster that this process is connected to; see `Cluster`.

    Ray does not know equal tasks, so that those with a name go through an actor of the cluster's,
    ``flights-1`` in the namespace ``twinjit``. It ends with the driver that made it; whoever waits
    then asks again. A job that runs ends by its own time limit alone.

    Raises
    ------
    ConfigError
        If Ray is not installed, or this process not connected to a cluster.
    """

    def __init__(self) -> None:
        try:
            with held_off():
                import ray
        except ImportError as error:
            raise ConfigError(
                "executor is 'ray', which is not installed; pip install 'twinjit[ray]'"
            ) from error
        if not ray.is_initialized():
            raise ConfigError(
                "executor is 'ray', and no cluster is connected; call ray.init() first"
            )
        self._ray = ray
        self._run = ray.remote(max_retries=0)(run)
        self._flights: Any = None  # threads that make it at once get the same actor

    def run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any]:
        """Run a job."""
        for _ in range(_ATTEMPTS):
            answer = self._try_to_run(name, job, stop)
            if answer is not None:
                return answer
        raise ExecutorError("the Ray cluster's actor for compilations ends again and again")

    def _try_to_run(self, name: str | None, job: bytes, stop: Stop) -> dict[str, Any] | None:
        """Return None where the actor ended meanwhile."""
        from ray.exceptions import ActorDiedError, ActorUnavailableError, RayError

        try:
            return self._wait(self._start(name, job), stop)
        except (ActorDiedError, ActorUnavailableError):
            self._flights = None
            return None
        except (RayError, ValueError, RuntimeError) as error:
            raise lost_by("the Ray cluster", error) from error

    def _start(self, name: str | None, job: bytes) -> Any:
        if name is None:
            return self._run.remote(job)
        flights = self._flights
        if flights is None:
            options = {"name": _ACTOR, "namespace": _NAMESPACE, "get_if_exists": True}
            actor = self._ray.remote(_Flights).options(**options, num_cpus=0, max_concurrency=1000)
            flights = self._flights = actor.remote()
        return flights.run.remote(name, job)

    def _wait(self, reference: Any, stop: Stop) -> dict[str, Any]:
        while not self._ray.wait([reference], timeout=LOOK_SECONDS)[0]:
            stop.check()
        answer: dict[str, Any] = self._ray.get(reference)
        return answer
