"""Files of settings and secrets: what they say, and who could have written or read them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.test_settings import NAMES, OTHERS
from twinjit.errors import ConfigError
from twinjit.settings import Settings

SECRET = "sixteen bytes or more"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with a home, and no settings file there yet."""
    (tmp_path / ".config" / "twinjit").mkdir(parents=True)
    return {"HOME": str(tmp_path)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "twinjit" / "settings.toml"


@pytest.fixture
def write(path: Path) -> Callable[..., Path]:
    """Write a settings file, or another; return its path."""

    def write_file(text: str | bytes, mode: int = 0o600, path: Path = path) -> Path:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    return write_file


def refused(env: dict[str, str], *parts: str) -> str:
    with pytest.raises(ConfigError) as caught:
        Settings.load(env)
    message = str(caught.value)
    for part in parts:
        assert part in message
    return message


@pytest.mark.parametrize("name", NAMES)
def test_each_key(env, write, name) -> None:
    text, value = OTHERS[name]
    path = write(f'{name} = "{text}"\n')
    loaded = Settings.load(env)
    assert getattr(loaded, name) == value
    told = {each: source for each, source in loaded.sources.items() if source != "default"}
    assert told == {name: str(path)}


@pytest.mark.parametrize("name", NAMES)
def test_variables_count_before_the_file(env, write, name) -> None:
    text, value = OTHERS[name]
    write(f'{name} = "unusable, but this is not looked at"\n')
    loaded = Settings.load(env | {f"TWINJIT_{name.upper()}": text})
    assert getattr(loaded, name) == value
    assert loaded.sources[name] == f"TWINJIT_{name.upper()}"
    assert getattr(Settings.load(env, **{name: value}), name) == value


def test_numbers(env, write) -> None:
    write("cache_max_bytes = 1_024\nwait_seconds = 3\nshared_timeout = 1.5\ncache_max_age = 9\n")
    loaded = Settings.load(env)
    assert (loaded.cache_max_bytes, loaded.wait_seconds) == (1024, 3.0)
    assert (loaded.shared_timeout, loaded.cache_max_age) == (1.5, 9.0)


@pytest.mark.parametrize(
    "line",
    [
        *(f"cache_max_bytes = {bad}" for bad in ("-1", "1.0", "true", "[1]", "{}", "1979-05-27")),
        *(f"wait_seconds = {bad}" for bad in ("-1", "nan", "inf", "true", "[]", "07:32:00")),
        *(f"cache_dir = {bad}" for bad in ("3", '"here"', '""', '"./x"', '"/nul\\u0000"')),
        *(f"confirm = {bad}" for bad in ("true", '"maybe"')),
        *(f"target = {bad}" for bad in ('"native"', '""')),
        *(f"cache = {bad}" for bad in ('"maybe"', "3", '""', "[]")),
        *(f"shared_url = {bad}" for bad in ("3", '""', '"host:6379"')),
        *(f"shared_secret = {bad}" for bad in ("3", '"short"')),
        *(f"shared_secret_file = {bad}" for bad in ("3", '"here"', '"none"', '"/nul\\u0000"')),
    ],
)
def test_values_that_cannot_be_used(env, write, line) -> None:
    path = write(line)
    message = refused(env, line.split()[0], str(path))
    assert "give " in message or "set it to" in message or "null" in message


def test_an_unknown_key_names_the_one_that_is_meant(env, write) -> None:
    path = write('cache-max-bytes = "1G"\n')
    refused(env, str(path), "'cache-max-bytes'", "did you mean cache_max_bytes?")
    write("colour = 3\n")
    refused(env, "'colour'", "the settings are cache_dir, cache_max_bytes", "shared_secret_file")


def test_tables_are_refused(env, write) -> None:
    path = write('[twinjit]\ncache_dir = "/x"\n')
    refused(env, str(path), "[twinjit]", "top level")
    write('[cache]\nmax_bytes = "8G"\n')  # which is the name of a setting, too
    refused(env, str(path), "[cache]", "top level")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cache_dir = \n", ["line 1, column 13"]),
        ('\nconfirm = "always"\nconfirm = "never"\n', ["line 3"]),
        (b'confirm = "never"\n# \xff\n', ["line 2", "UTF-8"]),
        ("cache_max_bytes = " + "[" * 50_000, ["nested too deep"]),
        ("cache_max_bytes = " + "9" * 5000, ["not valid TOML"]),
        ("#" * (1 << 20) + "\n", ["more than 1048576 bytes"]),
    ],
)
def test_what_is_no_toml_names_the_place(env, write, text, parts) -> None:
    refused(env, str(write(text)), *parts)


def test_an_empty_file_says_nothing(env, write) -> None:
    write("")
    assert set(Settings.load(env).sources.values()) == {"default"}


