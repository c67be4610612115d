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
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twinjit
from tests.missing import skip_or_fail
from tests.nightly import NIGHTLY
from tests.samples import with_sections
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

# For each pair of a cache and a target's name: where the code came from, what it gave, its key, and
# why it was missed; or why there was none. All in one process, since it takes many seconds there to
# load MLIR.
COMPILE = """
import json, sys, warnings
import numpy as np
import twinjit

warnings.simplefilter("ignore", twinjit.errors.CacheWarning)
text, *wanted = sys.argv[1:]
for cache, name in zip(wanted[::2], wanted[1::2]):
    try:
        compiler = twinjit.Compiler(cache=cache, target=twinjit.Target.named(name))
        exe = compiler.compile(text)
        x = np.arange(16, dtype=np.float32)
        exe.f(x)
        missed = list(compiler.store.stats().reasons)
        print(json.dumps([exe.report.tier, x.tolist(), exe.key.hex, missed]), flush=True)
    except twinjit.errors.TargetError as error:
        print(json.dumps(["refused", str(error)]), flush=True)
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


def compile_on(cpu: str, *wanted: tuple[Path, str]) -> list[list[Any]]:
    ended = on(cpu, COMPILE, TEXT, *(word for pair in wanted for word in pair))
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
    good, forged = tmp_path / "good", tmp_path / "forged"
    host = compile_here(good, "host")
    common = compile_here(good, level)
    compile_here(good, beyond)
    # This host's code, in an entry of a key that the other asks for.
    key = compile_here(forged, level).key.hex
    ours = decode(entry(good, host.key.hex).read_bytes())
    sections = {name: ours.section(name) for name in ("object", "target")}
    path = entry(forged, key)
    path.write_bytes(encode(with_sections(decode(path.read_bytes()), sections, listed=True)))

    own, shared, refused, healed, kept = compile_on(
        cpu, (good, "host"), (good, level), (good, beyond), (forged, level), (forged, level)
    )
    assert own == ["compiled", DOUBLED, own[2], ["absent"]]
    assert own[2] != host.key.hex
    assert shared == ["disk", DOUBLED, common.key.hex, []]
    assert refused[0] == "refused"
    assert "which this CPU lacks" in refused[1]
    assert healed == ["compiled", DOUBLED, key, ["machine", "absent"]]
    assert kept == ["disk", DOUBLED, key, []]
    x = np.arange(16, dtype=np.float32)
    host.f(x)
    assert x.tolist() == DOUBLED


def test_code_of_another_machine_would_end_the_process(tmp_path):
    """What the check is for; and that the emulation does tell CPUs apart."""
    for name, code in (("host", -signal.SIGILL), ("x86-64-v2", 0)):
        file = tmp_path / name
        file.write_bytes(encode(compile_here(tmp_path / "cache", name)._code.artifact))
        assert on("Nehalem", RUN_UNCHECKED, file).returncode == code
