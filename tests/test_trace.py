from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import twinjit
from tests.threads import at_once
from twinjit.errors import ConfigError, ObservationWarning, ParseError

ADD = """func.func @add(%x: i64) -> i64 {{
  %c = arith.constant {k} : i64
  %y = arith.addi %x, %c : i64
  return %y : i64
}}"""


def read(path: Path) -> list[dict[str, Any]]:
    events = json.loads(path.read_text() + "]")
    for event in events:  # what the format asks of every event, by its kind
        assert event["ph"] in ("X", "M")
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "X":
            assert event["ts"] > 0
            assert event["dur"] >= 0
        else:
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
    return list(events)


def calls(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event.get("cat") == "compile"]


def test_calls_and_phases(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    compiler = twinjit.Compiler(cache=tmp_path / "cache", trace=path)
    assert read(path)[0]["args"]["name"] == "twinjit"
    first = compiler.compile(ADD.format(k=1))
    compiler.compile(ADD.format(k=1))
    with pytest.raises(ParseError):
        compiler.compile("func.func @f(")
    twinjit.Compiler(cache=tmp_path / "cache", trace=path).compile(ADD.format(k=1))
    events = read(path)
    told = calls(events)
    assert [event["args"].get("tier") for event in told] == ["compiled", "memory", None, "disk"]
    assert told[2]["args"] == {"error": "ParseError"}
    assert told[0]["args"]["key"] == first.key.hex
    assert told[0]["args"]["object_bytes"] == len(first.object_code)
    call, end = told[0], told[0]["ts"] + told[0]["dur"]
    phases = [
        event
        for event in events
        if event.get("cat") == "phase" and call["ts"] <= event["ts"] and event["ts"] < end
    ]
    assert {event["name"]: event["dur"] / 1e6 for event in phases} == pytest.approx(
        dict(first.report.phases)
    )
    last = call["ts"]
    for event in phases:  # one after the other, within the call
        assert event["ts"] >= last - 1e-3
        last = event["ts"] + event["dur"]
    assert last <= end


def test_threads_have_tracks_and_lines_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    compiler = twinjit.Compiler(cache=False, trace=path)

    def work(number: int) -> None:
        for k in range(20):
            compiler.compile(ADD.format(k=100 * number + k))

    threads = [
        threading.Thread(target=work, args=(number,), name=f"worker {number}")
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read(path)
    assert len(calls(events)) == 120
    names = {
        event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    assert sorted(names.values()) == [f"worker {number}" for number in range(6)]
    assert {event["tid"] for event in calls(events)} == set(names)


FORKS = """
import os, signal, sys, twinjit
compiler = twinjit.Compiler(cache=False, trace=sys.argv[1])
text = "func.func @f() -> i64 {{ %c = arith.constant {} : i64 return %c : i64 }}"
compiler.compile(text.format(0))
for k in range(1, 4):
    child = os.fork()
    if not child:
        compiler.compile(text.format(k))
        os._exit(0)
    os.waitpid(child, 0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_forked_children_and_killed_processes(tmp_path: Path) -> None:
    path = tmp_path / "trace-%p.json"
    process = subprocess.Popen([sys.executable, "-c", FORKS, str(path)])
    assert process.wait() == -9
    told = calls(read(tmp_path / f"trace-{process.pid}.json"))
    assert len(told) == 4
    assert len({event["pid"] for event in told}) == 4


def test_the_setting(tmp_path: Path) -> None:
    settings = twinjit.Settings(trace=str(tmp_path / "%p.json"))
    twinjit.Compiler(settings=settings).compile(ADD.format(k=1))
    assert len(calls(read(tmp_path / f"{os.getpid()}.json"))) == 1


@pytest.mark.parametrize("place", ["missing/trace.json", "."])
def test_places_that_cannot_be(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigError, match=r"trace is .* cannot be written"):
        twinjit.Compiler(cache=False, trace=tmp_path / place)


@pytest.mark.parametrize("place", ["a\0b", b"trace.json", 5, True, False, ""])
def test_what_is_no_path(place: Any) -> None:
    with pytest.raises(ConfigError, match=r"trace is .*; give the path of a file"):
        twinjit.Compiler(cache=False, trace=place)


def test_a_pipe_without_a_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="cannot be written"):
        twinjit.Compiler(cache=False, trace=tmp_path / "pipe")


def test_compilers_that_begin_at_once_begin_one_file(tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / f"{number}.json"

        def begin(_: int, path: Path = path) -> None:
            twinjit.Compiler(cache=False, trace=path).compile(ADD.format(k=1))

        at_once(begin, 6)
        events = read(path)
        assert [event["name"] for event in events].count("process_name") == 1
        assert len(calls(events)) == 6


def test_files_are_closed_with_their_last_compiler_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("of another process")
    before = len(os.listdir("/proc/self/fd"))
    for k in range(3):
        compiler = twinjit.Compiler(cache=False, trace=path)
        compiler.compile(ADD.format(k=k))
        del compiler
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before
    assert len(calls(read(path))) == 3
    path.unlink()
    twinjit.Compiler(cache=False, trace=path).compile(ADD.format(k=4))
    assert len(calls(read(path))) == 1


def test_a_full_disk_ends_the_trace_alone() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    with pytest.raises(ConfigError, match="No space"):
        twinjit.Compiler(cache=False, trace=full)


def test_a_file_that_fails_later(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "trace.json"
    script = f"""
import resource, signal, warnings, twinjit
compiler = twinjit.Compiler(cache=False, trace={str(path)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for k in range(3):
        text = f"func.func @f() -> i64 {{{{ %c = arith.constant {{k}} : i64 return %c : i64 }}}}"
        assert compiler.compile(text).f() == k
assert [each.category.__name__ for each in caught] == ["{ObservationWarning.__name__}"], caught
"""
    assert resource.RLIMIT_FSIZE
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_log(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    compiler = twinjit.Compiler(cache=tmp_path)
    with caplog.at_level(logging.DEBUG, "twinjit"):
        executable = compiler.compile(ADD.format(k=1))
        compiler.compile(ADD.format(k=1))
        with pytest.raises(ParseError):
            compiler.compile("func.func @f(")
    assert [(each.levelname, each.name) for each in caplog.records] == [
        ("INFO", "twinjit.compile"),
        ("DEBUG", "twinjit.compile"),
        ("DEBUG", "twinjit.compile"),
    ]
    told = [each.twinjit for each in caplog.records]  # type: ignore[attr-defined]
    assert told[0]["key"] == executable.key.hex
    assert told[0]["phases"] == dict(executable.report.phases)
    assert [each.get("tier") for each in told] == ["compiled", "memory", None]
    assert told[2]["error"] == "ParseError"
    messages = [each.getMessage() for each in caplog.records]
    assert messages[0].startswith("compiled <text> in ")
    assert messages[1].startswith("memory hit: <text> in ")
    assert messages[2].startswith("<text> raised ParseError after ")
    caplog.clear()
    with caplog.at_level(logging.INFO, "twinjit"):
        compiler.compile(ADD.format(k=1))
    assert not caplog.records


def test_logging_is_the_applications(tmp_path: Path, hits_unchecked: None) -> None:
    script = (
        "import sys, twinjit; twinjit.Compiler(cache=sys.argv[1]).compile(sys.argv[2]);"
        "print('logging' in sys.modules)"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path), ADD.format(k=1)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    assert done.stdout.strip() == "False"
