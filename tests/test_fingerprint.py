"""The fingerprint tells programs apart by content, and by nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mlir.ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twinjit
from tests.live_programs import PROGRAMS, bytecode, fingerprint, generic, parse
from tests.strategies import ArithProgram, arith_programs, value_names

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden" / "fingerprints.json").read_text())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
class TestOneProgram:
    def test_golden_digest(self, path: Path) -> None:
        assert fingerprint(path.read_text()) == GOLDEN[path.stem]

    def test_every_context_and_form(self, path: Path) -> None:
        text = path.read_text()
        module = parse(text)
        expected = fingerprint(module)
        assert fingerprint(module) == expected, "warm"
        assert fingerprint(parse(text)) == expected, "another context"
        assert fingerprint(generic(module)) == expected, "generic form"
        assert fingerprint(module.operation.get_asm(enable_debug_info=True)) == expected
        assert fingerprint(bytecode(module)) == expected, "bytecode"
        assert twinjit.fingerprint(text, allow_unregistered=True) == expected

    def test_program_is_not_changed(self, path: Path) -> None:
        module = parse(path.read_text())
        before = bytecode(module), str(module)
        fingerprint(module)
        assert (bytecode(module), str(module)) == before

    def test_operation_stands_for_a_module_of_its_own(self, path: Path) -> None:
        module = parse(path.read_text())
        for operation in module.body.operations:
            with module.context:
                alone = ir.Module.create(ir.Location.unknown())
                alone.body.append(operation.operation.clone())
            expected = fingerprint(alone)
            if operation.operation.name == "builtin.module":
                assert fingerprint(operation.operation) != expected
            else:
                assert fingerprint(operation.operation) == expected


def test_all_programs_differ() -> None:
    assert len({fingerprint(path.read_text()) for path in PROGRAMS}) == len(PROGRAMS)


def test_another_process() -> None:
    code = (
        "from tests.live_programs import PROGRAMS, fingerprint\n"
        "for path in PROGRAMS: print(path.stem, fingerprint(path.read_text()))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True, check=True
    )
    assert output.stderr == ""
    assert dict(line.split() for line in output.stdout.splitlines()) == GOLDEN


def test_nested_module_is_not_its_content() -> None:
    nested = parse("module { module {} }")
    assert fingerprint(nested) != fingerprint("module {}")
    assert fingerprint(nested.body.operations[0].operation) == fingerprint("module {}")
    assert fingerprint("") == fingerprint("module {}")
    assert fingerprint("module @m {}") != fingerprint("module {}")


@settings(max_examples=60, deadline=None)
@given(st.data(), arith_programs())
def test_value_names_do_not_count(data: st.DataObject, program: ArithProgram) -> None:
    first = program.render(data.draw(value_names(program.values)))
    second = program.render(data.draw(value_names(program.values)))
    expected = fingerprint(first)
    assert fingerprint(second) == expected
    module = parse(second)
    assert fingerprint(generic(module)) == expected
    assert fingerprint(bytecode(module)) == expected


@settings(max_examples=100, deadline=None)
@given(arith_programs(max_steps=3), arith_programs(max_steps=3))
def test_equal_if_and_only_if_the_same(a: ArithProgram, b: ArithProgram) -> None:
    first, second = (p.render(tuple(f"v{i}" for i in range(p.values))) for p in (a, b))
    assert (fingerprint(first) == fingerprint(second)) == (a == b)
