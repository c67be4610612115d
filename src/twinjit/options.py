"""What a compiler's options may be, and what follows from them."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from twinjit.errors import ConfigError, TargetError
from twinjit.forks import held_off
from twinjit.pipeline import AUTO, CHOICE_VERSION, NAMED_PIPELINES
from twinjit.policy import Policy
from twinjit.settings import Settings
from twinjit.settings_values import KINDS
from twinjit.store.account import Account
from twinjit.store.base import Backend
from twinjit.store.disk import DiskStore
from twinjit.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinjit.library import Libraries, Library
    from twinjit.store.shared import SharedStore
    from twinjit.trace import Tracer

__all__ = [
    "check_options",
    "check_priority",
    "check_switch",
    "choose_target",
    "choose_workers",
    "join_libraries",
    "open_libraries",
    "open_shared_store",
    "open_store",
    "open_tracer",
    "pipeline_request",
    "show_code",
]


def check_options(
    pipeline: object,
    opt_level: object,
    target: object,
    policy: object,
    confirm: object,
    settings: object,
) -> None:
    """Refuse what a compiler cannot use.

    Raises
    ------
    ConfigError
        Naming the option.
    """
    # By type, too: 2.0 and True equal integers, but would be other texts in the key.
    if type(opt_level) is not int or opt_level not in range(4):
        raise ConfigError(f"opt_level is {opt_level!r}; give 0, 1, 2 or 3")
    if not isinstance(pipeline, str):
        raise ConfigError(f"pipeline is {pipeline!r}; give a name or a pass pipeline's text")
    if not isinstance(target, Target | None):
        raise ConfigError(f"target is {target!r}; give a Target, as of Target.named(…), or None")
    if not isinstance(policy, Policy | None):
        raise ConfigError(f"policy is {policy!r}; give a Policy, as of Policy(…), or None")
    if confirm not in (None, "never", "always"):
        raise ConfigError(f"confirm is {confirm!r}; give 'never', 'always' or None")
    if not isinstance(settings, Settings | None):
        raise ConfigError(
            f"settings is {settings!r}; give Settings, as of Settings.load(…), or None"
        )


def check_priority(priority: object) -> None:
    """Refuse what is no priority.

    Raises
    ------
    ConfigError
        If it is not a whole number.
    """
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise ConfigError(f"priority is {priority!r}; give a whole number")


def check_switch(name: str, given: object) -> bool:
    """Take what is True or False.

    Raises
    ------
    ConfigError
        If it is neither.
    """
    if not isinstance(given, bool):
        raise ConfigError(f"{name} is {given!r}; give True or False")
    return given


def show_code(settings: Settings) -> None:
    """Have code shown to profilers and debuggers from now on, where settings say so."""
    if settings.perf == "off" and not settings.gdb:
        return
    with held_off():
        from twinjit.profilers import tell_profilers
    tell_profilers(settings)


def open_tracer(trace: str | os.PathLike[str] | None, settings: Settings) -> Tracer | None:
    """Begin the trace that a compiler's `trace`, or settings, name; None where neither does.

    Raises
    ------
    ConfigError
        If it is no path, or no file can be written there.
    """
    if trace is not None and not (isinstance(trace, (str, os.PathLike)) and os.fspath(trace)):
        raise ConfigError(f"trace is {trace!r}; give the path of a file, or None")
    path = trace or settings.trace
    if not path:
        return None
    with held_off():
        from twinjit.trace import open_trace
    return open_trace(path, "trace" if trace else _place(settings, "trace"))


def choose_target(settings: Settings) -> Target:
    """Make the target that settings name, and see that it runs here.

    Raises
    ------
    TargetError
        If it does not, or they name none. The message tells where that is said.
    """
    try:
        target = Target.named(settings.target)
        target.check_runs_here()
    except TargetError as error:
        place = _place(settings, "target")
        raise TargetError(f"{place} is {settings.target!r}: {error.message}") from None
    return target


def _place(settings: Settings, name: str) -> str:
    """Say for a message where a setting comes from."""
    source = settings.sources[name]
    if source in ("given", "default"):
        return f"the setting {name}"
    return f"{name} in {source}" if os.path.isabs(source) else source


def choose_workers(max_workers: int | None, settings: Settings) -> int:
    """Say how many programs are compiled at a time: as given, as set, or one for each core.

    Raises
    ------
    ConfigError
        If `max_workers` cannot be used.
    """
    KINDS["workers"].check("max_workers", max_workers)
    return max_workers or settings.workers or len(os.sched_getaffinity(0))


def open_store(cache: bool | str | os.PathLike[str] | None, settings: Settings) -> DiskStore | None:
    """Make the store that a compiler's `cache` names.

    Raises
    ------
    ConfigError
        If it names none.
    """
    if cache is True:
        return _open_directory(settings.cache_dir, settings) if settings.cache_dir else None
    if cache is False or cache is None or cache == "off":
        return None
    if not isinstance(cache, (str, os.PathLike)) or not os.fspath(cache):
        raise ConfigError(
            f"cache is {cache!r}; give True, False (or None, or 'off'), or a directory"
        )
    return _open_directory(os.path.abspath(cache), settings)


def _open_directory(directory: str, settings: Settings) -> DiskStore:
    return DiskStore(directory, settings.cache_max_bytes, settings.cache_max_age)


def open_shared_store(
    shared: bool | str | Backend | None, settings: Settings, local: DiskStore | None
) -> SharedStore | None:
    """Make the store that a compiler's `shared` names.

    Its events are counted in the account of the local store, if there is one.

    Raises
    ------
    ConfigError
        If it names none, or what its URL needs is not installed.
    """
    if shared is False or shared is None or (shared is True and not settings.shared_url):
        return None
    from twinjit.store.shared import (  # what few need costs none else
        SharedStore,
        count_nowhere,
        open_shared,
    )

    count = partial(_count_shared, local.account) if local else count_nowhere
    if shared is True:
        return open_shared(settings, count)
    if isinstance(shared, str):
        KINDS["shared_url"].check("shared", shared)
        return open_shared(replace(settings, shared_url=shared), count)
    if not all(callable(getattr(shared, name, None)) for name in ("get", "put", "remove")):
        raise ConfigError(f"shared is {shared!r}; give True, False (or None), a URL, or a Backend")
    return SharedStore(
        shared,
        secret=settings.shared_secret,
        max_entry_bytes=settings.shared_max_entry_bytes,
        count=count,
    )


def _count_shared(account: Account, event: str, times: int) -> None:
    account.add(f"shared-{event}", times)


def pipeline_request(pipeline: str) -> list[tuple[str, str]]:
    """Name everything that decides which pipeline a program will get."""
    if pipeline == AUTO:
        texts = [(f"auto-{name}", each.text) for name, each in NAMED_PIPELINES.items()]
        return [("auto-choice", CHOICE_VERSION), *texts]
    named = NAMED_PIPELINES.get(pipeline)
    return [("pipeline", named.text if named else pipeline)]


def join_libraries(libraries: Iterable[Library] | Library | None) -> Libraries | None:
    """Take the libraries that a user gave; None for none.

    Raises
    ------
    ConfigError
        If something else is among them.
    """
    if libraries is None:
        return None
    with held_off():  # what few need costs none else
        from twinjit.library import libraries_of
    return libraries_of(libraries)


def open_libraries(plain: list[dict[str, Any]] | None) -> Libraries | None:
    """Open what `Libraries.to_plain` was called on in another process; None stays None.

    Raises
    ------
    LibraryError
        If files are missing here, or are other ones.
    """
    if plain is None:
        return None
    with held_off():
        from twinjit.library import Libraries
    return Libraries.from_plain(plain)
