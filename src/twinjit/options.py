"""What a compiler's options may be, and what follows from them."""

from __future__ import annotations

import os

from twinjit.errors import ConfigError
from twinjit.pipeline import AUTO, CHOICE_VERSION, NAMED_PIPELINES
from twinjit.policy import Policy
from twinjit.settings import Settings
from twinjit.store.disk import DiskStore
from twinjit.target import Target

__all__ = ["check_options", "open_store", "pipeline_request"]


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
        raise ConfigError(f"target is {target!r}; give a twinjit.Target or None")
    if not isinstance(policy, Policy | None):
        raise ConfigError(f"policy is {policy!r}; give a twinjit.Policy or None")
    if confirm not in (None, "never", "always"):
        raise ConfigError(f"confirm is {confirm!r}; give 'never', 'always' or None")
    if not isinstance(settings, Settings | None):
        raise ConfigError(f"settings is {settings!r}; give a twinjit.Settings or None")


def open_store(cache: bool | str | os.PathLike[str] | None, settings: Settings) -> DiskStore | None:
    """Make the store that a compiler's `cache` names.

    Raises
    ------
    ConfigError
        If it names none.
    """
    if cache is True:
        return (
            DiskStore(settings.cache_dir, settings.cache_max_bytes) if settings.cache_dir else None
        )
    if cache is False or cache is None or cache == "off":
        return None
    if not isinstance(cache, (str, os.PathLike)) or not os.fspath(cache):
        raise ConfigError(
            f"cache is {cache!r}; give True, False (or None, or 'off'), or a directory"
        )
    return DiskStore(os.path.abspath(cache), settings.cache_max_bytes)


def pipeline_request(pipeline: str) -> list[tuple[str, str]]:
    """Name everything that decides which pipeline a program will get."""
    if pipeline == AUTO:
        texts = [(f"auto-{name}", each.text) for name, each in NAMED_PIPELINES.items()]
        return [("auto-choice", CHOICE_VERSION), *texts]
    named = NAMED_PIPELINES.get(pipeline)
    return [("pipeline", named.text if named else pipeline)]
