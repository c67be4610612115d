"""``twinjit explain``, of one program and of two."""

from __future__ import annotations

import json

import pytest

import twinjit
from tests.cli.programs import SAXPY, TWICE


def test_explain(ok, data, mlir, tmp_path):
    program, cache = mlir(TWICE), tmp_path / "cache"
    before = data("explain", program, "--cache", cache)
    assert (before["hit"], before["tier"], before["direct"]) == (False, "compiled", False)
    assert not cache.exists()
    key = data("compile", program, "-o", tmp_path / "f.o", "--cache", cache)["key"]
    after = data("explain", program, "--cache", cache)
    assert after == {**before, "hit": True, "tier": "disk", "direct": True}
    assert list(after) == ["key", "parts", "hit", "tier", "direct", "uncacheable", "store"]
    assert (after["key"], after["store"]) == (key, str(cache))
    assert after["parts"][0] == ["mlir", {"hex": twinjit.fingerprint(TWICE)}]
    assert twinjit.Key.from_data(after["parts"]).hex == key
    respelled = mlir(TWICE.replace("%x", "%z"), "respelled.mlir")
    assert not data("explain", respelled, "--cache", cache)["direct"]


def test_explain_for_people(ok, mlir, tmp_path):
    program, cache = mlir(TWICE), tmp_path / "cache"
    printed = ok("explain", program, "--cache", cache)
    assert printed.splitlines()[0].split() == ["mlir", twinjit.fingerprint(TWICE)]
    assert printed.splitlines()[-1] == f"miss: not in {cache}"
    assert " characters)" in printed
    assert " characters)" not in ok("explain", program, "--full")
    assert ok("explain", program, "--cache", "off").endswith("miss: there is no disk cache\n")
    ok("compile", program, "-o", tmp_path / "f.o", "--cache", cache)
    printed = ok("explain", program, "--cache", cache)
    assert printed.splitlines()[-1] == f"hit: in {cache}, found without parsing the program"


THRICE = TWICE.replace("arith.addi", "arith.muli")
UNKNOWN = "func.func private @f() attributes {t.a = dense_resource<gone> : tensor<4xf32>}"


@pytest.fixture
def differs(cli):
    """Explain two that differ; return what was printed."""

    def invoke(*arguments, **options):
        result = cli("explain", *arguments, **options)
        assert (result.exit_code, result.stderr) == (1, "")
        return result.stdout

    return invoke


def test_two_with_the_same_key(ok, data, mlir):
    a, b = mlir(TWICE), mlir(TWICE.replace("%x", "%renamed"), "b.mlir")
    key = data("explain", a)["key"]
    first, *lookups = ok("explain", a, b).splitlines()
    assert first == f"the same key: {key}"
    assert [line.partition(": ")[0] for line in lookups] == [str(a), str(b)]
    found = data("explain", a, b)
    assert (found["same"], found["differences"]) == (True, [])
    assert list(found) == ["same", "differences", "a", "b", "store"]
    assert found["a"] == {"name": str(a), **_without_store(data("explain", a))}
    assert found["b"]["name"] == str(b)


def _without_store(explained):
    return {name: value for name, value in explained.items() if name != "store"}


def test_two_programs_that_differ(differs, data, mlir, ok, tmp_path):
    a, b = mlir(TWICE, "a.mlir"), mlir(THRICE, "b c.mlir")
    ok("compile", b, "-o", tmp_path / "b.o")
    header, line, key, count, lookup_a, lookup_b, advice = differs(a, b).splitlines()
    assert header.split(maxsplit=1)[0] == "part"
    assert header.endswith("b c.mlir")
    name, mine, theirs = line.split()
    assert name == "mlir"
    assert twinjit.fingerprint(TWICE).startswith(mine[:-1])
    assert twinjit.fingerprint(THRICE).startswith(theirs[:-1])
    assert mine[-1] == theirs[-1] == "…"
    assert key.split()[0] == "key"
    assert count == f"1 of {len(data('explain', a)['parts'])} parts differs"
    assert lookup_a.startswith(f"{a}: miss")
    assert lookup_b.startswith(f"{b}: hit")
    assert advice.endswith(f"this shows where: twinjit diff {a} '{b}'")
    found = json.loads(differs(a, b, "--json"))
    digests = [{"hex": twinjit.fingerprint(text)} for text in (TWICE, THRICE)]
    assert found["differences"] == [{"part": "mlir", "a": digests[0], "b": digests[1]}]
    assert (found["same"], found["b"]["hit"]) == (False, True)


def test_two_in_full(differs, mlir):
    printed = differs(mlir(TWICE), mlir(THRICE, "b.mlir"), "--full")
    assert f"mlir\n  - {twinjit.fingerprint(TWICE)}\n" in printed
    assert f"\n  + {twinjit.fingerprint(THRICE)}\n" in printed


def test_two_in_colours(differs, mlir):
    a, b = mlir(TWICE), mlir(THRICE, "b.mlir")
    coloured = differs(a, b, "--color", "always")
    assert "\x1b[31m" in coloured
    assert "\x1b[32m" in coloured
    assert "\x1b" not in differs(a, b)