@given(data=st.binary(max_size=40) | st.text("cache_dir=\"'[]{}.,\n#/0 ", max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_file_gives_settings_or_a_config_error(env, write, data) -> None:
    write(data)
    with suppress(ConfigError):
        assert isinstance(Settings.load(env), Settings)


def test_where_files_are_looked_for(env, write, path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write('confirm = "always"', path=tmp_path / "settings.toml")
    write('confirm = "always"', path=tmp_path / "twinjit.toml")
    assert Settings.load(env).confirm == "never"
    assert Settings.file_path(env) == str(path)
    (tmp_path / "xdg" / "twinjit").mkdir(parents=True)
    env["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    write('confirm = "always"', path=tmp_path / "xdg" / "twinjit" / "settings.toml")
    assert Settings.load(env).confirm == "always"
    env["XDG_CONFIG_HOME"] = "xdg"
    assert Settings.file_path(env) == str(path)
    named = write("wait_seconds = 1", path=tmp_path / "named")
    for text in (str(named), "~/named"):
        assert Settings.load(env | {"TWINJIT_SETTINGS": text}).wait_seconds == 1.0
    write('confirm = "always"')
    assert Settings.file_path(env | {"TWINJIT_SETTINGS": "off"}) is None
    assert Settings.load(env | {"TWINJIT_SETTINGS": "off"}).confirm == "never"
    assert Settings.load(env | {"TWINJIT_SETTINGS": ""}).confirm == "always"


def test_the_file_of_the_process(write, path, tmp_path, monkeypatch) -> None:
    path.parent.mkdir(parents=True)
    write("wait_seconds = 7")
    monkeypatch.delenv("TWINJIT_SETTINGS")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings.load().wait_seconds == 7.0
    assert Settings.file_path() == str(path)


def test_a_named_file_must_be_there(env, tmp_path) -> None:
    refused(env | {"TWINJIT_SETTINGS": "/nowhere.toml"}, "'/nowhere.toml'", "No such file", "unset")
    refused(env | {"TWINJIT_SETTINGS": "here.toml"}, "TWINJIT_SETTINGS is 'here.toml'", "absolute")
    refused(env | {"TWINJIT_SETTINGS": str(tmp_path)}, "not a regular file")


def test_a_pipe_is_refused_and_not_waited_for(env, path) -> None:
    os.mkfifo(path)
    refused(env, str(path), "not a regular file")


def test_links_are_followed(env, write, path, tmp_path) -> None:
    path.symlink_to(write("wait_seconds = 8", path=tmp_path / "dotfiles"))
    assert Settings.load(env).wait_seconds == 8.0
    (tmp_path / "dotfiles").chmod(0o666)
    refused(env, str(path), "others can write")
    (tmp_path / "dotfiles").unlink()
    refused(env, str(path), "No such file")


def test_a_home_that_is_no_folder_has_no_file() -> None:
    assert Settings.load({"HOME": "/dev/null"}).confirm == "never"


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o620, 0o666])
def test_files_that_others_can_write_to_are_refused(env, write, mode) -> None:
    path = write("wait_seconds = 1", mode)
    refused(env, str(path), "others can write", f"chmod go-w {str(path)!r}")
    secret = write(SECRET, mode, path.parent / "secret")
    path.unlink()
    refused(env | {"TWINJIT_SHARED_SECRET_FILE": str(secret)}, str(secret), "others can write")


@as_root
def test_files_of_other_users_are_refused(env, write) -> None:
    path = write("wait_seconds = 1")
    os.chown(path, 12345, -1)
    refused(env, str(path), "another user (id 12345)", "copy")
    secret = write(SECRET, path=path.parent / "secret")
    os.chown(secret, 12345, -1)
    path.unlink()
    refused(env | {"TWINJIT_SHARED_SECRET_FILE": str(secret)}, str(secret), "another user")


@as_root
def test_a_file_that_cannot_be_read_is_named(write) -> None:
    script = (
        "import os, sys\nfrom twinjit.settings import Settings\n"
        "from twinjit.errors import ConfigError\nimport twinjit.settings_file\n"
        "Settings.load({'HOME': sys.argv[1]})\n"  # loads the parser while it can be read
        "os.setuid(12345)\n"
        "try: print(Settings.load({'HOME': sys.argv[1]}).confirm)\n"
        "except ConfigError as error: print(error)"
    )
    with TemporaryDirectory() as home:  # the folders of tmp_path are closed to other users
        path = Path(home, ".config", "twinjit", "settings.toml")
        path.parent.mkdir(parents=True)
        for folder in (Path(home), path.parent.parent, path.parent):
            folder.chmod(0o755)
        write("confirm = 'always'", 0o644, path)

        def load() -> str:
            return subprocess.check_output([sys.executable, "-c", script, home], text=True)

        assert load() == "always\n"  # root could do worse than to write a file
        path.chmod(0o600)
        assert f"{str(path)!r}: Permission denied" in load()
        path.parent.chmod(0o700)
        assert f"{str(path)!r}: Permission denied" in load()


@pytest.mark.parametrize(
    ("content", "secret"), [(SECRET, SECRET), (SECRET + "\n\n", SECRET + "\n")]
)
def test_secret_files(env, write, tmp_path, content, secret) -> None:
    file = write(content, 0o400, tmp_path / "secret")
    loaded = Settings.load(env | {"TWINJIT_SHARED_SECRET_FILE": "~/secret"})
    assert loaded.shared_secret == secret.encode()
    assert loaded.sources["shared_secret"] == "TWINJIT_SHARED_SECRET_FILE"
    path = write('shared_secret_file = "~/secret"', 0o644)
    loaded = Settings.load(env)
    assert (loaded.shared_secret, loaded.sources["shared_secret"]) == (secret.encode(), str(path))
    file.chmod(0o440)
    refused(env, str(file), "others can read", "chmod 600", "new secret")


def test_secrets_of_any_bytes(env, write, tmp_path) -> None:
    secret = bytes(range(255, 200, -1))
    file = write(secret + b"\n", path=tmp_path / "secret")
    assert Settings.load(env | {"TWINJIT_SHARED_SECRET_FILE": str(file)}).shared_secret == secret
    text = secret.decode("utf-8", "surrogateescape")
    assert Settings.load(env | {"TWINJIT_SHARED_SECRET": text}).shared_secret == secret


def test_secrets_that_are_too_short_are_not_shown(env, write, tmp_path) -> None:
    file = write("hunter\n", path=tmp_path / "secret")
    named = env | {"TWINJIT_SHARED_SECRET_FILE": str(file)}
    assert "hunter" not in refused(named, "TWINJIT_SHARED_SECRET_FILE", "6 bytes", "give 16 bytes")
    path = write("shared_secret = 'hunter'")
    assert "hunter" not in refused(env, str(path), "shared_secret", "6 bytes")


def test_one_place_names_one_secret(env, write, tmp_path) -> None:
    file = write(SECRET, path=tmp_path / "secret")
    both = env | {"TWINJIT_SHARED_SECRET": "x" * 16, "TWINJIT_SHARED_SECRET_FILE": str(file)}
    refused(both, "TWINJIT_SHARED_SECRET_FILE is set", "is TWINJIT_SHARED_SECRET;", "unset one")
    path = write(f"shared_secret = '{'y' * 16}'\nshared_secret_file = '{file}'")
    refused(env, "shared_secret_file in", "shared_secret in", str(path))
    del both["TWINJIT_SHARED_SECRET"]
    write(f"shared_secret = '{'y' * 16}'")
    assert Settings.load(both).shared_secret == SECRET.encode()
    write(f"shared_secret_file = '{file}'")
    for text, secret in (("x" * 16, b"x" * 16), ("none", None)):
        assert Settings.load(env | {"TWINJIT_SHARED_SECRET": text}).shared_secret == secret


@pytest.mark.parametrize("line", [f"shared_secret = '{SECRET}'", "shared_url = 'redis://:pw@host'"])
def test_settings_that_others_can_read_hold_no_secret(env, write, line) -> None:
    path = write(line, 0o644)
    refused(env, str(path), "others can read", "chmod 600")
    path.chmod(0o600)
    assert str(path) in Settings.load(env).sources.values()
    write("shared_url = 'redis://host'", 0o644)
    assert Settings.load(env).shared_url == "redis://host"


@pytest.mark.parametrize(
    ("lines", "variables", "directory"),
    [
        ("cache = false", {}, None),
        ("cache = 'off'", {}, None),
        ("cache = true", {}, "HOME"),
        ("cache = 'off'\ncache_dir = '/file'", {}, None),
        ("cache = 'off'\ncache_dir = '/file'", {"TWINJIT_CACHE": "on"}, "/file"),
        ("cache = 'off'", {"TWINJIT_CACHE": "on"}, "HOME"),
        ("cache = 'off'", {"TWINJIT_CACHE_DIR": "/env"}, "/env"),
        ("cache_dir = '/file'", {"TWINJIT_CACHE": "off"}, None),
        ("cache_dir = '/file'", {"TWINJIT_CACHE_DIR": "/env"}, "/env"),
        ("cache_dir = '/file'", {"TWINJIT_CACHE_DIR": "none"}, None),
        ("cache_dir = 'none'", {}, None),
        ("cache_dir = '~/file/../x'", {}, "HOME2"),
    ],
)
def test_the_switch(env, write, lines, variables, directory) -> None:
    write(lines)
    places = {"HOME": f"{env['HOME']}/.cache/twinjit", "HOME2": f"{env['HOME']}/file/../x"}
    assert Settings.load(env | variables).cache_dir == places.get(directory, directory)


def test_no_parser_is_loaded_without_a_file(env, write, tmp_path) -> None:
    script = (
        "import sys\nfrom twinjit.settings import Settings\nSettings.load()\n"
        "print({'tomllib', 'tomli', 'difflib', 'twinjit.settings_file'} & set(sys.modules))"
    )

    def load(**variables: str) -> str:
        command = [sys.executable, "-c", script]
        return subprocess.check_output(command, env=env | variables, text=True)

    assert load() == "set()\n"
    file = write(SECRET, path=tmp_path / "secret")
    assert load(TWINJIT_SHARED_SECRET_FILE=str(file)) == "{'twinjit.settings_file'}\n"
