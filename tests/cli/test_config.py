"""``twinjit config``: every setting, its value and its source, and no secrets."""

from __future__ import annotations

import dataclasses
import os
import re

import pytest

import twinjit

NAMES = [each.name for each in dataclasses.fields(twinjit.Settings)]
SECRET = "sixteen bytes or more"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of its own, without settings in it."""
    for name in [name for name in os.environ if name.startswith(("TWINJIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def file(home):
    path = home / ".config" / "twinjit" / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_text("wait_seconds = 90\nshared_timeout = 0.25\n")
    return path


def rows(printed):
    """What is printed of each setting: value and source."""
    *lines, last = printed.splitlines()
    cells = [re.split(" {2,}", line) for line in lines]
    assert [name for name, _, _ in cells] == NAMES
    return {name: (value, source) for name, value, source in cells}, last


def test_defaults(ok, home):
    shown, last = rows(ok("config"))
    assert shown["cache_dir"] == (f"{home}/.cache/twinjit", "default")
    assert shown["cache_max_bytes"] == ("1.0 GiB (1073741824 bytes)", "default")
    assert shown["cache_max_age"] == ("none", "default")
    assert shown["wait_seconds"] == ("1m (60 s)", "default")
    assert shown["shared_secret"] == ("unset", "default")
    assert {source for _, source in shown.values()} == {"default"}
    assert last == f"settings file: {home}/.config/twinjit/settings.toml (not there)"


def test_numbers_that_are_no_times(ok, home, monkeypatch):
    monkeypatch.setenv("TWINJIT_WORKERS", "3")
    monkeypatch.setenv("TWINJIT_CHECK_HITS", "0.125")
    shown, _ = rows(ok("config"))
    assert (shown["workers"][0], shown["check_hits"][0]) == ("3", "0.125")
    assert shown["check"] == ("off", "default")


def test_each_source(ok, file, monkeypatch):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_AGE", "30d")
    monkeypatch.setenv("TWINJIT_MEMORY_MAX_BYTES", "100")
    monkeypatch.setenv("TWINJIT_CACHE", "off")
    shown, last = rows(ok("config"))
    assert shown["cache_dir"] == ("none", "TWINJIT_CACHE")
    assert shown["cache_max_age"] == ("30d (2592000 s)", "TWINJIT_CACHE_MAX_AGE")
    assert shown["memory_max_bytes"] == ("100 bytes", "TWINJIT_MEMORY_MAX_BYTES")
    assert shown["wait_seconds"] == ("90 s", str(file))
    assert shown["shared_timeout"] == ("250ms (0.25 s)", str(file))
    assert last == f"settings file: {file}"


def test_json(data, file, monkeypatch):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_BYTES", "2G")
    found = data("config")
    assert list(found["settings"]) == NAMES
    assert found["settings"]["cache_max_bytes"] == {
        "value": 2 * 1024**3,
        "source": "TWINJIT_CACHE_MAX_BYTES",
    }
    assert found["settings"]["wait_seconds"] == {"value": 90, "source": str(file)}
    assert found["settings"]["shared_url"] == {"value": None, "source": "default"}
    assert (found["file"], found["file_found"]) == (str(file), True)


def test_variables_that_are_no_settings(ok, data, home, monkeypatch):
    assert data("config")["unknown_variables"] == []
    for name in ("TWINJIT_CACHE_MAX_BYTE", "TWINJIT_A", "TWINJITTER", "TWINJIT_SHARED_SECRET_FILE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("TWINJIT_SETTINGS", "off")
    assert data("config")["unknown_variables"] == ["TWINJIT_A", "TWINJIT_CACHE_MAX_BYTE"]
    last = ok("config").splitlines()[-1]
    assert last == "no settings, and not looked at: TWINJIT_A, TWINJIT_CACHE_MAX_BYTE"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_secrets_are_not_shown(ok, home, monkeypatch, options):
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET)
    monkeypatch.setenv("TWINJIT_SHARED_URL", "redis://ada:hunter@host:6379/0?password=hunter")
    printed = ok("config", *options)
    assert "redis://host:6379/0" in printed
    for secret in (SECRET, "hunter", "ada"):
        assert secret not in printed
    assert data_of(printed, options) == "set"


def data_of(printed, options):
    if options:
        return re.search(r'"shared_secret": {"value": "(\w+)"', printed)[1]
    return rows(printed)[0]["shared_secret"][0]


def test_no_file(ok, data, home, monkeypatch):
    monkeypatch.setenv("TWINJIT_SETTINGS", "off")
    assert rows(ok("config"))[1].startswith("settings file: none: TWINJIT_SETTINGS is off")
    assert (data("config")["file"], data("config")["file_found"]) == (None, False)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [("0", "0 s"), ("1.5", "1.5 s"), ("36h", "36h (129600 s)"), ("0.0125", "12.5ms (0.0125 s)")],
)
def test_times(ok, home, monkeypatch, seconds, shown):
    monkeypatch.setenv("TWINJIT_WAIT_SECONDS", seconds)
    assert rows(ok("config"))[0]["wait_seconds"][0] == shown


def test_what_cannot_be_used(fails, file, monkeypatch):
    file.write_text("cache_max_bites = 3\n")
    message = fails(1, "config")
    assert f"twinjit: error: {file} has 'cache_max_bites'" in message
    assert "did you mean cache_max_bytes?" in message
    file.write_text("wait_seconds = \n")
    assert "line 1" in fails(1, "config", "--json")
    monkeypatch.setenv("TWINJIT_SETTINGS", "/nowhere.toml")
    assert "'/nowhere.toml': No such file" in fails(1, "config")
