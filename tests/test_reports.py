"""Faults that users reported of other systems, tried on ours; ``docs/faults.md`` lists them all."""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mlir.ir
import pytest

import twinjit
from twinjit import build

ROOT = Path(__file__).parent.parent

CALLER = """
  func.func @f(%x: i64) -> i64 {{ %y = call @helper(%x) : (i64) -> i64 return %y : i64 }}
  func.func private @helper(%x: i64) -> i64 {{
    %k = arith.constant {k} : i64
    %y = arith.muli %x, %k : i64
    return %y : i64
  }}
"""

KEY_OF = """
import json, sys, twinjit
from pathlib import Path
compiler = twinjit.Compiler(cache=False, target=twinjit.Target.host())
print(json.dumps([compiler.explain(Path(path)).key.hex for path in sys.argv[1:]]))
"""


def keys_elsewhere(*, cwd: Path, **environment: str) -> list[str]:
    programs = sorted((ROOT / "examples").glob("*.mlir"))
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", KEY_OF, *map(str, programs)],
        check=True,
        capture_output=True,
        cwd=cwd,
        env=env,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_nothing_of_a_process_or_user_enters_a_key(tmp_path: Path) -> None:
    """Report 2: homes, temporary folders, working directories, hash seeds, addresses."""
    (tmp_path / "elsewhere").mkdir()
    here = keys_elsewhere(cwd=ROOT, PYTHONHASHSEED="1")
    there = keys_elsewhere(
        cwd=tmp_path,
        PYTHONHASHSEED="2",
        HOME=str(tmp_path),
        TMPDIR=str(tmp_path / "elsewhere"),
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        LC_ALL="C",
        TZ="Asia/Tokyo",
    )
    assert here == there
    assert len(set(here)) == len(here) > 5


@pytest.mark.parametrize("place", range(len(build.TOOLCHAIN)))
def test_a_rebuilt_library_makes_other_keys(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Report 3: the same version number, another build."""
    text = CALLER.format(k=3)
    before = twinjit.Compiler(cache=False).explain(text).key
    rebuilt = list(build.TOOLCHAIN)
    rebuilt[place] = (rebuilt[place][0], "0" * 40)
    monkeypatch.setattr(build, "TOOLCHAIN", tuple(rebuilt))
    after = twinjit.Compiler(cache=False).explain(text).key
    (difference,) = after.differences(before)
    assert difference.name == f"build-{rebuilt[place][0]}"


def address_of(module: mlir.ir.Module) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address: int = pointer(module._CAPIPtr, b"mlir.ir.Module._CAPIPtr")
    return address


def test_a_recycled_address_is_no_identity(compiler: twinjit.Compiler) -> None:
    """Report 4: modules that are freed, and others made where they were."""
    seen: set[int] = set()
    recycled = 0
    with mlir.ir.Context():
        for k in range(500):  # the allocator chooses; two are enough as a rule
            module = mlir.ir.Module.parse(CALLER.format(k=k))
            recycled += address_of(module) in seen
            seen.add(address_of(module))
            assert compiler.compile(module).f(7) == 7 * k
            if recycled == 2:
                break
            del module
    assert recycled


def test_private_callees_of_one_name(compiler: twinjit.Compiler) -> None:
    """Report 6: the callers' own text is the same."""
    double, triple = CALLER.format(k=2), CALLER.format(k=3)
    assert compiler.explain(double).key != compiler.explain(triple).key
    assert [compiler.compile(text).f(7) for text in (double, triple, double)] == [14, 21, 14]


def test_parsing_again_into_one_context() -> None:
    """Report 7: LLVM renames the type ``%S`` to ``%S.0`` when it is read a second time."""
    llvmlite = pytest.importorskip("llvmlite.binding")
    text = "%S = type { i32, i64 }\ndefine void @f(ptr %p) {\n  store %S zeroinitializer, ptr %p\n"
    text += "  ret void\n}\n"
    context = llvmlite.create_context()
    modules = [llvmlite.parse_assembly(text, context) for _ in range(3)]
    assert "%S.0" in str(modules[1])
    prints = {twinjit.fingerprint(str(module), language="llvm") for module in modules}
    assert len(prints) == 1


def test_documented_reports_name_tests_that_exist() -> None:
    text = (ROOT / "docs" / "faults.md").read_text()
    rows = re.findall(r"^\| (\d+) \|.*\|$", text, re.MULTILINE)
    assert rows == [str(number) for number in range(1, 28)]
    for row in re.findall(r"^\| \d+ \|.*\|$", text, re.MULTILINE):
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for file, test in named:
            tree = ast.parse((ROOT / file).read_text())
            names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert test in names, f"{file}::{test}"
