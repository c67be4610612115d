"""``--policy`` and ``--confirm``."""

from __future__ import annotations

import pytest

import twinjit

PRIVATE = """
func.func @f(%x: i64) -> i64 {
  %y = call @g(%x) : (i64) -> i64
  return %y : i64
}
func.func private @g(%x: i64) -> i64 {
  %y = arith.addi %x, %x : i64
  return %y : i64
}"""


@pytest.fixture
def programs(mlir):
    return mlir(PRIVATE, "a.mlir"), mlir(PRIVATE.replace("@g", "@h"), "b.mlir")


def test_a_policy_merges_programs(data, programs, tmp_path):
    options = ("--policy", "private_symbols=rename", "--cache", tmp_path / "cache")
    results = [data("run", program, "--arg", 21, *options) for program in programs]
    assert [result["report"]["tier"] for result in results] == ["compiled", "disk"]
    assert [result["outputs"][0]["value"] for result in results] == [42, 42]
    keys = {data("compile", p, "-o", tmp_path / "f.o", *options)["key"] for p in programs}
    explained = data("explain", programs[1], *options)
    assert keys == {explained["key"]}
    policy = twinjit.Policy(private_symbols="rename")
    assert ["policy", policy.text] in explained["parts"]
    plain = data("explain", programs[1], "--cache", tmp_path / "cache")
    assert plain["tier"] == "compiled"


@pytest.mark.parametrize("command", ["run", "compile", "explain"])
def test_a_policy_that_is_none(cli, programs, command):
    result = cli(command, programs[0], "--policy", "locations=perhaps")
    assert result.exit_code == 2
    assert "'perhaps'" in result.stderr


def test_confirm(data, programs, tmp_path):
    cache = ("--cache", tmp_path / "cache")
    tiers = [
        data("run", programs[0], "--arg", 1, *cache, *options)["report"]["tier"]
        for options in [(), (), ("--confirm", "always"), ("--confirm", "always")]
    ]
    assert tiers == ["compiled", "disk", "compiled", "disk"]
    explained = data("explain", programs[0], *cache, "--confirm", "always")
    assert (explained["tier"], explained["direct"]) == ("disk", False)


def test_confirm_takes_two_words(cli, programs):
    result = cli("run", programs[0], "--confirm", "sometimes")
    assert result.exit_code == 2
    assert "'sometimes'" in result.stderr


def test_explain_says_what_has_no_identity(ok, data, mlir):
    program = mlir("func.func private @f() attributes {t.a = dense_resource<gone> : tensor<4xf32>}")
    assert "'gone'" in data("explain", program)["uncacheable"]
    last = ok("explain", program).splitlines()[-1]
    assert last.startswith("never cached: 'func.func'")
