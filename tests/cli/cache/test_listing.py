"""``twinjit cache list`` and ``show``."""

from __future__ import annotations

import subprocess
import sys
from itertools import count

import pytest

import twinjit
from tests.cli.cache.stores import damage, digest, path_of
from tests.cli.programs import TWICE
from tests.samples import numbered_artifact
from tests.store.entries import entry_path, set_age
from twinjit.cli.cache.stores import unique_prefixes


def test_list_of_nothing(ok, data, root):
    assert ok("cache", "list") == ""
    assert data("cache", "list") == {"path": str(root), "entries": [], "total": 0}


def test_list(compiled, data, ok, root):
    (entry,) = data("cache", "list")["entries"]
    path = entry_path(root, bytes.fromhex(compiled))
    assert (entry["key"], entry["file"], entry["tier"]) == (compiled, str(path), "disk")
    assert entry["bytes"] == path.stat().st_size
    assert entry["used"] == pytest.approx(path.stat().st_mtime)
    assert (entry["functions"], entry["pipeline"], entry["bad"]) == (["twice"], "std", None)
    host = twinjit.Target.host()
    assert entry["target"] == {
        "triple": host.triple,
        "cpu": host.cpu,
        "features": host.features,
    }
    header, line = ok("cache", "list").splitlines()
    assert header.split() == ["key", "size", "last", "used", "cpu", "opt", "pipeline", "functions"]
    assert line.split()[0] == compiled[:8]
    assert line.split()[-4:] == [host.cpu, "3", "std", "twice"]


def test_list_in_order(store, data, ok):
    def keys(*options):
        return [each["key"] for each in data("cache", "list", *options)["entries"]]

    expected = [digest(number).hex() for number in (1, 2, 3)]
    assert keys() == keys("--sort", "used") == expected
    assert keys("--sort", "size") == expected[::-1]
    assert keys("--limit", "2") == expected[:2]
    assert data("cache", "list", "--limit", "2")["total"] == 3
    assert ok("cache", "list", "-n", "1").splitlines()[-1] == "… and 2 more"


def test_to_look_is_not_to_use(store, ok, root, tmp_path):
    before = [path_of(root, number).stat().st_mtime_ns for number in (1, 2, 3)]
    for command in (
        ["list"],
        ["verify"],
        ["show", digest(1).hex()],
        ["export", str(tmp_path / "bundle.tar")],
    ):
        ok("cache", *command)
    assert [path_of(root, number).stat().st_mtime_ns for number in (1, 2, 3)] == before
    assert twinjit.DiskStore(root).totals() == {"puts": 3}


def test_list_shows_the_damaged(store, ok, data, root):
    set_age(damage(root, 2), 2000)
    bad = data("cache", "list")["entries"][1]
    assert (bad["key"], bad["functions"]) == (digest(2).hex(), None)
    assert bad["bad"]["reason"] == "damaged"
    assert "damaged: the artifact is damaged" in ok("cache", "list").splitlines()[2]


def test_prefixes_tell_keys_apart():
    keys = [bytes([0] * 10 + [last] + [0] * 21) for last in (1, 2, 0x12)] + [b"\xff" * 32]
    entries = [twinjit.Entry(key, 1, 0.0, "") for key in keys]
    short = unique_prefixes(entries)
    assert list(short) == sorted(keys)
    assert [len(short[key]) for key in keys] == [22, 22, 21, 8]
    assert unique_prefixes(entries[:1]) == {keys[0]: "00000000"}
    assert unique_prefixes([]) == {}


# show


def test_show_json(compiled, data, root):
    shown = data("cache", "show", compiled[:4].upper())
    assert (shown["key"], shown["bad"]) == (compiled, None)
    assert twinjit.Key.from_data(shown["parts"]).hex == compiled
    (function,) = shown["functions"]
    assert function["signature"] == "twice(arg0: i64) -> i64"
    assert set(shown["report"]["phases"]) >= {"parse", "passes", "codegen"}
    assert shown["target"]["cpu"] == twinjit.Target.host().cpu
    sizes = shown["sections"]
    assert sizes["object"]["bytes"] == len(twinjit.compile(TWICE).object_code)
    assert sum(each["stored_bytes"] for each in sizes.values()) < shown["bytes"]


def test_show_for_people(compiled, ok, root):
    printed = ok("cache", "show", compiled)
    assert printed.splitlines()[0].split() == ["mlir", twinjit.fingerprint(TWICE)]
    assert f"key               {compiled}\n" in printed
    assert f"file              {root}" in printed
    assert "compiled by       pipeline std in " in printed
    assert printed.endswith("functions         twice(arg0: i64) -> i64\n")
    assert " characters)" in printed
    assert " characters)" not in ok("cache", "show", compiled, "--full")


def test_show_writes_the_object(compiled, ok, tmp_path):
    assert ok("cache", "show", compiled, "--object", tmp_path / "f.o") == ""
    assert (tmp_path / "f.o").read_bytes() == twinjit.compile(TWICE).object_code
    command = [sys.executable, "-m", "twinjit", "cache", "show", compiled, "--object", "-"]
    assert subprocess.check_output(command) == twinjit.compile(TWICE).object_code


def test_keys_that_name_no_entry(cli, store):
    def complaint(key):
        result = cli("cache", "show", key)
        assert (result.exit_code, result.stdout) == (2, "")
        return " ".join(result.stderr.split())

    assert "give its first 4 hexadecimal digits" in complaint("abc")
    assert "give its first 4 hexadecimal digits" in complaint("nothex")
    assert "give its first 4 hexadecimal digits" in complaint("a" * 65)
    assert "no entry's key begins with 0000" in complaint("0000")


def test_a_key_that_names_two_entries(cli, store, ok):
    seen = {}
    for number in count(10):
        key = digest(number).hex()
        if other := seen.get(key[:4]):
            break
        seen[key[:4]] = number
    for each in (number, other):
        store.put(numbered_artifact(each))
    result = cli("cache", "show", key[:4])
    assert result.exit_code == 2
    assert "2 keys begin with" in result.stderr
    assert key in ok("cache", "show", key[:12])


def test_show_says_that_an_entry_is_damaged(store, fails, root):
    path = damage(root, 1)
    assert f"{path}: damaged: " in fails(4, "cache", "show", digest(1).hex())
