"""What goes wrong, the message it gives, and the exit code; and what help says of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

import twinjit
from tests.cli.programs import EXAMPLES, MLP, SAXPY, TWICE
from tests.jobs.programs import takes_long, wait_for

CACHE_COMMANDS = (
    "path", "stats", "list", "show", "verify", "prune", "clear", "export", "import",
)  # fmt: skip


def test_unparsable_file(fails, mlir):
    broken = mlir("func.func @f() {\n  oops\n}")
    for command in (["run"], ["compile", "-o", "f.o"], ["fingerprint"], ["explain"]):
        message = fails(1, *command, broken)
        assert message.startswith(f"twinjit: error: cannot parse {broken} as MLIR\n")
        assert f"\n  {broken}:2:3: error: " in message


@pytest.mark.parametrize("command", ["run", "compile", "fingerprint", "explain"])
def test_missing_file(fails, command):
    message = fails(3, command, "nowhere.mlir")
    assert message == "twinjit: error: nowhere.mlir: No such file or directory\n"


def test_a_folder_is_no_program(fails, tmp_path):
    assert fails(3, "run", tmp_path) == f"twinjit: error: {tmp_path}: Is a directory\n"


def test_entry(fails, ok, mlir):
    message = fails(1, "run", SAXPY, "--entry", "nope")
    assert (
        message == "twinjit: error: the program has no public function 'nope'; it has saxpy, gcd\n"
    )
    assert "the program has saxpy, gcd" in fails(2, "run", SAXPY)
    assert "none at all" in fails(2, "run", mlir(""))
    vector = "func.func @v(%x: vector<4xf32>) -> vector<4xf32> { return %x : vector<4xf32> }\n"
    program = mlir(vector + TWICE)
    assert ok("run", program, "--arg", "4", "-q") == "8\n"
    assert "vector<4xf32>" in fails(1, "run", program, "--entry", "v")


def test_unresolved_symbol(fails, mlir, tmp_path):
    program = mlir(
        "func.func private @nowhere(i64) -> i64\nfunc.func @f(%x: i64) -> i64 {\n"
        "  %y = call @nowhere(%x) : (i64) -> i64\n  return %y : i64\n}"
    )
    assert "'nowhere'" in fails(1, "run", program, "--arg", "1")
    assert "'nowhere'" in fails(1, "compile", program, "-o", tmp_path / "f.o")
    assert os.listdir(tmp_path) == ["program.mlir"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "2 arguments are expected, but 0 were given"),
        (["1"], "2 arguments are expected, but 1 was given"),
        (["1", "2.5"], "argument 1 must be i64"),
        (["1", "4xf32=ones"], "argument 1 must be i64"),
        (["1", f"{EXAMPLES / 'mlp.npz'}:nope"], "nope is not a file in the archive"),
        (["1", "99999999999xi64=ones"], "Unable to allocate"),
    ],
)
def test_arguments_that_do_not_fit(fails, arguments, message):
    specs = [word for argument in arguments for word in ("--arg", argument)]
    assert message in fails(1, "run", SAXPY, "--entry", "gcd", *specs)


def test_a_shape_that_cannot_be_inferred(fails):
    specs = ["--arg", "1", "--arg", "random", "--arg", "4xf32=1", "--arg", "4xf32=1"]
    message = fails(1, "run", SAXPY, "--entry", "saxpy", *specs)
    assert "give it in the form Nxf32=random" in message


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_array(fails, tmp_path, content):
    (tmp_path / "x.npy").write_bytes(content)
    message = fails(1, "run", MLP, "--arg", tmp_path / "x.npy")
    assert f"cannot read an array from {tmp_path / 'x.npy'}" in message
    assert "allow_pickle" not in message
    assert fails(3, "run", MLP, "--arg", tmp_path / "y.npy").startswith("twinjit: error: ")


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "x",
        "random:",
        "random:-1",
        "4xf8=1",
        "4xf32=x",
        "4x=1",
        "x.npz",
        "x.npz:",
        "4=1",
        "xf32=1",
    ],
)
def test_specs_that_mean_nothing(fails, spec):
    assert "Invalid value for '--arg'" in fails(2, "run", SAXPY, "--arg", spec)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frob"],
        ["run"],
        ["run", SAXPY, "-O4"],
        ["run", SAXPY, "--repeat", "0"],
        ["run", MLP, "--arg", "random", "--show-arg", "1"],
        ["run", MLP, "--arg", "random", "--out", "a.npy", "--save", "b"],
        ["run", MLP, "--arg", "random", "--show-arg", "0", "--out", "a.npy"],
        ["run", MLP, "--cache", ""],
        ["compile", "-"],
        ["compile", SAXPY, "-o", "-", "--json"],
        ["cache", "prune", "--max-size", "12Q"],
    ],
)
def test_usage_errors(cli, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = cli(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.output
    assert os.listdir(tmp_path) == []


def test_settings_that_cannot_be_used(fails, monkeypatch):
    monkeypatch.setenv("TWINJIT_CACHE_MAX_BYTES", "much")
    assert "TWINJIT_CACHE_MAX_BYTES" in fails(1, "cache", "stats")


def test_ctrl_c(mlir, tmp_path):
    """Once it compiles, which its trace tells."""
    trace, output = tmp_path / "trace.json", tmp_path / "f.o"
    command = [sys.executable, "-m", "twinjit", "compile", mlir(takes_long(3000)), "-o", output]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TWINJIT_TRACE": str(trace)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    wait_for(trace.exists)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == b""
    assert process.returncode == 130
    assert not output.exists()


def test_traceback_on_request(cli):
    result = cli("--traceback", "explain", "nowhere.mlir")
    assert result.exit_code == 3
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("twinjit: error: nowhere.mlir: No such file or directory\n")


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["compile"],
        ["fingerprint"],
        ["diff"],
        ["explain"],
        ["config"],
        ["reproduce-crash"],
        ["cache"],
        *(["cache", command] for command in CACHE_COMMANDS),
    ],
)
def test_help(ok, command):
    assert "Usage: " in ok(*command, "--help")


def test_the_docs_know_every_option_and_exit_code(ok):
    docs = (EXAMPLES.parent / "docs" / "cli.md").read_text()
    assert "Exit codes: 0 success; 1 " in ok("--help")
    assert re.findall(r"^\| (\d) \|", docs, re.MULTILINE) == ["0", "1", "2", "3", "4"]
    for command in (
        "run",
        "compile",
        "fingerprint",
        "diff",
        "explain",
        "config",
        "reproduce-crash",
        *(f"cache {command}" for command in CACHE_COMMANDS),
    ):
        for option in re.findall(
            r"^ +(?:-\w, )?(--[a-z-]+)", ok(*command.split(), "--help"), re.MULTILINE
        ):
            assert option in docs or option in ("--output", "--quiet"), option


def test_version(ok):
    assert ok("--version") == f"twinjit {twinjit.__version__}\n"
