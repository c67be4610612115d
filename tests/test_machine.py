"""Artifacts say which machines they are for, and are not loaded on others."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import twinjit
from tests.samples import with_sections
from twinjit import Target, machine
from twinjit.artifact import Artifact, encode
from twinjit.errors import ArtifactError, ArtifactMachineError, CacheWarning
from twinjit.toolchain import TOOLCHAIN

HOST = Target.host()
TEXT = "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}\n"


def artifact_of(target: Target = HOST) -> Artifact:
    return twinjit.Compiler(cache=False, target=target).compile(TEXT)._code.artifact


def with_target(artifact: Artifact, section: bytes) -> Artifact:
    return with_sections(artifact, {"target": section}, listed=True)


def changed(**values: Any) -> Artifact:
    artifact = artifact_of()
    return with_target(artifact, json.dumps({**artifact.target, **values}).encode())


def test_what_an_artifact_says():
    target = Target.named("host")
    assert artifact_of().target == {
        "triple": target.triple,
        "cpu": target.cpu,
        "features": target.features,
        "instruction_sets": list(target.instruction_sets),
        "toolchain": dict(TOOLCHAIN),
    }
    assert {"libLLVM", "libMLIR", "_llvm", "_mlir"} == set(artifact_of().target["toolchain"])


def test_what_runs_here():
    machine.check_runs_here(artifact_of())
    machine.check_runs_here(artifact_of(Target.baseline("x86-64")))
    machine.check_runs_here(changed(cpu="of-no-account", features="+neither"))
    machine.check_runs_here(changed(instruction_sets=["sse2", "64bit", "cmov"]))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"triple": "aarch64-unknown-linux-gnu"}, "its triple is aarch64"),
        ({"triple": "x86_64-pc-windows-msvc"}, "its triple is x86_64-pc-windows-msvc"),
        ({"triple": "x86_64-unknown-linux-musl"}, "its triple is .*musl"),
        ({"triple": ""}, "its triple is ,"),
        ({"instruction_sets": ["sse2", "xop", "fma4"]}, "CPU feature '(xop|fma4)'"),
        ({"instruction_sets": ["of-the-future"]}, "CPU feature 'of-the-future'"),
        ({"toolchain": {**dict(TOOLCHAIN), "libLLVM": "abad1dea"}}, "build abad1dea of libLLVM"),
        ({"toolchain": {**dict(TOOLCHAIN), "_llvm": "abad1dea"}}, "build abad1dea of _llvm"),
        ({"toolchain": {}}, "build None of libLLVM"),
    ],
)
def test_what_does_not_run_here(values, why):
    for _ in range(2):  # the second answer is remembered
        with pytest.raises(ArtifactMachineError, match=why):
            machine.check_runs_here(changed(**values))


@pytest.mark.parametrize(
    "section",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"triple": 1, "instruction_sets": [], "toolchain": {}}',
        b'{"triple": "", "instruction_sets": {}, "toolchain": {}}',
        b'{"triple": "", "instruction_sets": [1], "toolchain": {}}',
        b'{"triple": "", "instruction_sets": [], "toolchain": []}',
    ],
)
def test_an_artifact_that_does_not_say(section):
    with pytest.raises(ArtifactError) as caught:
        machine.check_runs_here(with_target(artifact_of(), section))
    assert not isinstance(caught.value, ArtifactMachineError)


def test_distinct_sections_are_judged_once():
    machine._why_not_here.cache_clear()
    for _ in range(3):
        machine.check_runs_here(artifact_of())
    assert machine._why_not_here.cache_info().misses == 1


def test_an_entry_of_another_machine_is_a_miss(tmp_path):
    """As if the key did not tell: its code is never mapped, and it is replaced."""
    compiler = twinjit.Compiler(cache=tmp_path)
    compiler.compile(TEXT)
    (entry,) = (path for path in tmp_path.rglob("*") if path.suffix == ".tj")
    entry.write_bytes(encode(changed(instruction_sets=["of-the-future"])))
    other = twinjit.Compiler(cache=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        exe = other.compile(TEXT)
    assert (exe.f(4), exe.report.tier) == (8, "compiled")
    assert twinjit.Compiler(cache=tmp_path).compile(TEXT).report.tier == "disk"
