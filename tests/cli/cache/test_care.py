"""``twinjit cache path``, ``verify``, ``prune`` and ``clear``."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cache.stores import damage, digest, path_of
from tests.cli.programs import TWICE
from tests.store.entries import entry_path, set_age

GOLDEN = Path(__file__).parents[2] / "golden"


def test_path_and_clear(ok, data, store, root):
    assert ok("cache", "path") == f"{root}\n"
    assert ok("cache", "clear") == f"removed 3 entries, 40.0 KiB, from {root}\n"
    assert data("cache", "stats")["entries"] == 0
    assert data("cache", "stats")["puts"] == 3


def test_prune_by_size(ok, data, store, root):
    assert ok("cache", "prune") == f"removed 0 files, 0 bytes, from {root}\n"
    assert ok("cache", "prune", "--max-size", "24K") == f"removed 1 file, 16.0 KiB, from {root}\n"
    assert data("cache", "stats")["bytes"] == 24 << 10
    assert data("cache", "stats")["evictions"] == 1


def test_prune_by_age(ok, store, root):
    assert ok("cache", "prune", "--max-age", "30d").startswith("removed 0 files")
    assert ok("cache", "prune", "--max-age", "25m").startswith("removed 2 files")
    assert not path_of(root, 2).exists()
    assert path_of(root, 1).exists()


def test_prune_sweeps_what_killed_processes_left(ok, store, root):
    left = root / "v1" / "tmp" / "1-0123456789abcdef"
    left.write_bytes(b"x")
    set_age(left, 10 * 86400)
    assert "and 1 remain of killed processes, from" in ok("cache", "prune")


@pytest.mark.parametrize("option", [("--max-age", "soon"), ("--max-size", "-1")])
def test_prune_takes_sizes_and_times(cli, option):
    result = cli("cache", "prune", *option)
    assert result.exit_code == 2
    assert option[1] in result.stderr


@pytest.mark.parametrize("command", ["path", "stats", "list", "verify", "prune", "clear"])
def test_a_cache_that_is_off(fails, monkeypatch, command):
    assert "--cache" in fails(1, "cache", command, "--cache", "off")
    monkeypatch.setenv("TWINJIT_CACHE", "off")
    assert "no disk cache" in fails(1, "cache", command)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("command", ["stats", "list", "verify", "prune", "clear"])
def test_a_cache_that_cannot_be_read(cli, root, command):
    (root / "v1").mkdir(parents=True, mode=0o700)
    (root / "v1" / "objects").touch()
    result = cli("cache", command)
    assert result.exit_code == 3
    assert "Not a directory" in result.stderr


@pytest.mark.parametrize("command", ["stats", "list", "verify", "prune", "clear"])
def test_looking_makes_nothing(ok, root, command):
    ok("cache", command)
    assert not root.exists()


# verify


def test_verify_a_cache_that_is_well(ok, data, store, root):
    assert ok("cache", "verify") == f"read 4 files of {root}, none of them bad\n"
    assert data("cache", "verify") == {"path": str(root), "read": 4, "bad": []}


def test_verify_names_the_bad(cli, store, root):
    damaged = damage(root, 1)
    path_of(root, 2).chmod(0o666)
    result = cli("cache", "verify")
    assert result.exit_code == 4
    lines = result.stdout.splitlines()
    assert lines[-1] == f"read 4 files of {root}, 2 of them bad"
    assert f"damaged  {damaged}: the artifact is damaged: its checksum does not match" in lines
    assert f"untrusted  {path_of(root, 2)}: others may write to it" in lines
    assert result.stderr == ""
    found = json.loads(cli("cache", "verify", "--json").stdout)["bad"]
    assert {(each["path"], each["reason"], each["removed"]) for each in found} == {
        (str(damaged), "damaged", False),
        (str(path_of(root, 2)), "untrusted", False),
    }
    assert damaged.exists()


def test_verify_removes_on_request(cli, ok, store, root):
    damaged = damage(root, 1)
    result = cli("cache", "verify", "--remove")
    assert result.exit_code == 4
    assert "(removed)" in result.stdout
    assert not damaged.exists()
    assert ok("cache", "verify") == f"read 3 files of {root}, none of them bad\n"
    assert store.get(digest(2))


def test_verify_leaves_what_another_release_wrote(ok, data, root, store):
    entry = (GOLDEN / "artifact-v1.tj").read_bytes()
    path = entry_path(root, entry[16:48])
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(entry)
    path.chmod(0o600)
    printed = ok("cache", "verify", "--remove")
    assert "version  " in printed
    assert printed.endswith(", none of them bad, 1 for another release or machine\n")
    (bad,) = data("cache", "verify")["bad"]
    assert (bad["path"], bad["reason"]) == (str(path), "version")


def test_verify_names_files_that_have_no_name(cli, store, root):
    folder = path_of(root, 1).parent
    with open(os.fsencode(folder) + b"/\xff\x1b.tj", "wb"):
        pass
    result = cli("cache", "verify")
    assert result.exit_code == 4
    assert "\\udcff\\x1b.tj': its name is not a digest" in result.stdout
    (bad,) = json.loads(cli("cache", "verify", "--json").stdout)["bad"]
    assert os.path.exists(bad["path"])


def test_verify_leaves_a_folder_in_the_place_of_an_entry(cli, store, root):
    path_of(root, 1).unlink()
    path_of(root, 1).mkdir()
    result = cli("cache", "verify", "--remove", "--json")
    assert result.exit_code == 4
    assert [each["removed"] for each in json.loads(result.stdout)["bad"]] == [False]


def test_verify_a_cache_that_others_can_look_into(cli, store, root):
    (root / "v1").chmod(0o755)
    result = cli("cache", "verify", "--remove")
    assert result.exit_code == 4
    assert f"chmod 700 {root}" in result.stdout
    assert path_of(root, 1).exists()


def test_verify_shows_on_terminals_how_far_it_is(store):
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-m", "twinjit", "cache", "verify"]
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        command, check=False, env=environment, stderr=other_end, stdout=subprocess.PIPE
    )
    os.close(other_end)
    assert b"reading" in os.read(terminal, 1 << 16)
    os.close(terminal)
    assert done.returncode == 0
    assert done.stdout.startswith(b"read 4 files")


def test_settings_that_only_compiling_needs_are_no_obstacle(ok, fails, mlir, monkeypatch):
    monkeypatch.setenv("TWINJIT_TARGET", "x86-64-v9")
    monkeypatch.setenv("TWINJIT_SHARED_URL", "nosuch://host")
    assert ok("cache", "stats").startswith("path ")
    message = fails(1, "explain", mlir(TWICE))
    assert "TWINJIT_TARGET is 'x86-64-v9'" in message
    assert "it has x86-64," in message
