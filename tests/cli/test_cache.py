"""``twinjit cache``: each command, on stores that are whole, damaged and not to be trusted."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import tarfile
import time
from itertools import count
from pathlib import Path
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

import twinjit
from tests.cli.programs import SAXPY, TWICE
from tests.samples import numbered_artifact
from twinjit.cli.cache.stats import _REASONS
from twinjit.cli.cache.stores import unique_prefixes

SECRET = "an example of sixteen bytes or more"
GOLDEN = Path(__file__).parents[1] / "golden"
NOTHING = {
    "entries": 0,
    "bytes": 0,
    "max_bytes": 1024**3,
    "max_age": None,
    "since": None,
    "hits": {"memory": 0, "disk": 0, "shared": 0},
    "hit_rate": None,
    "compiled": 0,
    "uncacheable": 0,
    "misses": dict.fromkeys(get_args(twinjit.MissReason), 0),
    "puts": 0,
    "evictions": 0,
    "faults": 0,
    "shared": {
        "misses": dict.fromkeys(get_args(twinjit.MissReason), 0),
        "puts": 0,
        "faults": 0,
    },
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The cache's directory, which is not there yet."""
    monkeypatch.setenv("TWINJIT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def store(root):
    """The cache, with three entries that were not used for 1000, 2000 and 3000 seconds."""
    store = twinjit.DiskStore(root)
    for number in (1, 2, 3):
        store.put(numbered_artifact(number, 5000 * number))
        age(path_of(root, number), 1000 * number)
    store.put_direct(b"s" * 32, digest(1))
    store.account.flush()
    return store


@pytest.fixture
def compiled(root, ok, mlir, tmp_path):
    """The cache, with TWICE compiled into it; gives the key."""
    ok("compile", mlir(TWICE), "-o", tmp_path / "twice.o")
    (entry,) = twinjit.DiskStore(root).entries()
    return entry.key_digest.hex()


def digest(number):
    return numbered_artifact(number).key_digest


def path_of(root, number):
    name = digest(number).hex()
    return root / "v1" / "objects" / name[:2] / f"{name[2:]}.tj"


def age(path, seconds):
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def damage(root, number):
    path = path_of(root, number)
    path.write_bytes(path.read_bytes()[:-1])
    return path


# path, prune, clear


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
    age(left, 10 * 86400)
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


# stats


def test_stats_of_nothing(data, root):
    assert data("cache", "stats") == {"path": str(root), **NOTHING}


def test_stats_of_all_processes(root, data, ok, mlir):
    script = "import sys, twinjit; twinjit.compile(sys.argv[1])"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, TWICE], check=True)
    found = data("cache", "stats")
    assert found["hits"] == {"memory": 0, "disk": 1, "shared": 0}
    assert (found["compiled"], found["hit_rate"]) == (1, 0.5)
    assert found["misses"] == {**NOTHING["misses"], "absent": 1}
    assert (found["puts"], found["entries"], found["faults"]) == (1, 1, 0)
    assert abs(found["since"] - time.time()) < 600
    assert list(found) == ["path", *NOTHING]


COUNTS = {
    "memory": 5,
    "disk": 3,
    "shared": 1,
    "compiled": 3,
    "uncacheable": 1,
    "miss-evicted": 2,
    "miss-down": 1,
    "shared-miss-absent": 4,
    "shared-miss-unsigned": 1,
    "shared-puts": 3,
    "shared-faults": 1,
    "evictions": 7,
    "faults": 2,
}


@pytest.fixture
def counted(store):
    """The cache after many events."""
    for event, number in COUNTS.items():
        store.account.add(event, number)
    store.account.flush()


def test_stats_for_programs(counted, data):
    found = data("cache", "stats")
    assert found["hits"] == {"memory": 5, "disk": 3, "shared": 1}
    assert found["hit_rate"] == 0.75
    assert (found["compiled"], found["uncacheable"]) == (3, 1)
    assert found["misses"] == {**NOTHING["misses"], "evicted": 2, "down": 1}
    assert (found["puts"], found["evictions"], found["faults"]) == (3, 7, 2)
    assert found["bytes"] == 40 << 10


