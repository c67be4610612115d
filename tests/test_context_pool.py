"""Private contexts: kept, bounded, and dropped by use and by measured growth."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import twinjit
from tests.threads import at_once
from twinjit._native import _mlir
from twinjit.errors import UnsupportedProgramError
from twinjit.stop import Stop

pytestmark = pytest.mark.usefixtures("silence")

EMPTY = b"module {}"
MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def _empty_pool() -> None:
    twinjit.release_contexts()


def changes(before: dict[str, int]) -> dict[str, int]:
    after = _mlir.pool_stats()
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def constant(megabytes: int, value: int) -> bytes:
    digits = f"{value:02X}" * (megabytes * MEGABYTE)
    shape = f"tensor<{megabytes * MEGABYTE}xi8>"
    return f'"t.o"() {{a = dense<"0x{digits[:-2]}FF"> : {shape}}} : () -> ()'.encode()


def parse(source: bytes) -> _mlir.Program:
    return _mlir.parse(source, "t", allow_unregistered=True)


def test_a_context_is_made_when_there_is_none_and_kept() -> None:
    before = _mlir.pool_stats()
    first = parse(EMPTY)
    leased = changes(before)
    size = leased.pop("leased_bytes")
    assert 1 * MEGABYTE < size < 4 * MEGABYTE
    assert leased == {"leased": 1, "made": 1}
    del first
    kept = changes(before)
    assert (kept.pop("idle"), kept.pop("made")) == (1, 1)
    assert 1 * MEGABYTE < size <= kept.pop("idle_bytes") < 4 * MEGABYTE
    assert not kept
    held = _mlir.pool_stats()["idle_bytes"]
    second = parse(EMPTY)
    assert changes(before) == {"leased": 1, "made": 1, "leased_bytes": held}
    del second


def test_lowering_returns_the_context() -> None:
    program = parse(EMPTY)
    assert _mlir.pool_stats()["leased"] == 1
    program.lower("canonicalize", trusted=True, stop=Stop())
    assert _mlir.pool_stats()["leased"] == 0
    uses = (
        program.dialects,
        program.signatures,
        program.uses_tensors,
        program.unknown,
        lambda: program.normalise(twinjit.Policy().text),
        lambda: program.bytecode(twinjit.Policy().text),
        lambda: program.lower("canonicalize", trusted=True, stop=Stop()),
        lambda: _mlir.fingerprint(program, twinjit.Policy().text),
        lambda: _mlir.equivalent(program, program, twinjit.Policy().text),
    )
    for use in uses:
        with pytest.raises(UnsupportedProgramError, match="has been lowered"):
            use()


def test_dropped_after_many_uses() -> None:
    before = _mlir.pool_stats()
    for _ in range(600):
        parse(EMPTY)
    found = changes(before)
    assert (found["made"], found["recycled_by_uses"]) == (3, 2)


def test_dropped_when_grown() -> None:
    before = _mlir.pool_stats()
    for value in range(8):
        parse(constant(4, value))
    found = changes(before)
    assert found["recycled_by_growth"] >= 1
    assert found["made"] == found["recycled_by_growth"] + found["idle"]
    parse(constant(20, 0))
    assert changes(before)["recycled_by_growth"] == found["recycled_by_growth"] + 1


def test_growth_is_measured() -> None:
    parse(EMPTY)
    small = _mlir.pool_stats()["idle_bytes"]
    parse(constant(4, 0))
    large = _mlir.pool_stats()["idle_bytes"]
    assert large - small >= 4 * MEGABYTE
    parse(constant(4, 0))  # the same attribute
    assert _mlir.pool_stats()["idle_bytes"] - large < MEGABYTE


def test_dropped_when_tainted() -> None:
    before = _mlir.pool_stats()
    parse(b'"t.o"() {t = !llvm.struct<"named", (i32)>} : () -> ()')
    assert changes(before) == {"made": 1, "tainted": 1}


def test_idle_contexts_are_bounded() -> None:
    before = _mlir.pool_stats()
    programs = [parse(EMPTY) for _ in range(30)]
    assert _mlir.pool_stats()["leased"] == 30
    programs.clear()
    found = changes(before)
    assert found["idle"] == 16
    assert found["surplus"] == 14
    programs = [parse(constant(3, value)) for value in range(16)]
    programs.clear()
    assert _mlir.pool_stats()["idle_bytes"] <= 40 * MEGABYTE
    twinjit.release_contexts()
    assert _mlir.pool_stats()["idle"] == _mlir.pool_stats()["idle_bytes"] == 0


def in_new_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    return done.stdout


def test_what_idle_contexts_hold_is_about_what_is_told() -> None:
    """Against the C library's account, in a process that does nothing else."""
    ratio = float(
        in_new_process("""if True:
            import ctypes
            from twinjit._native import _mlir

            class Account(ctypes.Structure):
                _fields_ = [(name, ctypes.c_size_t) for name in (
                    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                    "uordblks", "fordblks", "keepcost")]

            mallinfo2 = ctypes.CDLL(None).mallinfo2
            mallinfo2.restype = Account

            def used():
                account = mallinfo2()
                return account.uordblks + account.hblkhd

            def text(seed):
                lines = "".join(
                    f"%c{i} = arith.constant {seed * 1000 + i}.5 : f64\\n" for i in range(500)
                )
                return f"func.func @f{seed}() {{ {lines} return }}".encode()

            _mlir.parse(b"module {}", "t")
            _mlir.release_contexts()
            before = used()
            programs = [_mlir.parse(text(seed), "t") for seed in range(12)]
            programs.clear()
            assert _mlir.pool_stats()["idle"] == 12
            print(_mlir.pool_stats()["idle_bytes"] / (used() - before))
        """)
    )
    assert 0.8 < ratio < 1.2


