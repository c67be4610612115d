"""Loading an artifact gives the code that was compiled, or an ArtifactError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twinjit
from tests.samples import with_sections
from tests.test_lifted import table
from twinjit import Policy
from twinjit.artifact import Artifact, decode, encode
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.errors import ArtifactError, CacheWarning
from twinjit.executable import LoadedCode
from twinjit.packing import Packed

VALUES = np.arange(200, dtype=np.int64)
CONSTANTS = Constants(("tensor<200xi64>",), (VALUES.tobytes(),))
LARGE = table(np.arange(40_000, dtype=np.int64))
SQUARE = "func.func @f(%i: index) -> i64 { %x = arith.index_cast %i : index to i64 \
          %y = arith.muli %x, %x : i64 return %y : i64 }"

# By name: a program, and what shows that its code is right.
PROGRAMS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "double": ("func.func @f(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }",
               lambda code: code.function("f")(5) == 10),
    "square": (SQUARE, lambda code: code.function("f")(5) == 25),
    "lifted": (table(VALUES), lambda code: code.function("f")(5) == 5),
    "large": (LARGE, lambda code: code.function("f")(39_999) == 39_999),
}  # fmt: skip
SECTIONS = ["key", "manifest", "object", "signatures", "report", "target", "constants", "program"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Artifact]:
    """Artifacts of all programs, as a store gives them."""
    root = tmp_path_factory.mktemp("store")
    found = {}
    for name, (text, _) in PROGRAMS.items():
        policy = Policy(constants="lift") if name == "lifted" else Policy()
        compiler = twinjit.Compiler(cache=root, policy=policy, confirm="always")
        assert compiler.store is not None
        artifact = compiler.store.get(compiler.compile(text).key.digest)
        assert artifact is not None
        found[name] = artifact
    return found


def load(artifact: Artifact, program: str) -> LoadedCode:
    """Load an entry for a program, as the tiers do."""
    again = decode(encode(artifact))
    needed = LiftedConstant.all_of(again)
    constants = CONSTANTS if program == "lifted" and needed else NO_CONSTANTS
    return LoadedCode(again, constants, is_stored=True)


def is_right(artifact: Artifact, program: str) -> bool:
    code = load(artifact, program)
    assert code.artifact.key.digest == code.artifact.key_digest
    return PROGRAMS[program][1](code)


def test_whole_artifacts_load(compiled: dict[str, Artifact]) -> None:
    assert [name for name, each in compiled.items() if not is_right(each, name)] == []
    assert {name for name, each in compiled.items() if each.section("constants")} == {"lifted"}
    assert {
        name for name, each in compiled.items() if isinstance(dict(each.sections)["object"], Packed)
    } == {"large"}


def check_changed(artifact: Artifact, program: str, changes: dict[str, bytes | None]) -> None:
    changed = with_sections(artifact, changes)
    (name,) = changes
    try:
        assert is_right(changed, program)
    except ArtifactError:
        return
    if changed != artifact:
        assert name in ("program", "target")  # which loading does not need
        with pytest.raises(ArtifactError):
            assert decode(encode(changed)).section(name)


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b"\x7fELF"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", SECTIONS)
def test_sections_removed_or_overwritten(
    compiled: dict[str, Artifact], program: str, name: str, content: bytes | None
) -> None:
    check_changed(compiled[program], program, {name: content})


@pytest.mark.parametrize("other", PROGRAMS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", SECTIONS)
def test_sections_of_another_artifact(
    compiled: dict[str, Artifact], program: str, name: str, other: str
) -> None:
    content = compiled[other].section(name)
    content = None if content is None else bytes(content)
    check_changed(compiled[program], program, {name: content})


def test_a_store_heals_from_code_without_its_constants(tmp_path: Path) -> None:
    compiler = twinjit.Compiler(cache=tmp_path, policy=Policy(constants="lift"))
    assert compiler.store is not None
    digest = compiler.compile(table(VALUES)).key.digest
    whole = compiler.store.get(digest)
    assert whole is not None
    assert compiler.store.put(with_sections(whole, {"constants": None}))
    compiler.clear_memory()
    with pytest.warns(CacheWarning):
        executable = compiler.compile(table(VALUES))
    assert (executable.report.tier, executable.f(7)) == ("compiled", 7)
    healed = compiler.store.get(digest)
    assert healed is not None
    assert healed.section("constants") == whole.section("constants")
