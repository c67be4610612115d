from __future__ import annotations

import ast
import copy
import dataclasses
import math
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import twinjit
from twinjit.errors import CacheWarning, ConfigError, TargetError, TwinjitError
from twinjit.settings import Settings
from twinjit.settings_values import KINDS

PACKAGE = Path(__file__).parent.parent / "src" / "twinjit"
HOME = {"HOME": "/home/ada"}
IN_HOME = {
    "cache_dir": "/home/ada/.cache/twinjit",
    "crash_dir": "/home/ada/.local/state/twinjit/crashes",
}
BOTTOM = (
    "artifact.py",
    "entry.py",
    "packing.py",
    "settings.py",
    "settings_values.py",
    "errors.py",
    "key.py",
)


def test_defaults() -> None:
    settings = Settings.load(HOME)
    assert settings == Settings(**IN_HOME)
    assert (settings.cache_max_bytes, settings.memory_max_bytes) == (1024**3, 256 * 1024**2)


@pytest.mark.parametrize(
    ("variables", "directory"),
    [
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/twinjit"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/ada/.cache/twinjit"),
        ({"XDG_CACHE_HOME": ""}, "/home/ada/.cache/twinjit"),
        ({"XDG_CACHE_HOME": "/xdg", "TWINJIT_CACHE_DIR": "/named"}, "/named"),
        ({"TWINJIT_CACHE_DIR": "/a/../b/"}, "/b"),
        ({"TWINJIT_CACHE_DIR": ""}, "/home/ada/.cache/twinjit"),
        ({"TWINJIT_CACHE_DIR": "/named", "TWINJIT_CACHE": "off"}, None),
        ({"TWINJIT_CACHE": "OFF"}, None),
        ({"TWINJIT_CACHE": "0"}, None),
        ({"TWINJIT_CACHE": "on"}, "/home/ada/.cache/twinjit"),
        ({"TWINJIT_CACHE": ""}, "/home/ada/.cache/twinjit"),
    ],
)
def test_directory(variables: dict[str, str], directory: str | None) -> None:
    assert Settings.load(HOME | variables).cache_dir == directory


@pytest.mark.parametrize(
    ("variables", "directory", "source"),
    [
        ({}, IN_HOME["crash_dir"], "default"),
        ({"XDG_STATE_HOME": "/xdg"}, "/xdg/twinjit/crashes", "XDG_STATE_HOME"),
        ({"XDG_STATE_HOME": "relative"}, IN_HOME["crash_dir"], "default"),
        ({"TWINJIT_CRASH_DIR": "~/x", "XDG_STATE_HOME": "/xdg"}, "/home/ada/x", None),
        ({"TWINJIT_CRASH_DIR": "x"}, os.path.abspath("x"), None),
        ({"TWINJIT_CRASH_DIR": "none"}, None, None),
        ({"HOME": "relative"}, None, "default"),
    ],
)
def test_the_folder_of_crashes(
    variables: dict[str, str], directory: str | None, source: str | None
) -> None:
    settings = Settings.load(HOME | {"TWINJIT_CACHE": "off"} | variables)
    assert settings.crash_dir == directory
    assert settings.sources["crash_dir"] == (source or "TWINJIT_CRASH_DIR")


def test_a_relative_directory_becomes_absolute() -> None:
    settings = Settings.load({"TWINJIT_CACHE_DIR": "here"})
    assert settings.cache_dir == os.path.abspath("here")


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINJIT_CACHE_DIR", "~/cache")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("TWINJIT_CACHE_MAX_BYTES", "7M")
    monkeypatch.setenv("TWINJIT_CRASH_DIR", "none")
    assert Settings.load() == Settings(cache_dir="/home/ada/cache", cache_max_bytes=7 * 1024**2)


def test_without_a_home_there_is_no_disk_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "relative")
    with pytest.warns(CacheWarning, match="TWINJIT_CACHE_DIR"):
        assert Settings.load({}).cache_dir is None


