"""What `run_passes` is not given: names of pipelines that there are not, and no live modules."""

from __future__ import annotations

import pytest

import twinjit
from tests.live_programs import parse
from twinjit.errors import ConfigError, PipelineError, UnsupportedProgramError

PROGRAM = "func.func @f() { return }"


@pytest.mark.parametrize("name", ["linlag", "auto"])
def test_names_that_are_none_are_told_which_there_are(name: str) -> None:
    with pytest.raises(PipelineError, match=rf"^'{name}' is none .* \(llvm, std, linalg, linalg-"):
        twinjit.run_passes(parse(PROGRAM), name)


@pytest.mark.parametrize("pipeline", [None, 5, b"cse"])
def test_pipelines_that_are_no_text(pipeline: object) -> None:
    with pytest.raises(ConfigError, match=r"pipeline is .*; give a name or"):
        twinjit.run_passes(parse(PROGRAM), pipeline)  # type: ignore[arg-type]


def test_only_live_modules() -> None:
    module = parse(PROGRAM)
    for program in (PROGRAM, "missing.mlir", b"module {}", [module], None):
        with pytest.raises(UnsupportedProgramError, match=r"parse text with mlir\.ir"):
            twinjit.run_passes(program, "cse")
    with pytest.raises(UnsupportedProgramError, match=r"not over func\.func"):
        twinjit.run_passes(module.body.operations[0], "cse")