def test_stats_for_people(counted, ok, monkeypatch, root):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_AGE", "30d")
    printed = ok("cache", "stats")
    lines = [line.split(maxsplit=1) for line in printed.splitlines()]
    assert ["path", str(root)] in lines
    assert ["size", "40.0 KiB of 1.0 GiB"] in lines
    assert ["hits", "9 of 12 programs (75.0%)"] in lines
    assert ["memory", "5"] in lines
    assert ["misses", "3 lookups"] in lines
    assert ["evicted", "2 (removed to keep the bound)"] in lines
    assert ["faults", "2"] in lines
    assert "since 20" in printed
    assert "expired" not in printed
    assert "uncacheable" in printed


def test_every_reason_of_a_miss_is_told():
    assert set(_REASONS) == set(get_args(twinjit.MissReason))


def test_prometheus(counted, ok, data):
    text = ok("cache", "stats", "--prometheus")
    found = data("cache", "stats")
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert all(each.documentation for each in families.values())
    values = {
        (sample.name, *sample.labels.items()): sample.value
        for each in families.values()
        for sample in each.samples
    }
    prefix = "twinjit_cache_"
    counters = ("hits", "misses", "compiled", "uncacheable", "puts", "evictions", "faults")
    shared = ("shared_misses", "shared_puts", "shared_faults")
    gauges = ("entries", "bytes", "max_bytes")
    kinds = {name: each.type for name, each in families.items()}
    assert kinds == {f"{prefix}{name}": "counter" for name in (*counters, *shared)} | {
        f"{prefix}{name}": "gauge" for name in gauges
    }
    for tier, number in found["hits"].items():
        assert values.pop((f"{prefix}hits_total", ("tier", tier))) == number
    for reason, number in found["misses"].items():
        assert values.pop((f"{prefix}misses_total", ("reason", reason))) == number
    for reason, number in found["shared"]["misses"].items():
        assert values.pop((f"{prefix}shared_misses_total", ("reason", reason))) == number
    for name in ("puts", "faults"):
        assert values.pop((f"{prefix}shared_{name}_total",)) == found["shared"][name]
    for name in counters[2:]:
        assert values.pop((f"{prefix}{name}_total",)) == found[name]
    for name in gauges:
        assert values.pop((f"{prefix}{name}",)) == found[name]
    assert values == {}
    assert text.endswith("\n")


def test_reset(counted, ok, data, cli, root):
    assert ok("cache", "stats", "--reset") == ""
    found = data("cache", "stats")
    assert (found["hits"], found["misses"]) == (NOTHING["hits"], NOTHING["misses"])
    assert (found["entries"], found["puts"]) == (3, 0)
    assert cli("cache", "stats", "--reset", "--json").exit_code == 2
    (root / "v1" / "account").unlink()
    (root / "v1" / "account").mkdir()
    result = cli("cache", "stats", "--reset")
    assert result.exit_code == 3
    assert "cannot be written" in result.stderr


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
    name = entry[16:48].hex()
    path = root / "v1" / "objects" / name[:2] / f"{name[2:]}.tj"
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


# list


def test_list_of_nothing(ok, data, root):
    assert ok("cache", "list") == ""
    assert data("cache", "list") == {"path": str(root), "entries": [], "total": 0}


def test_list(compiled, data, ok, root):
    (entry,) = data("cache", "list")["entries"]
    path = root / "v1" / "objects" / compiled[:2] / f"{compiled[2:]}.tj"
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
    age(damage(root, 2), 2000)
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


# export, import


def test_a_bundle_warms_another_cache(compiled, ok, data, mlir, tmp_path):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    printed = ok("cache", "export", bundle)
    assert printed.startswith("wrote 1 entry and 1 direct record, ")
    assert ok("cache", "import", bundle, *other).startswith("took 2 files of ")
    report = data("run", mlir(TWICE), "--arg", 1, *other)["report"]
    assert report["tier"] == "disk"
    assert data("cache", "import", bundle, *other) == {
        "file": str(bundle),
        "path": str(tmp_path / "other"),
        "taken": 0,
        "present": 2,
        "refused": {},
    }


