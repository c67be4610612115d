from __future__ import annotations

import ast
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinjit.errors import CacheWarning, ConfigError, TwinjitError
from twinjit.settings import Settings, parse_size

PACKAGE = Path(__file__).parent.parent / "src" / "twinjit"
HOME = {"HOME": "/home/ada"}


def test_defaults() -> None:
    settings = Settings.load(HOME)
    assert settings == Settings(cache_dir="/home/ada/.cache/twinjit")
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


def test_a_relative_directory_becomes_absolute() -> None:
    settings = Settings.load({"TWINJIT_CACHE_DIR": "here"})
    assert settings.cache_dir == os.path.abspath("here")


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINJIT_CACHE_DIR", "~/cache")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("TWINJIT_CACHE_MAX_BYTES", "7M")
    assert Settings.load() == Settings(cache_dir="/home/ada/cache", cache_max_bytes=7 * 1024**2)


def test_without_a_home_there_is_no_disk_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "relative")
    with pytest.warns(CacheWarning, match="TWINJIT_CACHE_DIR"):
        assert Settings.load({}).cache_dir is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("1K", 1024),
        ("1k", 1024),
        ("20M", 20 * 1024**2),
        (" 3 G ", 3 * 1024**3),
        ("2T", 2 * 1024**4),
        ("1KiB", 1024),
        ("1MB", 1024**2),
        ("1gib", 1024**3),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "K",
        "iB",
        "-1",
        "+1",
        "1.5G",
        "1_000",
        "1e6",
        "1KK",
        "5B",
        "5iB",
        "٣",
        "1P",
        "9" * 99,
    ],
)
def test_bad_sizes(text: str) -> None:
    with pytest.raises(ConfigError, match="whole number"):
        parse_size(text)


@given(st.text(max_size=6))
def test_any_text_is_a_size_or_a_config_error(text: str) -> None:
    with suppress(ConfigError):
        assert parse_size(text) >= 0


@given(st.integers(0, 10**9), st.sampled_from("KMGT"))
def test_suffixes_are_powers_of_1024(number: int, suffix: str) -> None:
    assert parse_size(f"{number}{suffix}") == number * 1024 ** ("KMGT".index(suffix) + 1)


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


def test_bad_values_in_code_are_refused() -> None:
    with pytest.raises(ConfigError, match="cache_max_bytes is -1"):
        Settings(cache_max_bytes=-1)
    with pytest.raises(ConfigError, match="memory_max_bytes is -1"):
        Settings(memory_max_bytes=-1)
    with pytest.raises(ConfigError, match="relative"):
        Settings(cache_dir="here")


def test_no_other_module_reads_the_environment() -> None:
    readers = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if "os.environ" in (text := path.read_text()) or "getenv" in text
    }
    assert readers == {"settings.py"}


def test_costly_modules_are_not_imported_by_the_bottom_layers() -> None:
    # json is not among them: what a hit must know of its functions is written in it.
    costly = {"pathlib", "tempfile", "shutil", "hashlib", "logging", "fcntl", "re"}
    bottom = ("artifact.py", "entry.py", "packing.py", "settings.py", "errors.py", "key.py")
    files = [PACKAGE / name for name in bottom]
    for path in [*files, *(PACKAGE / "store").glob("*.py")]:
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Import):
                assert costly.isdisjoint(alias.name for alias in statement.names), path
            elif isinstance(statement, ast.ImportFrom):
                assert statement.module not in costly, path
