"""Damaged text and bytecode ends in one of our exceptions, or in a death that MLIR is known for."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter

from tests.fuzzing import damaged, sources
from tests.nightly import rounds

TRIED = rounds(1_000, 12_000)
SECONDS = 60  # without a word: more than any takes that ends

# MLIR 22.1.8 with assertions, on bytecode that it did not write: parts that are not where it says,
# attributes of invalid parts, sizes that no memory holds. None can be seen short of reading it;
# isolated workers are to contain them. No text is known to do it.
UPSTREAM_DEATH = re.compile(
    r"(mlir|llvm)/\S+:\d+: .*Assertion|mlir::BytecodeReader|LLVM ERROR|Allocation failed|bad_alloc"
)


def is_known(data: bytes, errors: str, code: int) -> bool:
    if not data.startswith(b"ML\xefR"):
        return False
    never_ends = code == -signal.SIGKILL  # attributes that contain themselves
    return never_ends or bool(code == -signal.SIGABRT and UPSTREAM_DEATH.search(errors))


def run(first: int, count: int) -> tuple[list[str], str, int]:
    """The outcomes, in the order in which they were tried; what it wrote; and how it ended."""
    command = [sys.executable, "-m", "tests.fuzzing", str(first), str(count)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        try:
            output, errors = process.communicate(timeout=SECONDS + count / 20)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
    return output.splitlines(), errors, process.returncode


def test_damaged_programs() -> None:
    programs = sources()
    outcomes: Counter[str] = Counter()
    number = 0
    while number < TRIED:
        lines, errors, code = run(number, min(TRIED - number, 1_000))
        outcomes.update(line.split()[1] for line in lines if " " in line.strip())
        number += len(lines)
        if code == 0:
            assert errors == "", "something was written to standard error"
            continue
        data = damaged(programs, number - 1)
        place = f"number {number - 1} ended the process ({code}): {data!r}\n{errors[-2000:]}"
        assert is_known(data, errors, code), place
        outcomes["death in MLIR's bytecode reader"] += 1
    print(*outcomes.most_common(), sep="\n")
    assert outcomes["read"] > TRIED / 100
    assert outcomes["ParseError"] > TRIED / 3
