"""``twinjit diff``, and the policies that commands take."""

from __future__ import annotations

import json

import pytest

import twinjit
from tests.cli.programs import SAXPY, TWICE

THRICE = (
    "func.func @twice(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n"
    "  %z = arith.addi %y, %x : i64\n  return %z : i64\n}"
)
RENAMED = TWICE.replace("@twice", "@double")
PRIVATE = (
    "func.func private @{name}() {{ return }}\n"
    "func.func @f() {{ call @{name}() : () -> () return }}"
)


@pytest.fixture
def differs(cli):
    """Run a diff of programs that differ; return what it printed."""

    def invoke(*arguments, **options):
        result = cli("diff", *arguments, **options)
        assert (result.exit_code, result.stderr) == (1, "")
        return result.stdout

    return invoke


def test_equal_programs(ok, mlir):
    a, b = mlir(TWICE), mlir(TWICE.replace("%x", "%renamed"), "b.mlir")
    assert ok("diff", a, b) == ""
    assert json.loads(ok("diff", a, b, "--json")) == twinjit.diff(a, b).to_data()


def test_different_programs(differs, mlir):
    a, b = mlir(TWICE, "a.mlir"), mlir(THRICE, "b.mlir")
    assert differs(a, b) == f"{twinjit.diff(a, b)}\n"
    assert "inserted @twice / region 0 / block 0 / operation 1 (arith.addi)\n" in differs(a, b)
    assert f"  [{b}:3:8]\n" in differs(a, b)
    assert differs(a, b, "-q") == differs(a, b, "--quiet") == ""
    data = json.loads(differs(a, b, "--json"))
    assert data == twinjit.diff(a, b).to_data()
    assert data["equal"] is False


def test_standard_input(ok, differs, mlir):
    a = mlir(TWICE)
    assert ok("diff", a, "-", input=TWICE) == ""
    assert "@twice → @double / symbol" in differs("-", mlir(RENAMED, "b.mlir"), input=TWICE)


def test_colours(differs, ok, mlir):
    a, b = mlir(TWICE), mlir(RENAMED, "b.mlir")
    coloured = differs(a, b, "--color", "always")
    assert "\x1b[31m- twice\x1b[0m" in coloured
    assert "\x1b[32m+ double\x1b[0m" in coloured
    assert "\x1b" not in differs(a, b)
    assert differs(a, b, "--color", "never") == differs(a, b)
    assert ok("diff", a, a, "--color", "always") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.mlir", SAXPY],
        [SAXPY, "nowhere.mlir"],
        ["-", SAXPY],
        ["--policy", "private_symbols=sometimes", SAXPY, SAXPY],
        ["--policy", "colour=red", SAXPY, SAXPY],
        ["--policy", "renamed", SAXPY, SAXPY],
        ["--policy", "{", SAXPY, SAXPY],
        ["--policy", "discardable=", SAXPY, SAXPY],
        ["--color", "red", SAXPY, SAXPY],
        ["-", "-"],
        [SAXPY],
        [],
    ],
)
def test_each_error_is_told_apart_from_a_difference(cli, arguments):
    result = cli("diff", *arguments, input="oops")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_traceback_on_request(cli):
    result = cli("--traceback", "diff", "nowhere.mlir", SAXPY)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_unregistered_dialects(cli, ok, mlir):
    program = mlir('"foo.bar"() : () -> ()')
    assert cli("diff", program, program).exit_code == 2
    assert ok("diff", "--allow-unregistered", program, program) == ""


def test_policies(ok, differs, mlir):
    a, b = mlir(PRIVATE.format(name="g")), mlir(PRIVATE.format(name="h"), "b.mlir")
    assert differs(a, b)
    for policy in ("private_symbols=rename", '{"private_symbols": "rename"}'):
        assert ok("diff", a, b, "--policy", policy) == ""
        first, second = (line.split()[0] for line in
                         ok("fingerprint", a, b, "--policy", policy).splitlines())  # fmt: skip
        expected = twinjit.fingerprint(a, twinjit.Policy(private_symbols="rename"))
        assert first == second == expected


def test_policies_of_several_settings(ok, mlir):
    program = mlir(TWICE)
    policy = twinjit.Policy(
        discardable={"a.b", "c.d"}, constants="lift", lift_bytes=64, commutative="ignore"
    )
    settings = ["discardable=a.b,c.d", "constants=lift", "lift_bytes=64", "commutative=keep"]
    options = [word for each in settings for word in ("--policy", each)]
    options += ["--policy", '{"commutative": "ignore"}']
    assert ok("fingerprint", program, *options).split()[0] == twinjit.fingerprint(program, policy)


def test_policies_that_mean_nothing(fails, mlir):
    assert "'--policy'" in fails(2, "fingerprint", mlir(TWICE), "--policy", "locations=maybe")


def test_standard_input_has_a_name(differs, mlir):
    a = mlir(TWICE)
    assert "[<stdin>:3:8]" in differs(a, "-", input=THRICE)
    (found, *_) = json.loads(differs("-", a, "--json", input=THRICE))["differences"]
    assert found["location_a"].startswith("<stdin>:")
