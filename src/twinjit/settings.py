"""Settings that come from code, the environment and a file.

No other module reads the environment. A file is never looked for in the current directory: who can
write settings can make this process run code, and the directory may hold other people's files.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from twinjit.errors import CacheWarning, ConfigError
from twinjit.settings_values import (
    KINDS,
    OTHER_NAMES,
    SWITCH,
    is_none,
    parse_duration,
    parse_size,
    place_of_url,
)

__all__ = ["Confirm", "Perf", "Settings", "environment_of_workers", "parse_duration", "parse_size"]

Confirm = Literal["never", "always"]
"""Whether hits are compared in full with the program that the code was compiled from."""

Perf = Literal["off", "map", "dump"]
"""How ``perf`` is told of compiled code: not at all, by names, or by names and code."""

_MIB = 1024**2
_DAY = 86400.0
_PREFIX = "TWINJIT_"
_FILE_VARIABLE = f"{_PREFIX}SETTINGS"
_PATHS = ("cache_dir", "crash_dir", "shared_secret_file", "trace")

# What would run code of the user's in a process of ours, or lead to another Python's modules.
_NOT_FOR_WORKERS = ("PYTHON", "COVERAGE_", "COV_CORE_")


@dataclass(frozen=True)
class Settings:
    """Defaults of a process.

    `load` looks for the user's. Made directly, settings are those given and the defaults below:
    without `cache_dir`, there is no disk store.

    Attributes
    ----------
    cache_dir
        Absolute path of the disk store; None for no disk store.
    cache_max_bytes
        Bound of the disk store in bytes; 0 keeps nothing.
    cache_max_age
        Seconds after its last use from which on an entry of the disk store is a miss; None for
        no limit.
    memory_max_bytes
        Bound of the executables held in memory, in bytes; 0 keeps nothing.
    confirm
        Whether hits are confirmed, ``"never"`` or ``"always"``; see `Compiler`.
    wait_seconds
        How long to wait at most for another process that compiles the same program.
    shared_url
        Where the store that machines share is; None for none. Not shown by ``repr``, as it may
        hold a password.
    shared_timeout
        Seconds after which an operation on it has failed.
    shared_ttl
        Seconds after its last use for which it shall keep an entry; None for as long as it likes.
        Only Redis can be told; see ``docs/cache.md`` for the others.
    shared_max_entry_bytes
        Size above which an entry is not sent there, nor taken from there.
    shared_secret
        With which its entries are signed, and must be, at least 16 bytes; None for unsigned
        entries. Not shown by ``repr``.
    target
        What code is made for: ``"host"``, or a level such as ``"x86-64-v3"``.
    perf
        How ``perf`` is told of the code that this process loads: ``"off"``, ``"map"`` for names in
        ``/tmp/perf-PID.map``, or ``"dump"`` for names and code in a file that ``perf inject --jit``
        reads. A compiler with these settings turns it on for the whole process, for good.
    gdb
        Whether debuggers are told, in the same way.
    trace
        Absolute path of the file that compilers write a trace to, with ``%p`` for the number of the
        process; None for none.
    workers
        How many programs that were submitted a compiler compiles at a time, and how many isolated
        workers it starts at most; None for as many as there are cores that this process may use.
    compile_timeout
        Seconds that an isolated worker may take over one program; None for no limit.
    worker_memory_bytes
        Bytes of memory that an isolated worker may map for one program; None for no limit.
    crash_dir
        Absolute path of the folder in which reproducers of crashes are saved, with the programs in
        them; None to save none.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of range.
    """

    cache_dir: str | None = None
    cache_max_bytes: int = 1024 * _MIB
    cache_max_age: float | None = None
    memory_max_bytes: int = 256 * _MIB
    confirm: Confirm = "never"
    wait_seconds: float = 60.0
    shared_url: str | None = field(default=None, repr=False)
    shared_timeout: float = 0.5
    shared_ttl: float | None = 30 * _DAY
    shared_max_entry_bytes: int = 64 * _MIB
    shared_secret: bytes | None = field(default=None, repr=False)
    target: str = "host"
    perf: Perf = "off"
    gdb: bool = False
    trace: str | None = None
    workers: int | None = None
    compile_timeout: float | None = None
    worker_memory_bytes: int | None = 4096 * _MIB
    crash_dir: str | None = None

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            kind.check(name, getattr(self, name))

    @property
    def sources(self) -> dict[str, str]:
        """Where each value comes from, by name.

        ``"given"`` is code, ``"default"`` nothing; else it is the name of a variable, or the path
        of a settings file. Of settings that were not loaded, what differs from the default was
        given. It takes no part in equality, and `dataclasses.replace` does not keep it.
        """
        loaded: Mapping[str, str] = self.__dict__.get("_loaded_from", {})
        return {
            each.name: loaded.get(each.name)
            or ("default" if getattr(self, each.name) == each.default else "given")
            for each in fields(self)
        }

    @property
    def shared_place(self) -> str | None:
        """`shared_url` for people: without user, password and parameters."""
        return None if self.shared_url is None else place_of_url(self.shared_url)

    @staticmethod
    def file_path(environment: Mapping[str, str] | None = None) -> str | None:
        """Say which file `load` would read, or look for; None for none.

        ``TWINJIT_SETTINGS`` names it, or is ``off`` for none. Otherwise it is
        ``$XDG_CONFIG_HOME/twinjit/settings.toml``, else ``~/.config/twinjit/settings.toml``, and
        need not be there.

        Raises
        ------
        ConfigError
            If the variable is a relative path.
        """
        env = os.environ if environment is None else environment
        named = env.get(_FILE_VARIABLE)
        if not named:
            base = _base(env, "XDG_CONFIG_HOME", ".config")
            return base and os.path.join(base, "twinjit", "settings.toml")
        if named.lower() == "off":
            return None
        path = _expand(named, env)
        if not os.path.isabs(path):
            raise ConfigError(f"{_FILE_VARIABLE} is {named!r}; give an absolute path, or 'off'")
        return path

    @staticmethod
    def jit_dump_base(environment: Mapping[str, str] | None = None) -> str:
        """Say below which folder ``perf="dump"`` makes its files, whether or not it is there.

        ``$JITDUMPDIR``, else the user's home, as for other compilers that make such files.
        """
        env = os.environ if environment is None else environment
        return os.path.abspath(env.get("JITDUMPDIR") or _home(env))

    @staticmethod
    def unknown_variables(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Name the variables that begin with ``TWINJIT_`` and that `load` does not know, sorted."""
        env = os.environ if environment is None else environment
        names = (*KINDS, *OTHER_NAMES.values())
        known = {_FILE_VARIABLE, *(f"{_PREFIX}{name.upper()}" for name in names)}
        return tuple(sorted(name for name in set(env) - known if name.startswith(_PREFIX)))

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Put together the settings of this process.

        Of each, the first counts that there is: what is given here; the variable ``TWINJIT_`` and
        its name in capitals, unless that is empty; what the file at `file_path` says; the default.
        ``docs/settings.md`` says how values are written. Without any of these, `cache_dir` is
        ``$XDG_CACHE_HOME/twinjit``, else ``~/.cache/twinjit``, and `crash_dir` is
        ``$XDG_STATE_HOME/twinjit/crashes``, else ``~/.local/state/twinjit/crashes``. What is not
        used is not checked.

        Parameters
        ----------
        environment
            Where to look instead of ``os.environ``.
        given
            Values of attributes.

        Raises
        ------
        ConfigError
            If a value cannot be used, a setting is unknown, or a file cannot be read or could have
            been written by others. The message names the place.

        Warns
        -----
        CacheWarning
            If nothing names a directory and the user has no home; there is no disk store then.
        """
        env = os.environ if environment is None else environment
        for name in given:
            if name not in KINDS:
                from twinjit.settings_file import check_known

                check_known(name, tuple(KINDS), "Settings.load was given")
        found = _find(env, given)
        values = {name: KINDS[name].read(each.label, each.value) for name, each in found.items()}
        settings = cls(**given, **values)  # type: ignore[arg-type]  # `read` has checked them
        sources = {name: each.source for name, each in found.items()}
        sources.update(dict.fromkeys(given, "given"))
        object.__setattr__(settings, "_loaded_from", sources)
        return settings


def environment_of_workers() -> dict[str, str]:
    """Give the environment for processes that compile, without what would make Python run more."""
    return {key: text for key, text in os.environ.items() if not key.startswith(_NOT_FOR_WORKERS)}


class _Found(NamedTuple):
    """What the environment or a file says of a setting."""

    value: Any
    source: str
    label: str  # what messages call it
    in_file: bool = False  # the environment counts before a file


def _find(env: Mapping[str, str], given: Mapping[str, object]) -> dict[str, _Found]:
    """Look up the settings that are not given."""
    names = [name for name in (*KINDS, *OTHER_NAMES.values()) if name not in given]
    for name, other in OTHER_NAMES.items():
        if name in given:
            names.remove(other)
    found = _read_file(env, names) | _read_environment(env, names)
    switch, secret_file = found.pop("cache", None), found.pop("shared_secret_file", None)
    if "cache_dir" not in given:
        found["cache_dir"] = _choose_directory(switch, found.get("cache_dir"), env)
    if "crash_dir" not in {**given, **found}:
        found["crash_dir"] = _default_crash_directory(env)
    if secret_file is not None:
        found["shared_secret"] = _choose_secret(secret_file, found.get("shared_secret"))
    return found


def _read_environment(env: Mapping[str, str], names: list[str]) -> dict[str, _Found]:
    found = {}
    for name in names:
        variable = f"{_PREFIX}{name.upper()}"
        if value := env.get(variable):
            if name in _PATHS and not is_none(value):
                value = os.path.abspath(_expand(value, env))
            found[name] = _Found(value, variable, variable)
    return found


def _read_file(env: Mapping[str, str], names: list[str]) -> dict[str, _Found]:
    path = Settings.file_path(env)
    if path is None or not (env.get(_FILE_VARIABLE) or _is_there(path)):
        return {}
    from twinjit.settings_file import read_settings

    found = {}
    values = read_settings(path)
    for name in set(names) & set(values):
        value = values[name]
        if name in _PATHS and isinstance(value, str) and not is_none(value):
            value = _expand(value, env)
        found[name] = _Found(value, path, f"{name} in {path}", in_file=True)
    return found


def _choose_directory(
    switch: _Found | None, named: _Found | None, env: Mapping[str, str]
) -> _Found:
    """Settle the disk store's directory, which a switch may rule out."""
    off = switch if switch is not None and not _read_switch(switch) else None
    if off is not None and (named is None or named.in_file or not off.in_file):
        return off._replace(value=None)
    return named or _default_directory(env)


