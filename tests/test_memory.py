"""What `Compiler.memory` says, beside what the kernel says."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import twinjit
from tests.images import program
from twinjit.memory import MemoryReport
from twinjit.resident import heap, resident


def in_new_process(script: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    printed: dict[str, float] = json.loads(done.stdout)
    return printed


def test_parts_add_up_to_physical_memory(compiler):
    kept = [compiler.compile(program(number)) for number in range(50)]
    report = compiler.memory()
    assert isinstance(report, twinjit.MemoryReport)
    assert 0.9 * report.rss < report.total < 1.1 * report.rss
    assert report.total + report.other == report.rss
    assert report.code == sum(each._code.pages for each in kept)
    assert report.artifacts == sum(each._code.artifact.size for each in kept)
    assert report.libraries > 50 << 20  # LLVM and MLIR
    assert report.index > 0


def test_cleared_memory_is_not_counted(compiler):
    executable = compiler.compile(program())
    assert compiler.memory().code == executable._code.pages
    compiler.clear_memory()
    report = compiler.memory()
    assert (report.code, report.artifacts, report.objects, report.index) == (0, 0, 0, 0)
    assert report.code_held >= executable._code.pages


def test_text_has_a_line_for_each_part(compiler):
    report = compiler.memory()
    lines = str(report).splitlines()
    assert len(lines) == len(MemoryReport.__dataclass_fields__) + 1
    assert lines[-1] == f"{report.rss / 2**20:10,.1f} MiB  in physical memory"


def test_resident_is_what_the_kernel_counts():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    found = resident([])
    assert abs(found.total - pages * 4096) < 0.05 * found.total
    assert found.files > 10 << 20
    assert found.heap > 1 << 20
    assert found.anonymous > 1 << 20


def test_heap_counts_what_is_allocated():
    before = heap()
    small = [bytearray(2000) for _ in range(1000)]
    large = bytearray(64 << 20)
    after = heap()
    assert after.in_heaps - before.in_heaps >= sum(map(len, small))
    assert after.mapped - before.mapped >= len(large)


def test_counted_parts_follow_physical_memory_as_200_mb_come_and_go():
    script = """
    import gc, json, random
    import twinjit

    def program(seed):
        data = random.Random(seed).randbytes(4 << 20).hex()
        return (f'func.func @f(%i: index) -> i32 {{ %c = arith.constant dense<"0x{data}"> : '
                'tensor<1048576xi32> %v = tensor.extract %c[%i] : tensor<1048576xi32> '
                'return %v : i32 }')

    compiler = twinjit.Compiler(
        cache=False, shared=False, opt_level=0,
        settings=twinjit.Settings.load(memory_max_bytes=1 << 30),
    )

    def counted():
        gc.collect()
        report = compiler.memory()
        parts = report.code + report.code_held + report.artifacts + report.objects + report.index
        return parts, report.rss - report.heap_free - report.contexts, report.total / report.rss

    compiler.compile(program(0)).f(0)
    compiler.clear_memory()
    before = counted()
    held = [compiler.compile(program(seed)) for seed in range(1, 26)]
    while_kept = counted()
    compiler.clear_memory()
    while_held = counted()
    held.clear()
    after = counted()
    print(json.dumps({
        "kept": while_kept[0] - before[0], "kept_rss": while_kept[1] - before[1],
        "held": while_held[0] - before[0], "held_rss": while_held[1] - before[1],
        "left": after[0] - before[0], "left_rss": after[1] - before[1],
        "total": while_kept[2],
    }))
    """
    grown = in_new_process(script)
    assert grown["kept"] > 200e6
    assert abs(grown["kept_rss"] - grown["kept"]) < 0.1 * grown["kept"]
    assert grown["held"] > 100e6
    assert grown["left"] == 0
    assert abs(grown["left_rss"]) < 0.1 * grown["kept"]
    assert 0.9 < grown["total"] < 1.1


def test_lifted_constants_are_counted_as_code():
    script = """
    import gc, json
    import numpy as np
    import twinjit

    compiler = twinjit.Compiler(
        cache=False, shared=False, policy=twinjit.Policy(constants="lift"),
        settings=twinjit.Settings.load(memory_max_bytes=1 << 30),
    )

    def compile(first):
        data = np.arange(first, first + (1 << 20), dtype=np.int32).tobytes().hex()
        return compiler.compile(
            f'func.func @f(%i: index) -> i32 {{ %c = arith.constant dense<"0x{data}"> : '
            'tensor<1048576xi32> %v = tensor.extract %c[%i] : tensor<1048576xi32> '
            'return %v : i32 }')

    compile(0)
    gc.collect()
    before = compiler.memory()
    assert [compile(first).f(0) for first in range(1, 51)] == list(range(1, 51))
    gc.collect()
    after = compiler.memory()
    print(json.dumps({
        "code": after.code - before.code,
        "rss": after.rss - after.heap_free - before.rss + before.heap_free,
    }))
    """
    grown = in_new_process(script)
    assert grown["code"] > 200e6
    assert abs(grown["rss"] - grown["code"]) < 0.1 * grown["code"]