@pytest.mark.parametrize("name", ["TWINJIT_CACHE_MAX_BYTES", "TWINJIT_MEMORY_MAX_BYTES"])
def test_an_error_names_variable_value_and_cure(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.load(HOME | {name: "many"})
    assert isinstance(caught.value, TwinjitError)
    assert isinstance(caught.value, ValueError)
    for part in (name, "'many'", "512M"):
        assert part in str(caught.value)


def test_a_bad_switch_names_variable_value_and_cure() -> None:
    with pytest.raises(ConfigError, match=r"TWINJIT_CACHE is 'maybe'.*'off'"):
        Settings.load(HOME | {"TWINJIT_CACHE": "maybe"})


# One value of each setting that is not the default: as text, and as Settings has it.
OTHERS = {
    "cache_dir": ("/other", "/other"),
    "cache_max_bytes": ("2G", 2 * 1024**3),
    "cache_max_age": ("30d", 30 * 86400.0),
    "memory_max_bytes": ("5M", 5 * 1024**2),
    "confirm": ("always", "always"),
    "wait_seconds": ("1.5m", 90.0),
    "shared_url": ("redis://host:6379", "redis://host:6379"),
    "shared_timeout": ("250ms", 0.25),
    "shared_ttl": ("none", None),
    "shared_max_entry_bytes": ("1024", 1024),
    "shared_secret": ("sixteen bytes or more", b"sixteen bytes or more"),
    "target": ("x86-64-v3", "x86-64-v3"),
    "perf": ("map", "map"),
    "gdb": ("on", True),
    "trace": ("/other/%p.json", "/other/%p.json"),
    "workers": ("3", 3),
    "compile_timeout": ("2min", 120.0),
    "worker_memory_bytes": ("none", None),
    "crash_dir": ("/crashes", "/crashes"),
}
NAMES = [each.name for each in dataclasses.fields(Settings)]


def test_every_setting_is_tried_here() -> None:
    assert list(OTHERS) == NAMES == list(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_each_variable(name: str) -> None:
    text, value = OTHERS[name]
    variable = f"TWINJIT_{name.upper()}"
    settings = Settings.load(HOME | {variable: text})
    assert getattr(settings, name) == value
    assert settings.sources[name] == variable
    expected = IN_HOME | {name: value}
    assert settings == Settings(**expected)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_given_counts_before_variables(name: str) -> None:
    text, value = OTHERS[name]
    default = getattr(Settings(), name)
    settings = Settings.load(HOME | {f"TWINJIT_{name.upper()}": text}, **{name: default})
    assert getattr(settings, name) == default
    assert settings.sources[name] == "given"
    assert getattr(Settings.load(HOME, **{name: value}), name) == value


def test_what_is_given_rules_out_what_else_says_the_same() -> None:
    env = HOME | {"TWINJIT_CACHE": "maybe", "TWINJIT_SHARED_SECRET_FILE": "/nowhere"}
    settings = Settings.load(env, cache_dir="/here", shared_secret=None)
    assert (settings.cache_dir, settings.shared_secret) == ("/here", None)


def test_an_unknown_setting_names_the_one_that_is_meant() -> None:
    with pytest.raises(ConfigError, match=r"'cache_max_byte'.*did you mean cache_max_bytes\?"):
        Settings.load(HOME, cache_max_byte=3)


def test_sources() -> None:
    assert set(Settings().sources.values()) == {"default"}
    assert list(Settings().sources) == NAMES
    assert Settings(cache_dir="/x").sources["cache_dir"] == "given"
    env = HOME | {"TWINJIT_CONFIRM": "always", "XDG_CACHE_HOME": "/xdg"}
    loaded = Settings.load(env, wait_seconds=60.0)
    told = {name: source for name, source in loaded.sources.items() if source != "default"}
    assert told == {
        "cache_dir": "XDG_CACHE_HOME",
        "confirm": "TWINJIT_CONFIRM",
        "wait_seconds": "given",
    }
    assert Settings.load(HOME | {"TWINJIT_CACHE": "off"}).sources["cache_dir"] == "TWINJIT_CACHE"


def test_sources_are_no_part_of_the_value() -> None:
    loaded = Settings.load(HOME | {"TWINJIT_CONFIRM": "always"})
    built = Settings(**IN_HOME, confirm="always")
    assert (loaded, hash(loaded), repr(loaded)) == (built, hash(built), repr(built))
    assert loaded.sources != built.sources
    loaded.sources.clear()
    assert loaded.sources["confirm"] == "TWINJIT_CONFIRM"


def test_copies() -> None:
    loaded = Settings.load(HOME | {"TWINJIT_CONFIRM": "always"})
    for same in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        assert same == loaded
        assert same.sources == loaded.sources
    replaced = dataclasses.replace(loaded, wait_seconds=1.0)
    assert replaced.confirm == "always"
    assert replaced.sources["confirm"] == replaced.sources["wait_seconds"] == "given"
    assert dataclasses.asdict(loaded)["confirm"] == "always"
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.confirm = "never"  # type: ignore[misc]


def test_secrets_are_not_shown() -> None:
    settings = Settings(shared_url="redis://ada:pass@host", shared_secret=b"s" * 16)
    assert "pass" not in repr(settings)
    assert "ssss" not in repr(settings)
    assert settings.shared_place == "redis://host"
    assert Settings().shared_place is None


@pytest.mark.parametrize("directory", ["none", "None"])
def test_none_for_no_directory(directory: str) -> None:
    assert Settings.load(HOME | {"TWINJIT_CACHE_DIR": directory}).cache_dir is None


def test_home_is_that_of_the_environment() -> None:
    assert Settings.load(HOME | {"TWINJIT_CACHE_DIR": "~/x"}).cache_dir == "/home/ada/x"
    assert Settings.load(HOME | {"TWINJIT_CACHE_DIR": "~"}).cache_dir == "/home/ada"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache_dir", "here"),
        ("cache_dir", "/nul\0"),
        ("cache_dir", Path("/x")),
        *((name, bad) for name in NAMES if "bytes" in name for bad in (-1, 1.0, True, "1K")),
        *((name, None) for name in NAMES if name.endswith("max_bytes")),
        ("crash_dir", "here"),
        ("cache_max_bytes", 1 << 63),
        *(
            (name, bad)
            for name in ("cache_max_age", "wait_seconds", "shared_timeout", "shared_ttl")
            for bad in (-1, -0.5, math.nan, math.inf, 1e300, 10**400, False, "1d", b"")
        ),
        ("wait_seconds", None),
        ("shared_timeout", 0),
        ("shared_timeout", None),
        ("shared_ttl", 0.0),
        *(("confirm", bad) for bad in ("maybe", "", None, True, ["never"])),
        *(("shared_url", bad) for bad in ("", "host", "host:1", "://x", "redis://", "1://x", 3)),
        *(("shared_url", bad) for bad in ("redis://a b", "redis://a\n", "é://x")),
        *(("shared_secret", bad) for bad in (b"", b"fifteen bytes..", "text of 16 chars", 3)),
        *(("target", bad) for bad in ("", "native", "Native", "a b", "a\n", None, 3)),
        *(("workers", bad) for bad in (0, -1, 1025, 2.0, True, "2")),
        *(("compile_timeout", bad) for bad in (0, -1, float("nan"), True, "1s")),
        *(("perf", bad) for bad in (True, None, "on")),
        *(("gdb", bad) for bad in (1, None, "on")),
        *(("trace", bad) for bad in (5, "", "here.json", Path("/x"))),
    ],
)
def test_values_that_cannot_be_used(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name} is .*; give "):
        Settings(**{name: value})
    with pytest.raises(ConfigError, match=f"^{name} is .*; give "):
        Settings.load(HOME, **{name: value})