@pytest.mark.parametrize("kind", ["constants", "types", "operations"])
def test_memory_tells_what_contexts_hold(kind: str) -> None:
    """Within a tenth, after programs that leave much behind, and their fingerprints."""
    told, held = map(
        int,
        in_new_process(f"""if True:
            import gc
            import twinjit
            from twinjit.resident import heap

            def program(seed):
                if {kind!r} == "constants":
                    body = "".join(f"%c{{i}} = arith.constant dense<{{seed}}{{i:04}}.5> : "
                        f"tensor<{{4 + seed % 7}}x{{3 + i % 5}}xf32>\\n" for i in range(200))
                elif {kind!r} == "types":
                    body = "".join(f"%m{{i}} = memref.alloca() : memref<{{i + 1}}x{{seed}}xf32>\\n"
                        for i in range(100))
                else:
                    body = "".join(f"%x{{i + 1}} = arith.addi %x{{i}}, %x{{i}} : i64\\n"
                        for i in range(2000))
                return f"func.func @f{{seed}}(%x0: i64) {{{{ {{body}} return }}}}"

            def used():
                gc.collect()
                now = heap()
                return now.in_heaps + now.mapped

            compiler = twinjit.Compiler(cache=False, shared=False, opt_level=1)
            compiler.compile(program(1))
            twinjit.release_contexts()
            for seed in range(2, 42):
                compiler.compile(program(seed))
            compiler.clear_memory()
            told, before = compiler.memory().contexts, used()
            twinjit.release_contexts()
            print(told, before - used())
        """).split(),
    )
    assert 0.9 * held < told < 1.1 * held
    assert held > 2 * MEGABYTE


def test_report_22_no_thread_pools() -> None:
    """2,900 threads: each context had a pool of its own."""
    assert (
        in_new_process("""if True:
            import os, threading, time
            import twinjit

            compiler = twinjit.Compiler(cache=False)

            def work(index):
                for i in range(4):
                    compiler.compile(f"func.func @f{index}_{i}(%x: i64) {{ return }}")

            work(99)
            def tasks():
                return len(os.listdir("/proc/self/task"))

            before = tasks()
            for _ in range(2):
                threads = [threading.Thread(target=work, args=(i,)) for i in range(24)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            deadline = time.monotonic() + 30
            while tasks() != before and time.monotonic() < deadline:
                time.sleep(0.01)  # a thread that was joined may take a moment more to end
            print(tasks() - before)
        """)
        == "0\n"
    )


def test_many_threads() -> None:
    before = _mlir.pool_stats()

    def work(index: int) -> None:
        for i in range(50):
            text = f"func.func @f{index}_{i}(%x: i64) -> i64 {{ return %x : i64 }}"
            program = _mlir.parse(text.encode(), "t")
            program.lower("convert-func-to-llvm", trusted=True, stop=Stop())

    at_once(work, 16)
    found = changes(before)
    assert "leased" not in found
    assert found["idle"] <= 16
    assert found["made"] <= 16 + found.get("recycled_by_uses", 0) + found.get("surplus", 0)


def test_a_child_has_a_pool_that_works() -> None:
    parse(EMPTY)
    child = os.fork()
    if child == 0:
        os._exit(0 if parse(EMPTY).dialects() == ["builtin"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
