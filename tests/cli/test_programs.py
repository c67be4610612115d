"""``twinjit compile`` and ``fingerprint``."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import twinjit
from tests.cli.programs import SAXPY, TWICE


def test_compile_json(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = data("compile", SAXPY)
    executable = twinjit.compile(Path(SAXPY))
    assert printed["output"] == "saxpy.o"
    assert Path("saxpy.o").read_bytes() == executable.object_code
    assert printed["key"] == executable.key.hex
    assert printed["report"]["object_bytes"] == len(executable.object_code)
    assert [each["name"] for each in printed["functions"]] == ["saxpy", "gcd"]
    assert printed["functions"][1] == {
        "name": "gcd",
        "signature": "gcd(arg0: i64, arg1: i64) -> i64",
        "arguments": ["i64", "i64"],
        "results": ["i64"],
        "uncallable": None,
    }


def test_a_link_leads_to_the_output(ok, tmp_path):
    (tmp_path / "link.o").symlink_to(tmp_path / "real.o")
    (tmp_path / "real.o").write_text("old")
    ok("compile", SAXPY, "-o", tmp_path / "link.o")
    assert (tmp_path / "link.o").is_symlink()
    assert (tmp_path / "real.o").read_bytes()[:4] == b"\x7fELF"


def test_a_device_is_written_and_not_replaced(ok, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    ok("compile", SAXPY, "-o", tmp_path / "pipe")
    assert reader.communicate()[0] == twinjit.compile(Path(SAXPY)).object_code
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("target", ["missing/f.o", "folder", "file/f.o"])
def test_output_that_cannot_be_written(fails, tmp_path, target):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    message = fails(3, "compile", SAXPY, "-o", tmp_path / target)
    assert message.startswith(f"twinjit: error: {tmp_path / target}: ")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path / "folder") == []


def test_a_failed_save_keeps_the_old_file(fails, ok, tmp_path, mlir):
    out = tmp_path / "x.npy"
    out.write_text("old")
    fails(1, "run", mlir('func.func @f(%x: i1) { cf.assert %x, "no good" return }'),
          "--arg", "false", "--show-arg", "0", "--out", out)  # fmt: skip
    assert out.read_text() == "old"


def test_fingerprint(ok, data, mlir):
    renamed = mlir(TWICE.replace("%x", "%argument"), "renamed.mlir")
    program = mlir(TWICE)
    expected = twinjit.fingerprint(TWICE)
    assert ok("fingerprint", program, renamed) == f"{expected}  {program}\n{expected}  {renamed}\n"
    assert data("fingerprint", program) == {
        "fingerprints": [{"file": str(program), "fingerprint": expected, "error": None}]
    }
    assert ok("fingerprint", "-", input=TWICE) == f"{expected}  -\n"


def test_fingerprint_goes_on_after_a_failure(cli, mlir):
    program = mlir(TWICE)
    broken = mlir("oops", "broken.mlir")
    result = cli("fingerprint", broken, program, "--json")
    assert result.exit_code == 1
    assert f"{broken}:1:1: error: " in result.stderr
    first, second = json.loads(result.stdout)["fingerprints"]
    assert (first["fingerprint"], first["file"]) == (None, str(broken))
    assert first["error"].startswith(f"cannot parse {broken}")
    assert second["fingerprint"] == twinjit.fingerprint(TWICE)
    assert cli("fingerprint", broken, "nowhere.mlir").exit_code == 3


def test_unregistered_dialects(fails, ok, mlir):
    program = mlir('"foo.bar"() : () -> ()')
    assert "unregistered dialect" in fails(1, "fingerprint", program)
    assert len(ok("fingerprint", "--allow-unregistered", program).split()[0]) == 64


@pytest.mark.parametrize("command", ["run", "compile", "explain", "fingerprint"])
def test_language(cli, tmp_path, command):
    program = tmp_path / "program.ll"
    program.write_text(f"{TWICE}\n")
    result = cli(command, program, "--language", "llvm")
    assert result.exit_code == 1
    assert "LLVM IR" in result.stderr
    assert cli(command, program, "--language", "cobol").exit_code == 2


def test_language_that_is_said(ok, tmp_path):
    program = tmp_path / "empty.ll"
    program.write_text("")
    said = [ok("fingerprint", program, "--language", language) for language in ("mlir", "llvm")]
    assert said[0] != said[1] == ok("fingerprint", program)
