"""Where a compiler's programs are read and compiled: what its `executor` says."""

from __future__ import annotations

from twinjit.build import BuildOptions
from twinjit.errors import ConfigError
from twinjit.forks import held_off
from twinjit.settings import Settings
from twinjit.subject import Builder, LocalBuilder

__all__ = ["make_builder"]


def make_builder(
    executor: object, options: BuildOptions, settings: Settings, max_workers: int
) -> Builder:
    """Make the builder that an `executor` names, of at most so many workers if these are ours.

    Where settings say so, it is one that checks what it builds.

    Raises
    ------
    ConfigError
        If it names none, or what it needs is not installed.
    """
    builder = _make_builder(executor, options, settings, max_workers)
    if not settings.check:
        return builder
    with held_off():
        from twinjit.checking import CheckingBuilder
    return CheckingBuilder(builder, options, settings.check_hits)


def _make_builder(
    executor: object, options: BuildOptions, settings: Settings, max_workers: int
) -> Builder:
    if executor is None or executor == "thread":
        return LocalBuilder(options)
    if executor == "process":
        with held_off():  # what few need costs none else
            from twinjit.workers.builder import WorkerBuilder
        return WorkerBuilder(options, settings, max_workers)
    if executor == "ray" or not isinstance(executor, str):
        with held_off():
            from twinjit.clusters import make_remote_builder
        builder = make_remote_builder(executor, options)
        if builder:
            return builder
    raise ConfigError(
        f"executor is {executor!r}; give 'thread' (or None), 'process', 'ray', a "
        "concurrent.futures.Executor, or a distributed.Client"
    )
