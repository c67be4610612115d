from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.profilers.programs import run

COMPILE = """
def compiler(**settings):
    return twinjit.Compiler(cache=False, settings=twinjit.Settings(**settings))
MAP = Path(f"/tmp/perf-{os.getpid()}.map")
"""


@pytest.fixture
def mapped() -> Iterator[object]:
    """Run a script that prints numbers of processes first; give their maps and the rest."""
    made: list[Path] = []

    def execute(script: str) -> tuple[list[Path], list[str]]:
        pids, _, rest = run(COMPILE + script).partition("\n")
        made.extend(Path(f"/tmp/perf-{pid}.map") for pid in pids.split())
        return made, rest.splitlines()

    yield execute
    for each in made:
        each.unlink(missing_ok=True)


def functions(path: Path) -> list[tuple[int, int, str]]:
    lines = [line.split(" ", 2) for line in path.read_text().splitlines()]
    return [(int(address, 16), int(size, 16), name) for address, size, name in lines]


def test_lines_name_the_functions(mapped) -> None:
    (path,), (key, inside) = mapped("""
executable = compiler(perf="map").compile(SPIN)
print(os.getpid()); print(executable.key.hex)
lines = [line.split(" ", 2) for line in MAP.read_text().splitlines()]
image = executable._code._image
print(all(image.contains(int(a, 16)) and image.contains(int(a, 16) + int(s, 16) - 1)
          for a, s, _ in lines), image.address("spin") in [int(a, 16) for a, _, _ in lines])
""")
    assert inside == "True True"
    found = functions(path)
    # What Twinjit calls has the name of the function, too.
    assert [name for *_, name in found] == [f"{name}@{key[:8]}" for name in ("exp", "spin", "spin")]
    ends = [address + size for address, size, _ in found]
    assert all(end <= address for end, (address, _, _) in zip(ends, found[1:], strict=False))
    status = path.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, os.getuid())


def test_nothing_is_written_unasked(mapped) -> None:
    (path,), _ = mapped("compiler().compile(SPIN).spin(3); print(os.getpid())")
    assert not path.exists()


def test_hits_are_told_too(mapped, tmp_path) -> None:
    script = f"""
settings = twinjit.Settings(perf="map")
executable = twinjit.Compiler(cache={str(tmp_path)!r}, settings=settings).compile(SPIN)
print(os.getpid()); print(executable.report.tier)
"""
    _, first = mapped(script)
    paths, second = mapped(script)
    assert (first, second) == (["compiled"], ["disk"])
    assert [name for *_, name in functions(paths[0])] == [name for *_, name in functions(paths[1])]


@pytest.mark.parametrize(
    ("plant", "complaint"),
    [
        ("MAP.symlink_to(victim)", "Too many levels of symbolic links"),
        ("os.link(victim, MAP)", "not a file that this user alone can write to"),
        ("MAP.touch(); MAP.chmod(0o622)", "not a file that this user alone can write to"),
        ("os.mkfifo(MAP)", "No such device or address"),
        ("MAP.mkdir()", "Is a directory"),
    ],
)
def test_what_others_planted_is_not_written_to(plant: str, complaint: str, tmp_path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    printed = run(
        COMPILE
        + f"""
import shutil
victim = {str(victim)!r}
{plant}
try:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(3):
            assert compiler(perf="map").compile(adds(number)).f(1) == number + 1
    if MAP.is_file() and not MAP.is_symlink():
        assert MAP.read_text() in ("", "untouched")
finally:
    shutil.rmtree(MAP) if MAP.is_dir() and not MAP.is_symlink() else MAP.unlink()
for each in caught:
    print(each.category.__name__, each.message)
"""
    )
    (line,) = printed.splitlines()  # once
    assert line.startswith("ObservationWarning perf is not told of code from now on: /tmp/perf-")
    assert complaint in line
    assert victim.read_text() == "untouched"


def test_the_warning_names_the_users_line() -> None:
    assert (
        run(
            COMPILE
            + """
MAP.mkdir()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    compiler(perf="map").compile(adds(1))
MAP.rmdir()
print(caught[0].filename)
"""
        )
        == "<string>\n"
    )


def test_what_an_earlier_process_left_is_cleared_away(mapped) -> None:
    (path,), _ = mapped("""
MAP.touch(0o600); MAP.write_text("1000 10 stale\\n"); os.utime(MAP, (1e9, 1e9))
compiler(perf="map").compile(adds(1))
print(os.getpid())
""")
    assert [name.partition("@")[0] for *_, name in functions(path)] == ["f", "f"]


def test_what_others_in_the_process_wrote_stays(mapped) -> None:
    (path,), _ = mapped("""
MAP.touch(0o600); MAP.write_text("1000 10 python's\\n")
compiler(perf="map").compile(adds(1))
print(os.getpid())
""")
    assert [name.partition("@")[0] for *_, name in functions(path)] == ["python's", "f", "f"]


def test_a_forked_child_has_a_file_of_its_own(mapped) -> None:
    (parent, child), _ = mapped("""
it = compiler(perf="map")
kept = it.compile(adds(1, "kept"))
dropped = twinjit.Compiler(cache=False, settings=twinjit.Settings(perf="map", memory_max_bytes=0))
dropped.compile(adds(2, "dropped"))
pid = os.fork()
if not pid:
    it.compile(adds(3, "childs"))
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
it.compile(adds(4, "parents"))
print(os.getpid(), pid)
""")
    names = [[name.partition("@")[0] for *_, name in functions(each)] for each in (parent, child)]
    assert names[0] == ["kept", "kept", "dropped", "dropped", "parents", "parents"]
    assert sorted(names[1]) == ["childs", "childs", "kept", "kept"]


def test_threads_write_whole_lines(mapped) -> None:
    (path,), _ = mapped("""
from concurrent.futures import ThreadPoolExecutor
it = compiler(perf="map")
with ThreadPoolExecutor(8) as pool:
    kept = list(pool.map(lambda number: it.compile(adds(number)), range(100)))
print(os.getpid())
""")
    found = functions(path)
    assert len(found) == 200
    assert len({address for address, *_ in found}) == 200


def test_odd_names_stay_on_their_lines(mapped) -> None:
    (path,), (key,) = mapped("""
it = compiler(perf="map")
text = 'func.func @"a b\\\\0A0 1 c → d"() { return }'
executable = it.compile(text)
print(os.getpid()); print(executable.key.hex)
""")
    assert {name for *_, name in functions(path)} == {f"a b?0 1 c → d@{key[:8]}"}
