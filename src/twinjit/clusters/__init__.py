"""Compiling elsewhere: on executors of the standard library's kind, on Dask and on Ray."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from twinjit.build import BuildOptions
from twinjit.clusters.remote import Cluster, RemoteBuilder

__all__ = ["make_remote_builder"]


def make_remote_builder(executor: Any, options: BuildOptions) -> RemoteBuilder | None:
    """Make the builder for an engine; None for what is none.

    Raises
    ------
    ConfigError
        If an engine is not installed, or not in a state to use it.
    """
    cluster = _cluster_of(executor)
    return None if cluster is None else RemoteBuilder(options, cluster)


def _cluster_of(executor: Any) -> Cluster | None:
    if executor == "ray":
        from twinjit.clusters.ray import Ray

        return Ray()
    if isinstance(executor, Executor):
        from twinjit.clusters.pool import Pool

        return Pool(executor)
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(executor).__mro__}
    if "distributed.client.Client" in names:
        from twinjit.clusters.dask import Dask

        return Dask(executor)
    return None
