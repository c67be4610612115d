"""Whether a program gives the same code, and what is told where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlir.ir as ir
import pytest

import twinjit
from tests.reproduction.fickle import DOUBLE, fickle
from twinjit import Compiler, Library, Policy
from twinjit.errors import ConfigError, ParseError, UnsupportedProgramError

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = Path(__file__).parents[1] / "llvmir" / "programs"
QUICK = ("again", "fresh")


def test_all_circumstances_give_the_same_code() -> None:
    found = twinjit.reproduce(DOUBLE, times=1)
    assert found.identical
    assert found.difference is None
    assert [each.mode for each in found.outcomes] == [
        *("again", "fresh", "used", "thread", "process"),
    ]
    assert [each.compilations for each in found.outcomes] == [1] * 5
    assert (found.compilations, found.program) == (6, "<text>")
    assert str(found).splitlines()[-1] == "identical: <text>, compiled 6 times"


def test_it_goes_by_the_compilers_options_and_past_its_caches(tmp_path) -> None:
    compiler = Compiler(
        cache=tmp_path, shared=False, opt_level=1, policy=Policy(locations="keep"), pipeline="std"
    )
    found = twinjit.reproduce(DOUBLE, modes=QUICK, times=3, compiler=compiler)
    assert found.compilations == 7
    assert not any(compiler.stats().values())
    assert compiler.store.stats().puts == 0
    assert found.key == compiler.compile(DOUBLE).key.hex


@pytest.mark.parametrize("kind", ["bytes", "path"])
def test_with_libraries(kind, tmp_path) -> None:
    bitcode = b"define i64 @callee(i64 %x) { %y = add i64 %x, 1 ret i64 %y }"
    path = tmp_path / "callee.ll"
    path.write_bytes(bitcode)
    library = Library.from_bitcode(bitcode if kind == "bytes" else path)
    compiler = Compiler(cache=False, shared=False, libraries=library)
    program = """
      declare i64 @callee(i64)
      define i64 @caller(i64 %x) { %y = call i64 @callee(i64 %x) ret i64 %y }
    """
    found = twinjit.reproduce(program, times=1, compiler=compiler)
    assert found.identical, str(found)
    assert found.key == compiler.compile(program).key.hex


@pytest.mark.parametrize("name", ["mlp.mlir", "saxpy.mlir"])
def test_files(name: str) -> None:
    found = twinjit.reproduce(EXAMPLES / name, times=1)
    assert found.identical, str(found)


def test_live_modules_are_taken_as_they_are() -> None:
    with ir.Context():
        module = ir.Module.parse(DOUBLE)
    before = str(module)
    found = twinjit.reproduce(module, times=1)
    assert found.identical, str(found)
    assert found.key == Compiler(cache=False, shared=False).compile(module).key.hex
    assert str(module) == before


def test_programs_of_other_packages() -> None:
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser

    context = Context()
    for name, load in get_all_dialects().items():
        context.register_dialect(name, load)
    module = Parser(context, DOUBLE).parse_module()
    found = twinjit.reproduce(module, modes=("again", "process"), times=1)
    assert found.identical, str(found)
    assert found.program.startswith("<xdsl")


@pytest.mark.parametrize("name", ["control.ll", "memory.ll"])
def test_llvm_ir(name: str) -> None:
    path = PROGRAMS / name
    found = twinjit.reproduce(path, times=1)
    assert found.identical, str(found)
    assert found.key == Compiler(cache=False, shared=False).explain(path).key.hex


def test_lifted_constants_and_what_has_no_identity() -> None:
    values = ", ".join(str(float(number)) for number in range(512))
    text = (
        f"func.func @f() -> tensor<512xf32> {{ %c = arith.constant dense<[{values}]> : "
        "tensor<512xf32> return %c : tensor<512xf32> }"
    )
    compiler = Compiler(cache=False, policy=Policy(constants="lift"))
    assert twinjit.reproduce(text, times=1, compiler=compiler).identical
    unknown = DOUBLE.replace(
        "i64 {", "i64 attributes {t.x = dense_resource<gone> : tensor<2xi64>} {"
    )
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(unknown)
    assert twinjit.reproduce(module, modes=("again", "thread"), times=1).identical


def test_modes_come_in_their_order_and_once() -> None:
    found = twinjit.reproduce(DOUBLE, modes=("fresh", "again", "fresh"), times=1)
    assert [each.mode for each in found.outcomes] == ["again", "fresh"]
    one: Any = "again"
    assert len(twinjit.reproduce(DOUBLE, modes=one, times=1).outcomes) == 1


@pytest.mark.parametrize("modes", [("agian",), (), ("again", "later"), "later"])
def test_other_modes(modes: Any) -> None:
    with pytest.raises(ConfigError, match=r"give one or more of 'again', 'fresh'"):
        twinjit.reproduce(DOUBLE, modes=modes)


@pytest.mark.parametrize("times", [0, -1, True, 1.0, "2"])
def test_other_times(times: Any) -> None:
    with pytest.raises(ConfigError, match="times is"):
        twinjit.reproduce(DOUBLE, times=times)


def test_what_cannot_be_compiled_or_taken_is_an_error() -> None:
    with pytest.raises(ParseError):
        twinjit.reproduce("func.func @f(")
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(
            "func.func @f(%n: index) { scf.for %i = %n to %n step %n {} return }"
        )
        loop = module.body.operations[0].regions[0].blocks[0].operations[0]
        with pytest.raises(UnsupportedProgramError, match="from outside"):
            twinjit.reproduce(loop)
    with pytest.raises(FileNotFoundError):
        twinjit.reproduce(Path("nowhere.mlir"))


def test_the_first_difference_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinjit.reproduction.modes.LocalBuilder", fickle(first_bad=3))
    found = twinjit.reproduce(DOUBLE, modes=QUICK, times=4)
    assert not found.identical
    again, fresh = found.outcomes
    assert (again.compilations, again.identical) == (3, False)
    assert (fresh.compilations, fresh.identical) == (1, False)
    assert found.difference == again.difference
    assert found.difference
    assert (found.difference.section, found.difference.function) == (".text", "double")
    text = str(found)
    assert "again    different: the code or data differs in section .text, function" in text
    assert [line for line in text.splitlines() if line.startswith("  - 0: leaq")]
    assert text.endswith("different: <text>, compiled 5 times")
    data = json.loads(json.dumps(found.to_data()))
    assert data["identical"] is False
    assert data["outcomes"][0]["difference"] == found.difference.to_data()
    assert list(data) == ["program", "key", "identical", "compilations", "outcomes"]


def test_what_is_refused_later_is_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinjit.reproduction.modes.LocalBuilder", fickle(raises=True))
    found = twinjit.reproduce(DOUBLE, modes=QUICK)
    assert found.difference
    assert (found.difference.part, found.difference.what) == (
        "outcome",
        "it was compiled at first, and now refused: not this time",
    )
