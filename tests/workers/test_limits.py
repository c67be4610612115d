"""What a worker may take."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

MIB = 1 << 20


def run(code: str) -> str:
    prologue = "import resource\nfrom twinjit.workers.limits import Limits\n"
    command = [sys.executable, "-c", prologue + code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def test_memory_counts_from_what_there_is() -> None:
    printed = run(
        f"held = bytearray(100 * {MIB})\n"
        f"Limits(memory_bytes=50 * {MIB}).apply()\n"
        f"more = bytearray(30 * {MIB})\n"
        f"try: bytearray(40 * {MIB})\n"
        "except MemoryError: print('no more')\n"
        f"Limits().apply(); bytearray(40 * {MIB}); print('again')"
    )
    assert printed.split("\n") == ["no more", "again"]


@pytest.mark.parametrize("hard", [None, 12 * MIB])
def test_the_stack_is_what_the_system_allows(hard: int | None) -> None:
    lower = f"resource.setrlimit(resource.RLIMIT_STACK, ({hard}, {hard}))\n" if hard else ""
    of_system = resource.getrlimit(resource.RLIMIT_STACK)[1]
    most = hard or (64 * MIB if of_system == resource.RLIM_INFINITY else of_system)
    printed = run(f"{lower}Limits().apply(); print(*resource.getrlimit(resource.RLIMIT_STACK))")
    assert printed == f"{min(64 * MIB, most)} {hard or of_system}"


def test_no_core_is_dumped() -> None:
    assert run("Limits().apply(); print(*resource.getrlimit(resource.RLIMIT_CORE))") == "0 0"
