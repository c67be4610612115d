"""The file for ``perf inject --jit``, by a reader that follows the format's specification."""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.profilers.programs import run

MACHINES = {"x86_64": 62, "aarch64": 183}
HEADER, RECORD, LOAD = struct.Struct("=6I2Q"), struct.Struct("=2IQ"), struct.Struct("=2I4Q")

COMPILE = """
import time
def compiler(**options):
    return twinjit.Compiler(cache=False, settings=twinjit.Settings(perf="dump", **options))
"""


@dataclass
class Load:
    pid: int
    tid: int
    address: int
    index: int
    name: str
    code: bytes
    time: int


@dataclass
class Dump:
    header: tuple[int, ...]
    loads: list[Load]
    closed_at: int | None


def read(path: Path) -> Dump:
    data = path.read_bytes()
    header = HEADER.unpack_from(data)
    at, loads, closed_at = HEADER.size, [], None
    while at < len(data):
        assert closed_at is None, "nothing follows the end"
        kind, size, time = RECORD.unpack_from(data, at)
        body = data[at + RECORD.size : at + size]
        assert len(body) == size - RECORD.size
        if kind == 0:
            pid, tid, vma, address, length, index = LOAD.unpack_from(body)
            name, _, code = body[LOAD.size :].partition(b"\0")
            assert vma == address
            assert len(code) == length
            loads.append(Load(pid, tid, address, index, name.decode(), code, time))
        else:
            assert (kind, body) == (3, b"")
            closed_at = time
        at += size
    return Dump(header, loads, closed_at)


@pytest.fixture
def base(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("JITDUMPDIR", str(tmp_path))
    return tmp_path


def dumps(base: Path) -> dict[int, Path]:
    found = base.glob(".debug/jit/twinjit-*/jit-*.dump")
    return {int(path.stem.removeprefix("jit-")): path for path in found}


def test_every_field(base) -> None:
    pid, began, key, code, mapping = run(
        COMPILE
        + """
began = time.monotonic_ns()
executable = compiler().compile(SPIN)
print(os.getpid()); print(began); print(executable.key.hex); print(executable.object_code.hex())
print([line.split()[1] for line in Path("/proc/self/maps").read_text().splitlines()
       if line.endswith(f"/jit-{os.getpid()}.dump")])
"""
    ).splitlines()
    ((number, path),) = dumps(base).items()
    assert number == int(pid)
    dump = read(path)
    magic, version, size, machine, padding, process, created, flags = dump.header
    assert (magic, version, size, padding, flags) == (0x4A695444, 1, 40, 0, 0)
    assert path.read_bytes()[:4] == b"DTiJ"  # on machines with the low byte first
    assert (machine, process) == (MACHINES[os.uname().machine], int(pid))
    assert [load.name for load in dump.loads] == [
        f"{name}@{key[:8]}" for name in ("exp", "spin", "spin")
    ]
    assert [load.index for load in dump.loads] == [0, 1, 2]
    for load in dump.loads:
        assert (load.pid, load.tid) == (int(pid), int(pid))
        assert load.code in bytes.fromhex(code)  # this program's code has no relocations
    times = [int(began), created, *(load.time for load in dump.loads), dump.closed_at]
    assert times == sorted(times)
    assert mapping == "['r-xp']"  # by which perf finds the file
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_code_is_told_as_it_runs(base) -> None:
    """With the relocations applied, which the object's code has not."""
    address, running, stored = run(
        COMPILE
        + """
import ctypes
executable = compiler().compile(
    "func.func @f(%x: f64) -> f64 { %y = math.cos %x : f64 return %y : f64 }")
address = executable._code._image.address("f")
print(address); print(ctypes.string_at(address, 4096 - address % 4096).hex())
print(executable.object_code.hex())
"""
    ).splitlines()
    ((_, path),) = dumps(base).items()
    (load,) = [load for load in read(path).loads if load.address == int(address)]
    assert load.code == bytes.fromhex(running)[: len(load.code)]
    assert load.code not in bytes.fromhex(stored)


def test_a_killed_process_leaves_a_readable_file(base) -> None:
    run(
        COMPILE
        + """
import signal
pid = os.fork()
if not pid:
    compiler().compile(adds(1))
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
"""
    )
    ((_, path),) = dumps(base).items()
    dump = read(path)
    assert (len(dump.loads), dump.closed_at) == (2, None)


def test_a_forked_child_has_a_file_of_its_own(base) -> None:
    mapped, pids = run(
        COMPILE
        + """
it = compiler()
kept = it.compile(adds(1, "kept"))
pid = os.fork()
if not pid:
    it.compile(adds(2, "childs"))
    maps = Path("/proc/self/maps").read_text()
    print(f"/jit-{os.getppid()}.dump" in maps, f"/jit-{os.getpid()}.dump" in maps, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
it.compile(adds(3, "parents"))
print(os.getpid(), pid)
"""
    ).splitlines()
    assert mapped == "False True"
    parent, child = map(int, pids.split())
    of_process = {pid: read(path) for pid, path in dumps(base).items()}
    names = {
        pid: sorted({load.name.partition("@")[0] for load in dump.loads})
        for pid, dump in of_process.items()
    }
    assert names == {parent: ["kept", "parents"], child: ["childs", "kept"]}
    assert of_process[child].header[5] == child
    assert {load.pid for load in of_process[child].loads} == {child}


@pytest.mark.parametrize("place", ["missing", "file"])
def test_nowhere_to_put_it(base, monkeypatch, place) -> None:
    (base / "file").touch()
    monkeypatch.setenv("JITDUMPDIR", str(base / place))
    printed = run(
        COMPILE
        + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for number in range(3):
        assert compiler().compile(adds(number)).f(1) == number + 1
for each in caught:
    print(each.category.__name__, each.message)
"""
    )
    (line,) = printed.splitlines()
    assert line == (
        "ObservationWarning perf is not told of code from now on: "
        f"{base / place} is not a directory that can be used; set JITDUMPDIR to one"
    )


@pytest.mark.parametrize("is_there", [True, False])
def test_a_place_whose_name_is_no_text(base, monkeypatch, is_there) -> None:
    place = base / os.fsdecode(b"caf\xe9")
    if is_there:
        place.mkdir()
    monkeypatch.setenv("JITDUMPDIR", str(place))
    printed = run(
        COMPILE
        + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert compiler().compile(adds(1)).f(1) == 2
print(*(each.message for each in caught))
"""
    )
    assert ("caf\\xe9 is not a directory" in printed) != is_there
    assert len(list(place.glob(".debug/jit/*/*.dump"))) == is_there


@pytest.mark.parametrize("room", [0, 600])  # for nothing; for the header and some records
def test_a_full_disk(base, room: int) -> None:
    printed = run(
        COMPILE
        + f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
it = compiler()
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
"""
        + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for number in range(9):
        assert it.compile(adds(number)).f(1) == number + 1
for each in caught:
    print(each.category.__name__, each.message)
"""
    )
    (line,) = printed.splitlines()
    assert line.startswith("ObservationWarning perf is not told of code from now on: /")
    assert line.endswith("File too large")
