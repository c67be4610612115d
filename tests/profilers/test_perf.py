"""perf itself, on what it is told."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.missing import skip_or_fail
from tests.profilers.programs import run

PERF = shutil.which("perf")

SPINNING = """
it = twinjit.Compiler(cache=False, settings=twinjit.Settings(perf=sys.argv[1]))
executable = it.compile(SPIN)
for _ in range(100):
    executable.spin(1_000_003)
print(os.getpid()); print(executable.key.hex)
"""


@pytest.fixture
def recorded(tmp_path):
    """Record a process that spins; return its data, its number and its program's key."""
    if not PERF:
        skip_or_fail("perf is not installed")
    data = tmp_path / "perf.data"
    record = (PERF, "record", "-q", "-k", "mono", "-o", str(data))
    allowed = subprocess.run([*record, "true"], capture_output=True, text=True)
    if allowed.returncode:
        pytest.skip(f"perf may not record here: {allowed.stderr.strip()}")

    def record_spinning(how: str) -> tuple[Path, int, str]:
        pid, key = run(SPINNING, how, wrapped_by=record).split()
        return data, int(pid), key

    return record_spinning


def report(data: Path) -> dict[str, float]:
    command = [PERF, "report", "-i", data, "--stdio", "-F", "overhead,sym", "-t", "\t", "-q"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    shares: dict[str, float] = {}
    for line in done.stdout.splitlines():
        share, tab, symbol = line.partition("\t")
        if tab:
            name = symbol.split("] ", 1)[1].strip()
            shares[name] = shares.get(name, 0.0) + float(share.strip().rstrip("%"))
    return shares


def test_names_from_a_map(recorded) -> None:
    data, pid, key = recorded("map")
    try:
        shares = report(data)
    finally:
        Path(f"/tmp/perf-{pid}.map").unlink()
    assert max(shares, key=shares.__getitem__) == f"spin@{key[:8]}"


def test_names_and_code_from_a_dump(recorded, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("JITDUMPDIR", str(tmp_path))
    data, pid, key = recorded("dump")
    injected = tmp_path / "injected.data"
    subprocess.run([PERF, "inject", "--jit", "-i", data, "-o", injected], check=True)
    shares = report(injected)
    assert max(shares, key=shares.__getitem__) == f"spin@{key[:8]}"
    assert f"spin@{key[:8]}" not in report(data)
    # The code: the loop divides.
    objects = sorted(tmp_path.glob(f".debug/jit/twinjit-*/jitted-{pid}-*.so"))
    assert len(objects) == 3
    code = subprocess.run(
        ["objdump", "-d", objects[-1]], check=True, capture_output=True, text=True
    ).stdout
    assert "idiv" in code