def test_errors_say_what_can_be_given_there() -> None:
    """Python's values in code, words elsewhere."""
    for values, cure in (({"gdb": "on"}, "True or False"), ({"workers": 0}, "1 to 1024, or None")):
        with pytest.raises(ConfigError, match=f"give .*{cure}$"):
            Settings(**values)  # type: ignore[arg-type]
    for name, text, cure in (("GDB", "?", "'on' or 'off'"), ("WORKERS", "0", "1 to 1024, or none")):
        with pytest.raises(ConfigError, match=f"give .*{cure}$"):
            Settings.load(HOME | {f"TWINJIT_{name}": text})


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("target", "haswell", TargetError), ("trace", "/missing/trace.json", ConfigError)],
)
def test_what_turns_out_later_is_told_with_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, error: type[Exception]
) -> None:
    def refused(place: str, settings: Settings | None = None) -> None:
        with pytest.raises(error, match=f"^{place} is '{value}'"):
            twinjit.Compiler(cache=False, settings=settings)

    refused(f"the setting {name}", Settings(**{name: value}))  # type: ignore[arg-type]
    file = tmp_path / "settings.toml"
    file.write_text(f'{name} = "{value}"\n')
    monkeypatch.setenv("TWINJIT_SETTINGS", str(file))
    refused(f"{name} in {file}")
    monkeypatch.setenv(f"TWINJIT_{name.upper()}", value)
    refused(f"TWINJIT_{name.upper()}")


