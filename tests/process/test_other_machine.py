"""Machines that share a cache and differ in CPU: the others are emulated by QEMU.

Debian's package is ``qemu-user``. QEMU's own code generator has no AVX-512, whatever the host, and
an instruction that the emulated CPU lacks ends the process as a real one does.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twinjit
from tests.missing import skip_or_fail
from tests.nightly import NIGHTLY
from twinjit import Target
from twinjit.artifact import decode, encode

QEMU = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")

TEXT = """func.func @f(%x: memref<16xf32>) {
  %zero = arith.constant 0 : index
  %v = vector.load %x[%zero] : memref<16xf32>, vector<16xf32>
  %w = arith.addf %v, %v : vector<16xf32>
  vector.store %w, %x[%zero] : memref<16xf32>, vector<16xf32>
  return
}"""
DOUBLED = [2.0 * number for number in range(16)]

# For each target named: where the code came from, and what it gave; or why there was none.
COMPILE = """
import json, sys, warnings
import numpy as np
import twinjit

warnings.simplefilter("ignore", twinjit.errors.CacheWarning)
cache, text, *names = sys.argv[1:]
for name in names:
    try:
        compiler = twinjit.Compiler(cache=cache, target=twinjit.Target.named(name))
        exe = compiler.compile(text)
        x = np.arange(16, dtype=np.float32)
        exe.f(x)
        print(json.dumps([exe.report.tier, x.tolist(), exe.key.hex]), flush=True)
    except twinjit.errors.TargetError as error:
        print(json.dumps(["refused", str(error), ""]), flush=True)
"""

# Run an artifact's code without a look at what it needs.
RUN_UNCHECKED = """
import sys
import numpy as np
from twinjit._native import _llvm
from twinjit.artifact import decode
from twinjit import machine
from twinjit.executable import LoadedCode

machine.check_runs_here = lambda artifact: None
with open(sys.argv[1], "rb") as file:
    code = LoadedCode(decode(file.read()), is_stored=False)
code.function("f")(np.arange(16, dtype=np.float32))
"""

pytestmark = [
    pytest.mark.skipif(
        "avx512f" not in Target.host().instruction_sets, reason="this CPU has no AVX-512"
    ),
]


def on(cpu: str, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    if QEMU is None:
        skip_or_fail("QEMU's user-mode emulation is not installed")
    command = [str(QEMU), "-cpu", cpu, sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def compile_on(cpu: str, cache: Path, *names: str) -> list[list[Any]]:
    ended = on(cpu, COMPILE, cache, TEXT, *names)
    # QEMU names the features of the CPU that it has no code for.
    errors = [line for line in ended.stderr.splitlines() if ": warning: TCG doesn't" not in line]
    assert (ended.returncode, errors) == (0, [])
    return [json.loads(line) for line in ended.stdout.splitlines()]


def compile_here(cache: Path, name: str) -> twinjit.Executable:
    return twinjit.Compiler(cache=cache, target=Target.named(name)).compile(TEXT)


def entry(cache: Path, key: str) -> Path:
    """Path of the entry whose key has these hexadecimal digits."""
    (found,) = (
        path
        for path in cache.rglob("*.tj")
        if decode(path.read_bytes()).key_digest == bytes.fromhex(key)
    )
    return found


CPUS = [("Nehalem", "x86-64-v2", "x86-64-v3"), ("Haswell", "x86-64-v3", "x86-64-v4")]


@pytest.mark.parametrize(("cpu", "level", "beyond"), CPUS if NIGHTLY else CPUS[:1])
def test_machines_that_share_a_cache(tmp_path, cpu, level, beyond):
    host = compile_here(tmp_path, "host")
    common = compile_here(tmp_path, level)
    compile_here(tmp_path, beyond)
    own, shared, refused = compile_on(cpu, tmp_path, "host", level, beyond)
    assert own[:2] == ["compiled", DOUBLED]
    assert own[2] != host.key.hex
    assert shared == ["disk", DOUBLED, common.key.hex]
    assert refused[0] == "refused"
    assert "which this CPU lacks" in refused[1]

    # This host's code, under the key that the other asks for.
    ours = decode(entry(tmp_path, host.key.hex).read_bytes())
    forged = entry(tmp_path, own[2])
    forged.write_bytes(encode(replace(ours, key_digest=bytes.fromhex(own[2]))))
    assert compile_on(cpu, tmp_path, "host", "host") == [own, ["disk", *own[1:]]]
    x = np.arange(16, dtype=np.float32)
    host.f(x)
    assert x.tolist() == DOUBLED


def test_code_of_another_machine_would_end_the_process(tmp_path):
    """What the check is for; and that the emulation does tell CPUs apart."""
    for name, code in (("host", -signal.SIGILL), ("x86-64-v2", 0)):
        file = tmp_path / name
        file.write_bytes(encode(compile_here(tmp_path / "cache", name)._code.artifact))
        assert on("Nehalem", RUN_UNCHECKED, file).returncode == code
