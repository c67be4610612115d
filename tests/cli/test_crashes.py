"""``twinjit reproduce-crash``."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests.workers.jobs import ASSERTION, IDENTITY, job
from twinjit.workers.crash_folder import save_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.isolated import compile_isolated


@pytest.fixture
def save(tmp_path):
    return lambda made: save_reproducer(made, str(tmp_path / "crashes"))


@pytest.fixture
def crash(save):
    found = compile_isolated(job(ASSERTION))
    return save(job(ASSERTION, ending=found.ending))


def test_the_same(ok, crash):
    recorded, now, verdict = ok("reproduce-crash", crash).splitlines()
    assert recorded.startswith("recorded  SIGABRT in phase ")
    assert "llvm/lib/IR/Globals.cpp:491" in recorded
    assert now == recorded.replace("recorded  ", "now       ")
    assert verdict == "it crashed in the same way"


def test_json(data, crash):
    found = data("reproduce-crash", crash)
    assert list(found) == ["outcome", "recorded", "found", "output", "warnings"]
    assert (found["outcome"], found["found"], found["warnings"]) == ("same", found["recorded"], [])
    assert "Assertion `InitVal" in found["output"]


@pytest.mark.parametrize(
    ("program", "code", "outcome"),
    [(ASSERTION, 5, "other"), (IDENTITY, 1, "compiled"), ("func.func", 1, "refused")],
)
def test_anything_else(cli, save, program, code, outcome):
    path = save(job(program, ending=Ending("SIGFPE")))
    result = cli("reproduce-crash", path, "--json")
    assert (result.exit_code, json.loads(result.stdout)["outcome"]) == (code, outcome)
    assert cli("reproduce-crash", path).exit_code == code


def test_no_time(cli, save):
    result = cli("reproduce-crash", save(job(IDENTITY)), "--timeout", "0.001")
    assert result.exit_code == 1
    assert result.stdout.endswith("it did not end in time\n")


def test_other_builds(cli, save):
    made = job(IDENTITY)
    path = save(dataclasses.replace(made, toolchain={**made.toolchain, "libLLVM": "00"}))
    result = cli("reproduce-crash", path)
    assert result.stderr.startswith("warning: libLLVM is build ")


def test_what_cannot_be_read(fails, save, tmp_path):
    assert "No such file" in fails(3, "reproduce-crash", tmp_path / "missing")
    assert "is not a reproducer" in fails(4, "reproduce-crash", tmp_path)
    path = save(job(IDENTITY))
    with open(f"{path}/crash.json", "a") as file:
        file.write("}")
    assert "crash.json: this is not JSON" in fails(4, "reproduce-crash", path)


def test_no_terminal_obeys_what_a_reproducer_says(cli, save):
    made = job(IDENTITY, ending=Ending("SIGSEGV", cause="\x1b[2J\x07"))
    path = save(dataclasses.replace(made, toolchain={"lib\x1b[2J": "00"}))
    result = cli("reproduce-crash", path)
    assert result.exit_code == 1
    assert (result.stdout + result.stderr).replace("\n", "").isprintable()
