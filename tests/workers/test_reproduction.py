"""Programs that crash, and crash again."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import twinjit
from tests.workers.jobs import (
    ASSERTION,
    FATAL_ERROR,
    IDENTITY,
    LARGE,
    STACK_OVERFLOW,
    bytecode,
    job,
)
from twinjit.errors import ConfigError, ExecutorError, ReproducerError
from twinjit.workers.crash_folder import save_reproducer
from twinjit.workers.ending import Ending
from twinjit.workers.isolated import compile_isolated
from twinjit.workers.limits import Limits
from twinjit.workers.protocol import RecordedBundle
from twinjit.workers.reproducer import Reproducer

CRASHES: dict[str, tuple[Reproducer, Ending]] = {
    "assertion": (
        job(ASSERTION),
        Ending(
            "SIGABRT",
            cause='Assertion `InitVal->getType() == Ty && "Initializer should be the same type as '
            "the GlobalVariable!\"' failed at llvm/lib/IR/Globals.cpp:491",
        ),
    ),
    "fatal error": (
        job(FATAL_ERROR),
        Ending("SIGABRT", cause="LLVM ERROR: unsupported library call operation"),
    ),
    "stack overflow": (
        job(STACK_OVERFLOW),
        Ending("SIGSEGV", is_stack_overflow=True, phase="parse"),
    ),
    "memory": (
        job(LARGE, limits=Limits(memory_bytes=8 << 20)),
        Ending(exit_status=112, is_out_of_memory=True, phase="parse"),
    ),
    "memory of a damaged program": (
        job(bytecode((165, 0))),
        Ending(exit_status=112, is_out_of_memory=True, phase="parse"),
    ),
    "damaged bytecode": (
        job(bytecode((75, 0))),
        Ending(
            "SIGABRT",
            phase="parse",
            cause="Assertion `isValid' failed at mlir/lib/IR/BuiltinAttributes.cpp:1356",
        ),
    ),
}


def crashed(name: str) -> Reproducer:
    """The job of a crash, with the crash as it is found."""
    made, _ = CRASHES[name]
    found = compile_isolated(made)
    assert found.ending is not None
    return dataclasses.replace(made, ending=found.ending, output=found.output)


@pytest.mark.parametrize("name", CRASHES)
def test_each_crash_comes_back(name: str, tmp_path: Path) -> None:
    expected = CRASHES[name][1]
    recorded = crashed(name)
    # Where in the middle of a compilation is noted by the native core.
    phase = expected.phase or recorded.ending.phase
    assert dataclasses.replace(recorded.ending, pass_name="") == dataclasses.replace(
        expected, phase=phase
    )
    assert expected.cause.partition("`")[2].partition("'")[0] in recorded.output
    found = twinjit.reproduce_crash(save_reproducer(recorded, str(tmp_path / "crashes")))
    assert found.is_same
    assert found.recorded == found.found == str(recorded.ending)
    assert found.warnings == ()


def reproduce(made: Reproducer, tmp_path: Path, **options: Any) -> twinjit.Reproduction:
    return twinjit.reproduce_crash(save_reproducer(made, str(tmp_path / "crashes")), **options)


@pytest.mark.parametrize(
    "changes",
    [{"signal": "SIGSEGV"}, {"phase": "codegen"}, {"cause": "other"}, {"is_stack_overflow": True}],
)
def test_another_crash(changes: dict[str, Any], tmp_path: Path) -> None:
    recorded = crashed("damaged bytecode")
    other = dataclasses.replace(recorded, ending=dataclasses.replace(recorded.ending, **changes))
    found = reproduce(other, tmp_path)
    assert (found.outcome, found.is_same) == ("other", False)
    assert found.found == str(recorded.ending)
    assert found.recorded == str(other.ending)


def test_memory_runs_out_anywhere(tmp_path: Path) -> None:
    made, ending = CRASHES["memory"]
    other = dataclasses.replace(made, ending=dataclasses.replace(ending, phase="codegen"))
    assert reproduce(other, tmp_path).is_same


@pytest.mark.parametrize("megabytes", range(4, 20, 2))
def test_many_operations_and_little_memory(megabytes: int) -> None:
    lines = (f"%a{each + 1} = arith.muli %a{each}, %a0 : i64" for each in range(30_000))
    program = "func.func @f(%a0: i64) -> i64 {" + "\n".join(lines) + "\nreturn %a30000 : i64 }"
    found = compile_isolated(job(program, limits=Limits(megabytes << 20)))
    assert found.ending is not None
    assert found.ending.is_out_of_memory, found


def test_no_crash(tmp_path: Path) -> None:
    ending = Ending("SIGSEGV")
    compiled = reproduce(job(IDENTITY, ending=ending), tmp_path)
    assert (compiled.outcome, compiled.recorded, compiled.found) == ("compiled", "SIGSEGV", "")
    refused = reproduce(job("func.func @f(", ending=ending), tmp_path)
    assert refused.outcome == "refused"
    assert "<text>:1:13: error" in refused.found


def test_one_that_never_ends(tmp_path: Path) -> None:
    never_ends = job(bytecode((58, 1)), ending=Ending("SIGSEGV"))
    found = reproduce(never_ends, tmp_path, timeout=2)
    assert (found.outcome, found.is_same) == ("timeout", False)
    assert "did not end in 2 s" in found.found


@pytest.mark.parametrize("timeout", [float("inf"), 1e300, 10**300])
def test_all_the_time_there_is(timeout: float, tmp_path: Path) -> None:
    assert reproduce(job(IDENTITY), tmp_path, timeout=timeout).outcome == "compiled"


@pytest.mark.parametrize("timeout", [float("nan"), "1", 10**400])
def test_what_is_no_time(timeout: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give seconds, or None"):
        reproduce(job(IDENTITY), tmp_path, timeout=timeout)


def test_what_in_the_search_path_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [tmp_path, *sys.path, None, b"/bytes"])
    assert reproduce(job(IDENTITY), tmp_path).outcome == "compiled"


def test_other_builds_are_warned_of(tmp_path: Path) -> None:
    here = job(IDENTITY)
    builds = {**here.toolchain, "libLLVM": "00", "libOld": "01"}
    found = reproduce(dataclasses.replace(here, toolchain=builds), tmp_path)
    assert found.warnings == (
        f"libLLVM is build {here.toolchain['libLLVM']} here, and was 00",
        "libOld is build none here, and was 01",
    )


def test_a_program_of_another_package(tmp_path: Path) -> None:
    bundle = RecordedBundle("jaxlib", "jaxlib 9.9")
    made = job('"no.such"() : () -> ()', ending=Ending("SIGABRT"), bundle=bundle)
    found = reproduce(made, tmp_path)
    assert found.outcome == "refused"
    assert "the program of jaxlib 9.9 has dialects" in found.found


def test_damage_is_one_exception(tmp_path: Path) -> None:
    path = Path(save_reproducer(job(IDENTITY), str(tmp_path / "crashes")))
    (path / "program.mlir").write_text("module {}")
    with pytest.raises(ReproducerError, match="it was changed since"):
        twinjit.reproduce_crash(path)


def test_nothing_is_imported_from_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("twinjit", "json", "numpy", "mlir"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    monkeypatch.setattr(sys, "path", [each or os.getcwd() for each in sys.path])
    monkeypatch.chdir(tmp_path)
    assert compile_isolated(job(IDENTITY)).ending is None


def test_a_process_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ExecutorError, match="cannot start '/nowhere/python'"):
        compile_isolated(job(IDENTITY))


def test_no_interpreter_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(ExecutorError, match=r"set sys\.executable"):
        compile_isolated(job(IDENTITY))


def test_a_process_that_is_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ExecutorError, match="did not start"):
        compile_isolated(job(IDENTITY))


def test_the_twinjit_of_this_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    standard = [each for each in sys.path if "site-packages" not in each and "src" not in each]
    monkeypatch.setattr(sys, "path", standard)
    assert compile_isolated(job(IDENTITY)).ending is None


def test_standard_streams_may_be_closed() -> None:
    script = (
        "import os, sys; from tests.workers.jobs import ASSERTION, job\n"
        "from twinjit.workers.isolated import compile_isolated\n"
        "os.close(0); os.close(1)\n"  # what is opened next has their numbers
        "sys.exit(0 if compile_isolated(job(ASSERTION)).ending.signal == 'SIGABRT' else 3)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_no_descriptor_is_lost() -> None:
    before = os.listdir("/proc/self/fd")
    compile_isolated(job(ASSERTION))
    assert os.listdir("/proc/self/fd") == before