def test_the_advice_takes_options_along(differs, mlir):
    options = ("--policy", "discardable=t.a,t.b", "--language", "mlir")
    advice = differs(mlir(TWICE), mlir(THRICE, "b.mlir"), *options).splitlines()[-1]
    assert advice.endswith("--language mlir --policy discardable=t.a,t.b")


@pytest.fixture
def stored(ok, mlir, tmp_path):
    """TWICE compiled at -O0; gives the key."""
    command = ("explain", mlir(TWICE), "-O0", "--json")
    ok("compile", mlir(TWICE), "-O0", "-o", tmp_path / "f.o")
    return json.loads(ok(*command))["key"]


def test_why_did_this_miss(stored, differs, ok, mlir):
    program = mlir(TWICE)
    found = json.loads(differs(program, f"key:{stored[:8]}", "--json"))
    assert found["differences"] == [{"part": "opt-level", "a": "3", "b": "0"}]
    assert found["b"]["key"] == stored
    printed = differs(program, f"key:{stored[:8]}").splitlines()
    assert printed[1].split() == ["opt-level", "3", "0"]
    assert printed[-1] == "the programs are the same; they differ in how they are compiled"
    assert printed[-2] == f"key:{stored[:8]}: stored"
    assert ok("explain", f"key:{stored}", program, "-O0").startswith("the same key")
    assert differs(mlir(THRICE), f"key:{stored}", "-O0").splitlines()[-1] == (
        "the programs themselves differ"
    )
    other_policy = differs(program, f"key:{stored}", "--policy", "discardable=ignore", "-O0")
    assert "the programs" not in other_policy


def test_long_parts_are_shown_where_they_differ(differs, ok, mlir, tmp_path):
    passes = ",".join(["canonicalize"] * 20)
    pipelines = [f"builtin.module({passes},{last},convert-to-llvm)" for last in ("cse", "sccp")]
    program = mlir(TWICE)
    ok("compile", program, "-o", tmp_path / "f.o", "--pipeline", pipelines[0])
    key = json.loads(ok("explain", program, "--pipeline", pipelines[0], "--json"))["key"]
    printed = differs(program, f"key:{key}", "--pipeline", pipelines[1])
    (line,) = (line for line in printed.splitlines() if line.startswith("pipeline "))
    assert ",sccp" in line
    assert ",cse" in line


def test_what_is_never_cached_shares_nothing(differs, mlir):
    program = mlir(UNKNOWN)
    assert json.loads(differs(program, program, "--json"))["same"] is False
    printed = differs(program, program)
    assert "never cached: 'func.func'" in printed
    last = "they would share no code, for what is never cached finds none\n"
    assert printed.endswith(last)
    pipeline = "builtin.module(transform-preload-library,convert-to-llvm)"
    reads_files = differs(mlir(TWICE, "b.mlir"), mlir(TWICE, "c.mlir"), "--pipeline", pipeline)
    assert reads_files.endswith(last)
    assert "the programs" not in reads_files


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.mlir", SAXPY],
        [SAXPY, "nowhere.mlir"],
        ["-", SAXPY],
        ["-", "-"],
        [SAXPY, "key:0000"],
        [SAXPY, "key:xyz"],
        [SAXPY, "key:0000", "--cache", "off"],
        [SAXPY, SAXPY, "--policy", "colour=red"],
        ["key:0000"],
    ],
)
def test_each_error_is_told_apart_from_a_difference(cli, arguments):
    result = cli("explain", *arguments, input="oops")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_settings_that_cannot_be_used_are_no_difference(cli, monkeypatch):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_BYTES", "much")
    assert cli("explain", SAXPY, SAXPY).exit_code == 2


def test_a_damaged_entry_is_no_difference(cli, stored, mlir):
    (entry,) = twinjit.DiskStore(twinjit.Settings.load().cache_dir).entries()
    with open(entry.path, "r+b") as file:
        file.truncate(100)
    result = cli("explain", mlir(TWICE), f"key:{stored}")
    assert result.exit_code == 2
    assert "damaged" in result.stderr


def test_one_from_standard_input(ok, mlir):
    assert ok("explain", "-", mlir(TWICE), input=TWICE).startswith("the same key")


def test_what_machines_share_is_named(ok, data, mlir, tmp_path, monkeypatch):
    shared = f"file://{tmp_path}/shared"
    monkeypatch.setenv("TWINJIT_SHARED_URL", shared)
    program, here, there = mlir(TWICE), tmp_path / "here", tmp_path / "there"
    printed = ok("explain", program, "--cache", here)
    assert printed.splitlines()[-1] == f"miss: not in {here}, nor in {shared}"
    ok("compile", program, "-o", tmp_path / "f.o", "--cache", there)
    printed = ok("explain", program, "--cache", here)
    assert printed.splitlines()[-1] == f"hit: in {shared}, found without parsing the program"
    assert data("explain", program, "--cache", here)["tier"] == "shared"
    printed = ok("explain", program, "--cache", "off")
    assert printed.splitlines()[-1] == f"hit: in {shared}, found without parsing the program"