def _choose_secret(file: _Found, secret: _Found | None) -> _Found:
    """Settle the secret, of which the environment or a file says in which file it is."""
    if secret is not None and secret.in_file == file.in_file:
        raise ConfigError(f"{file.label} is set, and so is {secret.label}; unset one of them")
    if secret is not None and file.in_file:
        return secret
    from twinjit.settings_file import read_secret

    return file._replace(value=read_secret(file.label, file.value))


def _read_switch(switch: _Found) -> bool:
    value = switch.value
    if isinstance(value, bool):
        return value
    try:
        return SWITCH[value.strip().lower()]
    except (AttributeError, KeyError):
        raise ConfigError(
            f"{switch.label} is {value!r}; set it to 'on' or 'off', or unset it"
        ) from None


def _default_directory(env: Mapping[str, str]) -> _Found:
    base = _base(env, "XDG_CACHE_HOME", ".cache")
    if base is None:
        warnings.warn(
            "Twinjit has no disk cache: there is no home directory to put it in. Set "
            "TWINJIT_CACHE_DIR to a directory, or TWINJIT_CACHE=off.",
            CacheWarning,
            stacklevel=5,
        )
        return _Found(None, "default", "cache_dir")
    return _in_base(base, "XDG_CACHE_HOME", "twinjit", env)


def _default_crash_directory(env: Mapping[str, str]) -> _Found:
    base = _base(env, "XDG_STATE_HOME", os.path.join(".local", "state"))
    if base is None:
        return _Found(None, "default", "crash_dir")
    return _in_base(base, "XDG_STATE_HOME", os.path.join("twinjit", "crashes"), env)


def _in_base(base: str, variable: str, folder: str, env: Mapping[str, str]) -> _Found:
    source = variable if base == env.get(variable) else "default"
    return _Found(os.path.join(base, folder), source, source)


def _base(env: Mapping[str, str], variable: str, folder: str) -> str | None:
    """Find a folder of the XDG specification, which has relative paths ignored."""
    for base in (env.get(variable, ""), os.path.join(_home(env), folder)):
        if os.path.isabs(base):
            return base
    return None


def _home(env: Mapping[str, str]) -> str:
    return env.get("HOME") or os.path.expanduser("~")


def _expand(path: str, env: Mapping[str, str]) -> str:
    first, slash, rest = path.partition("/")
    return _home(env) + slash + rest if first == "~" else os.path.expanduser(path)


def _is_there(path: str) -> bool:
    """Whether to read a file; what cannot be told is to be told when it is read."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True