def test_some_keys_are_exported(store, data, cli, tmp_path):
    bundle = tmp_path / "bundle.tar"
    done = data("cache", "export", bundle, digest(1).hex()[:8], digest(3).hex())
    assert (done["entries"], done["records"], done["left_out"]) == (2, 1, {})
    assert done["bytes"] == bundle.stat().st_size
    assert data("cache", "import", bundle, "--cache", tmp_path / "other")["taken"] == 3
    assert cli("cache", "export", tmp_path / "no.tar", "0000").exit_code == 2
    assert not (tmp_path / "no.tar").exists()


def test_damaged_entries_are_not_exported(store, cli, root, tmp_path):
    damage(root, 1)
    result = cli("cache", "export", tmp_path / "bundle.tar")
    assert result.exit_code == 4
    assert f"left out  objects/{digest(1).hex()}.tj: damaged: " in result.stderr
    assert result.stdout.startswith("wrote 2 entries")


def test_signed_bundles(store, ok, fails, cli, tmp_path, monkeypatch):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    assert "TWINJIT_SHARED_SECRET_FILE" in fails(1, "cache", "export", bundle, "--sign")
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET)
    printed = ok("cache", "export", bundle, "--sign")
    assert SECRET not in printed
    assert SECRET.encode() not in bundle.read_bytes()
    assert ok("cache", "import", bundle, *other).startswith("took 4 files")
    result = cli("cache", "import", bundle, "--unsigned", "--cache", tmp_path / "third")
    assert result.exit_code == 4
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET[::-1])
    result = cli("cache", "import", bundle, "--cache", tmp_path / "third")
    assert result.exit_code == 4
    assert result.stdout.startswith("took 0 files")
    assert "signature does not match" in result.stderr


def test_unsigned_bundles_where_there_is_a_secret(store, ok, cli, tmp_path, monkeypatch):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    ok("cache", "export", bundle)
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET)
    result = cli("cache", "import", bundle, *other)
    assert result.exit_code == 4
    assert "is not signed" in result.stderr
    assert ok("cache", "import", bundle, "--unsigned", *other).startswith("took 4 files")


def test_a_bundle_that_is_cut_short(store, ok, fails, data, tmp_path):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    ok("cache", "export", bundle)
    bundle.write_bytes(bundle.read_bytes()[:-15000])
    message = fails(4, "cache", "import", bundle, *other)
    assert f"{bundle}: the bundle is cut short" in message
    assert data("cache", "stats", *other)["entries"] in (1, 2)


def test_files_that_are_no_bundle(fails, root, tmp_path):
    (tmp_path / "text").write_text("text" * 1000)
    assert "no bundle" in fails(4, "cache", "import", tmp_path / "text")
    missing = tmp_path / "missing.tar"
    assert str(missing) in fails(3, "cache", "import", missing)
    assert str(missing.parent) in fails(3, "cache", "export", tmp_path / "text" / "bundle.tar")


def test_a_name_in_a_bundle_commands_no_terminal(cli, root, tmp_path):
    with tarfile.open(tmp_path / "bundle.tar", "w", format=tarfile.USTAR_FORMAT) as bundle:
        bundle.addfile(tarfile.TarInfo("objects/\x1b[31mred"), io.BytesIO())
    result = cli("cache", "import", tmp_path / "bundle.tar")
    assert result.exit_code == 4
    assert "\\x1b[31mred" in result.stderr
    assert "\x1b" not in result.stderr


def test_entries_of_a_real_program_are_listed_after_an_import(ok, data, root, tmp_path):
    ok("compile", SAXPY, "-o", tmp_path / "f.o")
    ok("cache", "export", tmp_path / "bundle.tar")
    ok("cache", "clear")
    ok("cache", "import", tmp_path / "bundle.tar")
    (entry,) = data("cache", "list")["entries"]
    assert entry["functions"] == ["saxpy", "gcd"]
