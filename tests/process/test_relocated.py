"""Cached code holds nothing of the process that compiled it.

All programs of this repository are compiled in one process, loaded from its cache and called in
others, where everything is at other addresses, and compiled in another process once more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import llvm
import pytest

from tests.nightly import rounds
from tests.process.relocation import addresses_in, library_base, mapped
from tests.relocated_programs import CALLS

ROOT = Path(__file__).parent.parent.parent
READOBJ = Path(next(iter(llvm.__path__))) / "bin" / "llvm-readobj"

# All that compilations gave so far: an address in data, and distances to code, data and the GOT.
# Anything new is to be looked at.
RELOCATIONS = {
    "R_X86_64_64",
    "R_X86_64_PC32",
    "R_X86_64_PLT32",
    "R_X86_64_GOTPCREL",
    "R_X86_64_GOTPCRELX",
    "R_X86_64_REX_GOTPCRELX",
}


@dataclass(frozen=True)
class Process:
    """What one of the processes did."""

    folder: Path
    library: int
    programs: dict[str, dict[str, Any]]

    @property
    def compiled(self) -> dict[str, dict[str, Any]]:
        return {name: each for name, each in self.programs.items() if "error" not in each}

    def objects(self) -> Iterator[tuple[str, bytes]]:
        for name, each in self.compiled.items():
            yield name, (self.folder / each["object"]).read_bytes()


@dataclass(frozen=True)
class Processes:
    writer: Process
    readers: tuple[Process, Process]
    rewriter: Process


def start(
    root: Path, cache: str, name: str, *options: str, **environment: str
) -> subprocess.Popen[bytes]:
    folder = root / name
    folder.mkdir()
    command = [sys.executable, "-m", "tests.process.relocation", cache, str(folder), *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL)


def outcome(root: Path, name: str, process: subprocess.Popen[bytes]) -> Process:
    assert process.wait(timeout=600) == 0
    report = json.loads((root / name / "report.json").read_text())
    return Process(root / name, report["library"], report["programs"])


@pytest.fixture(scope="module")
def processes(tmp_path_factory) -> Processes:
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        pytest.skip("addresses are not randomised here")
    root = tmp_path_factory.mktemp("processes")
    shared, other = str(root / "shared"), str(root / "other")
    elsewhere = {"HOME": str(root), "TMPDIR": str(root), "PYTHONHASHSEED": "1", "LC_ALL": "C"}
    rewriter = start(root, other, "rewriter", "--backwards", **elsewhere)
    writer = outcome(root, "writer", start(root, shared, "writer", PYTHONHASHSEED="2"))
    readers = [start(root, shared, name, **elsewhere) for name in ("first", "second")]
    return Processes(
        writer,
        (outcome(root, "first", readers[0]), outcome(root, "second", readers[1])),
        outcome(root, "rewriter", rewriter),
    )


def test_all_processes_took_the_same_programs(processes):
    errors = [
        {name: each.get("error") for name, each in process.programs.items()}
        for process in (processes.writer, *processes.readers, processes.rewriter)
    ]
    assert errors[1:] == [errors[0]] * 3
    assert {f"{name} -O{level}" for name in CALLS for level in (0, 3)} <= set(
        processes.writer.compiled
    )
    assert len(processes.writer.compiled) >= rounds(50, 150)


def test_everything_was_at_other_addresses(processes):
    each = (processes.writer, *processes.readers, processes.rewriter)
    assert len({process.library for process in each}) == 4
    for one, other in combinations(each, 2):
        same = [
            name
            for name, program in one.compiled.items()
            if set(program["addresses"]) & set(other.compiled[name]["addresses"])
        ]
        assert same == []


def test_code_from_the_cache_computes_the_same(processes):
    for reader in processes.readers:
        for program in reader.compiled.values():
            assert program["tier"] == "disk"
    for process in (processes.writer, *processes.readers, processes.rewriter):
        for program in process.compiled.values():
            if called := CALLS.get(program["name"]):
                assert program["result"] == called.expected


def test_another_process_compiles_the_same(processes):
    """After other programs, in another order, for another user, in another place."""
    assert {name: each["key"] for name, each in processes.writer.compiled.items()} == {
        name: each["key"] for name, each in processes.rewriter.compiled.items()
    }
    assert dict(processes.writer.objects()) == dict(processes.rewriter.objects())


def test_no_object_holds_an_address_of_its_process(processes):
    for process in (processes.writer, *processes.readers, processes.rewriter):
        assert {
            name: each["baked"] for name, each in process.compiled.items() if each["baked"]
        } == {}


@pytest.mark.parametrize("offset", [0, 1, 7])
def test_an_address_would_be_found(offset):
    address = library_base() + 0x1234
    data = bytes(16 + offset) + address.to_bytes(8, "little") + bytes(5)
    assert addresses_in(data, mapped()) == [address]


def _listing(folder: Path) -> list[dict[str, Any]]:
    command = [READOBJ, "--elf-output-style=JSON", "-S", "-s", "-r", *sorted(folder.glob("*.o"))]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    files: list[dict[str, Any]] = json.loads(listed.stdout)
    return files


def _names(entries: list[dict[str, Any]], kind: str, *path: str) -> Iterator[str]:
    for entry in entries:
        value = entry[kind]
        for step in path:
            value = value[step]
        yield value


def test_objects_ask_for_nothing_but_distances_and_addresses(processes):
    files = _listing(processes.writer.folder)
    assert len(files) == len(processes.writer.compiled)
    used = set()
    for file in files:
        for section in file["Relocations"]:
            used |= set(_names(section["Relocs"], "Relocation", "Type", "Name"))
        flags = {
            flag["Name"]
            for section in file["Sections"]
            for flag in section["Section"]["Flags"]["Flags"]
        }
        assert "SHF_TLS" not in flags
        assert "TLS" not in set(_names(file["Symbols"], "Symbol", "Type", "Name"))
    assert used <= RELOCATIONS
    assert {"R_X86_64_64", "R_X86_64_PC32", "R_X86_64_PLT32"} <= used
