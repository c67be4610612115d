"""gdb's JIT interface: what is in the list, and gdb itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.missing import skip_or_fail
from tests.profilers.programs import BEGIN, run

# The list as gdb reads it, by its manual ("JIT Compilation Interface").
LIST = """
import ctypes
from twinjit._native import _llvm

class Entry(ctypes.Structure):
    pass
Entry._fields_ = [("next", ctypes.POINTER(Entry)), ("previous", ctypes.POINTER(Entry)),
                  ("file", ctypes.c_void_p), ("size", ctypes.c_uint64)]
class Descriptor(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("action", ctypes.c_uint32),
                ("relevant", ctypes.POINTER(Entry)), ("first", ctypes.POINTER(Entry))]

path = next(path for name, path, _ in _llvm.toolchain() if "libLLVM" in path)
descriptor = Descriptor.in_dll(ctypes.CDLL(path), "__jit_debug_descriptor")

def files():
    found, entry, before = [], descriptor.first, None
    while entry:
        there = ctypes.addressof(entry.contents)
        back = entry.contents.previous
        assert (ctypes.addressof(back.contents) if back else None) == before
        found.append(ctypes.string_at(entry.contents.file, entry.contents.size))
        before, entry = there, entry.contents.next
    return found

def compiler(**options):
    return twinjit.Compiler(cache=False, settings=twinjit.Settings(**options))
"""


def test_an_entry_lives_as_long_as_its_code() -> None:
    printed = run(
        LIST
        + """
import gc
it = compiler(gdb=True, memory_max_bytes=0)
assert (descriptor.version, files()) == (1, [])
first, second, third = (it.compile(adds(number)) for number in range(3))
sizes = [len(each.object_code) for each in (third, second, first)]
print([len(each) for each in files()] == sizes)
kept = files()
del second; gc.collect()
print(files() == [kept[0], kept[2]], descriptor.action)
del third; gc.collect()
print(files() == [kept[2]])
del first; gc.collect()
print(files(), bool(descriptor.first), bool(descriptor.relevant))
"""
    )
    assert printed.splitlines() == [
        "True",
        "True 2",
        "True",
        "[] False False",
    ]


def test_files_differ_from_the_object_by_places_and_names_alone() -> None:
    run(
        LIST
        + """
import struct
executable = compiler(gdb=True).compile(SPIN)
(file,) = files()
header = struct.unpack_from("<16s2HI3QI6H", file)
offset, size, count, names = header[6], header[11], header[12], header[13]
def sections(data):
    return [struct.unpack_from("<2I4Q2I2Q", data, offset + size * n) for n in range(count)]
def name_at(data, table, at):
    start = sections(data)[table][4] + at
    return data[start : data.index(b"\\0", start)].decode()
def symbols(data):
    (table,) = [each for each in sections(data) if each[1] == 2]
    return {(value, length, info): name_at(data, table[6], name)
            for name, info, _, _, value, length in
            struct.iter_unpack("<I2BH2Q", data[table[4] : table[4] + table[5]])}

changed, plain = bytearray(file), executable.object_code
for n, each in enumerate(sections(file)):
    if each[3]:
        assert name_at(file, names, each[0]) == ".text"
        text = each[3]
    struct.pack_into("<Q", changed, offset + size * n + 16, 0)
(table,) = [each for each in sections(plain) if each[1] == 2]
changed[table[4] : table[4] + table[5]] = plain[table[4] : table[4] + table[5]]
assert bytes(changed) == plain
assert sorted(symbols(plain).values()) == [
    "", "spin", "twinjit", "twinjit.call.spin", "twinjit.program.exp"]
assert sorted(symbols(file).values()) == ["", "exp", "spin", "spin", "twinjit"]
called = [value for (value, _, _), name in symbols(plain).items() if name == "twinjit.call.spin"]
assert called == [executable._code._image.address("spin") - text]
"""
    )


def test_threads_and_forked_children_keep_the_list_whole() -> None:
    run(
        LIST
        + """
import threading
it = compiler(gdb=True, perf="off", memory_max_bytes=0)
kept = it.compile(adds(-1))
failures = []
def work(number):
    try:
        for k in range(40):
            it.compile(adds(1000 * number + k))
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
warnings.simplefilter("ignore", DeprecationWarning)  # to fork beside threads is the point
for thread in threads:
    thread.start()
for _ in range(10):
    pid = os.fork()
    if not pid:
        status = 1
        try:
            before = len(files())
            assert before >= 1
            more = compiler(gdb=True).compile(adds(-2))
            assert len(files()) == before + 1
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
for thread in threads:
    thread.join()
assert not failures, failures
assert len(files()) == 1
"""
    )


def test_nothing_is_registered_unasked() -> None:
    run(LIST + "kept = compiler().compile(SPIN); assert files() == []")


GDB = shutil.which("gdb")


def test_gdb_stops_in_compiled_code(tmp_path) -> None:
    if not GDB:
        skip_or_fail("gdb is not installed")
    script = tmp_path / "spin.py"
    script.write_text(
        BEGIN
        + "settings = twinjit.Settings(gdb=True)\n"
        + "twinjit.Compiler(cache=False, settings=settings).compile(SPIN).spin(3)\n"
    )
    commands = tmp_path / "commands"
    commands.write_text(
        "set pagination off\nset debuginfod enabled off\nset breakpoint pending on\n"
        "break spin\nrun\ninfo symbol $pc\nbacktrace 1\ncontinue\n"
    )
    done = subprocess.run(
        [GDB, "-nx", "-q", "-batch", "-x", commands, "--args", sys.executable, script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)},
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"gdb may not trace here: {done.stderr.strip()}")
    assert "spin in section .text of" in done.stdout
    assert "#0  0x" in done.stdout
    assert " in spin ()" in done.stdout
    assert "exited normally" in done.stdout