def test_errors_show_no_secrets() -> None:
    for name, value in (
        ("shared_secret", b"hunter"),
        ("shared_secret", "hunter"),
        ("shared_url", "ada:hunter@host"),
        ("shared_url", "redis://ada:hunter@host /"),
        ("shared_url", "redis://host /?password=hunter"),
        ("shared_url", b"hunter"),
    ):
        with pytest.raises(ConfigError) as caught:
            Settings(**{name: value})  # type: ignore[arg-type]
        assert "hunter" not in str(caught.value)
    for variable, text in (
        ("TWINJIT_SHARED_SECRET", "hunter"),
        ("TWINJIT_SHARED_URL", "ada:hunter@host"),
    ):
        with pytest.raises(ConfigError, match=variable) as caught:
            Settings.load(HOME | {variable: text})
        assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (name, bad)
        for name in NAMES
        if name not in ("cache_dir", "crash_dir", "shared_secret", "trace")
        for bad in " ?"
    ]
    + [
        ("shared_secret", "short"),
        ("wait_seconds", "99999999999d"),
        ("shared_timeout", "0"),
        ("workers", "0"),
        ("compile_timeout", "0"),
        ("worker_memory_bytes", "much"),
    ],
)
def test_texts_that_cannot_be_used(name: str, text: str) -> None:
    if (name, text) == ("target", "?"):
        return  # whether a word is a target is known further up
    with pytest.raises(ConfigError, match=f"^TWINJIT_{name.upper()}(:| is ).*; give "):
        Settings.load(HOME | {f"TWINJIT_{name.upper()}": text})


def test_no_other_module_reads_the_environment() -> None:
    readers = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if "os.environ" in (text := path.read_text()) or "getenv" in text
    }
    assert readers == {"settings.py"}


def test_costly_modules_are_not_imported_by_the_bottom_layers() -> None:
    # json is not among them: what a hit must know of its functions is written in it.
    costly = {
        "pathlib",
        "tempfile",
        "shutil",
        "hashlib",
        "logging",
        "re",
        "difflib",
        "tomllib",
    }
    files = [PACKAGE / name for name in BOTTOM]
    for path in [*files, *(PACKAGE / "store").glob("*.py")]:
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Import):
                assert costly.isdisjoint(alias.name for alias in statement.names), path
            elif isinstance(statement, ast.ImportFrom):
                assert statement.module not in costly, path
