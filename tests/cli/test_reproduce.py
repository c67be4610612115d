"""``twinjit reproduce``."""

from __future__ import annotations

import json

import pytest

from tests.reproduction.fickle import DOUBLE, fickle


@pytest.fixture
def fault(monkeypatch):
    monkeypatch.setattr("twinjit.reproduction.modes.LocalBuilder", fickle())


def test_the_same(ok, mlir):
    path = mlir(DOUBLE)
    *modes, verdict = ok("reproduce", path, "--times", 1).splitlines()
    assert [line.split()[:2] for line in modes] == [
        [mode, "identical"] for mode in ("again", "fresh", "used", "thread", "process")
    ]
    assert verdict == f"identical: {path}, compiled 6 times"


def test_json(data):
    found = data("reproduce", "-", "--mode", "fresh", "--mode", "again", input=DOUBLE)
    assert (found["program"], found["identical"], found["compilations"]) == ("<stdin>", True, 5)
    assert [each["mode"] for each in found["outcomes"]] == ["again", "fresh"]


@pytest.mark.usefixtures("fault")
def test_different(cli, mlir):
    result = cli("reproduce", mlir(DOUBLE), "--mode", "again")
    assert (result.exit_code, result.stderr) == (1, "")
    first, *lines, verdict = result.stdout.splitlines()
    assert first.startswith("again    different: the code or data differs in section .text")
    assert any(line.startswith("  - ") for line in lines)
    assert verdict.startswith("different: ")


@pytest.mark.usefixtures("fault")
def test_different_as_json(cli, mlir):
    result = cli("reproduce", mlir(DOUBLE), "--mode", "again", "--json")
    assert result.exit_code == 1
    (outcome,) = json.loads(result.stdout)["outcomes"]
    assert outcome["difference"]["function"] == "double"
    assert outcome["difference"]["first"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mode", "later"], "give one or more of 'again'"),
        (["--pipeline", "no-such-pass"], "no-such-pass"),
        (["--language", "llvm"], ""),
    ],
)
def test_errors(fails, mlir, arguments, message):
    assert message in fails(2, "reproduce", mlir(DOUBLE), *arguments)


def test_a_file_that_is_not_there(fails):
    assert "nowhere.mlir" in fails(2, "reproduce", "nowhere.mlir")


def test_options_decide_the_code(data, mlir):
    path = mlir(DOUBLE)
    quick = ("--mode", "again", "--times", 1)
    keys = {
        data("reproduce", path, *quick, *options)["key"]
        for options in ([], ["-O", 0], ["--policy", "private_symbols=rename"])
    }
    assert len(keys) == 3
