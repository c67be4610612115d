"""The command as users start it: what it loads, and what happens to its streams."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import twinjit
from tests.cli.programs import MLP, SAXPY, TWICE


def process(*arguments, **options):
    """Run a command as users do."""
    command = [sys.executable, "-m", "twinjit", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, **options)


def test_run_cold_and_warm():
    for tier in (b"compiled in", b"disk in"):
        done = process("run", SAXPY, "--entry", "gcd", "--arg", "252", "--arg", "-105")
        assert (done.returncode, done.stdout) == (0, b"21\n")
        assert done.stderr.startswith(tier)


@pytest.mark.usefixtures("hits_unchecked")
def test_a_hit_loads_no_mlir():
    script = (
        "import sys\nfrom twinjit.cli import main\n"
        "try: main()\nexcept SystemExit as end: code = end.code\n"
        "print(code, 'twinjit._native._mlir' in sys.modules)"
    )
    command = [sys.executable, "-c", script, "run", SAXPY, "--entry", "gcd", "-q"]
    command += ["--arg", "12", "--arg", "18"]
    printed = [subprocess.check_output(command, text=True).split() for _ in range(2)]
    assert printed == [["6", "0", "True"], ["6", "0", "False"]]


def test_the_library_loads_neither_typer_nor_rich():
    script = "import sys, twinjit; print({'typer', 'rich'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", script]) == b"set()\n"


def test_standard_input():
    done = process("run", "-", "--arg", "21", "-q", input=TWICE.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"42\n", b"")
    done = process("run", "-", input=b"func.func @f(")
    assert done.returncode == 1
    assert done.stderr == (
        b"twinjit: error: cannot parse <stdin> as MLIR\n"
        b"  <stdin>:1:13: error: expected non-function type\n"
        b"    func.func @f(\n"
        b"                ^\n"
    )


def test_compile_writes_the_object_and_nothing_else(tmp_path):
    done = process("compile", "-", "-o", tmp_path / "twice.o", input=TWICE.encode())
    assert (done.returncode, done.stdout) == (0, b"")
    assert os.listdir(tmp_path) == ["twice.o"]
    assert (tmp_path / "twice.o").read_bytes() == twinjit.compile(TWICE).object_code


def test_object_on_standard_output():
    done = process("compile", SAXPY, "-o", "-")
    assert done.stdout == twinjit.compile(Path(SAXPY)).object_code


def test_a_full_disk_leaves_no_partial_file(tmp_path):
    twinjit.compile(Path(MLP))  # so that only the object file meets the limit

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    target = tmp_path / "mlp.o"
    done = process("compile", MLP, "-o", target, preexec_fn=limit)
    assert done.returncode == 3
    assert done.stderr.decode() == f"twinjit: error: {target}: File too large\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_is_full(unbuffered):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "twinjit", "fingerprint", SAXPY]
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, env=env)
    assert done.returncode == 3
    assert done.stderr == b"twinjit: error: No space left on device\n"
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["fingerprint", SAXPY], 0), (["diff", SAXPY, SAXPY], 0), (["diff", SAXPY, MLP, "--json"], 1)],
)
def test_standard_streams_that_are_closed(arguments, code):
    command = shlex.join([sys.executable, "-m", "twinjit", *map(str, arguments)])
    done = subprocess.run(["sh", "-c", f"{command} <&- >&-"], check=False, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (code, b"")


def test_differences_to_standard_input_say_so():
    done = process("diff", "-", SAXPY, input=TWICE.encode())
    assert done.returncode == 1
    assert b"[<stdin>:" in done.stdout
    assert b"<bytes>" not in done.stdout
    found = json.loads(process("diff", SAXPY, "-", "--json", input=TWICE.encode()).stdout)
    assert any(each["location_b"].startswith("<stdin>:") for each in found["differences"])


@pytest.mark.parametrize("command", [["fingerprint"], ["explain"], ["explain", "--json"]])
def test_a_reader_that_went_away(command):
    arguments = [sys.executable, "-m", "twinjit", *command, SAXPY]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 1


def test_an_unusable_cache_is_a_warning(tmp_path):
    (tmp_path / "file").touch()
    done = process(
        "run", "-", "--arg", "1", "--cache", tmp_path / "file", "-q", input=TWICE.encode()
    )
    assert (done.returncode, done.stdout) == (0, b"2\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith(b"twinjit: warning: ")
    assert process("cache", "stats", "--cache", tmp_path / "file").returncode == 3
