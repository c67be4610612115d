"""Programs that run code which was made fast, until they are called often."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
import weakref

import numpy as np
import pytest

import twinjit
from tests.threads import at_once
from twinjit import Candidate, Compiler, TierUp
from twinjit.errors import ConfigError, ExecutorError

POLYNOMIAL = """
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {{
  %c = arith.constant dense<{}.0> : tensor<64xf32>
  %0 = arith.mulf %x, %c : tensor<64xf32>
  %1 = arith.addf %0, %x : tensor<64xf32>
  %2 = math.exp %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}}
func.func @g(%x: i64) -> i64 {{
  %c = arith.constant {} : i64
  %0 = arith.addi %x, %c : i64
  return %0 : i64
}}
"""


def program(number: int) -> str:
    return POLYNOMIAL.format(number, number)


def levels(executable: twinjit.Executable) -> list[str]:
    return [part[1] for part in executable.key.parts if part[0] == "opt-level"]


def test_code_is_optimised_after_so_many_calls() -> None:
    executable = Compiler(cache=False).compile(program(1), tier_up=TierUp(calls=3))
    x = np.linspace(0, 1, 64, dtype=np.float32)
    first = [executable.f(x) for _ in range(2)]
    assert (levels(executable), executable.report.promoted) == (["0"], None)
    executable.f(x)
    executable.promote().result(60)
    assert levels(executable) == ["3"]
    assert executable.report.promoted.tier == "compiled"
    assert executable.f(x).tobytes() == first[0].tobytes()


def test_functions_that_were_handed_out_get_the_optimised_code() -> None:
    f = Compiler(cache=False).compile(program(2), tier_up=TierUp(calls=2)).g
    address = f.address
    assert [f(1) for _ in range(2)] == [3, 3]
    for _ in range(10_000):
        if f.address != address:
            break
        threading.Event().wait(0.01)
    assert f.address != address
    assert f(1) == 3


def test_optimised_code_that_is_known_is_taken_at_once(tmp_path) -> None:
    Compiler(cache=tmp_path).compile(program(3))
    executable = Compiler(cache=tmp_path).compile(program(3), tier_up=True)
    assert (executable.report.tier, levels(executable)) == ("disk", ["3"])


def test_both_are_stored(tmp_path) -> None:
    with Compiler(cache=tmp_path) as compiler:
        executable = compiler.compile(program(4), tier_up=True)
        executable.promote().result(60)
    assert Compiler(cache=tmp_path).compile(program(4)).report.tier == "disk"
    assert Compiler(cache=tmp_path, opt_level=0).compile(program(4)).report.tier == "disk"


@pytest.mark.parametrize("options", [{}, {"opt_level": 1}])
def test_what_is_optimised_at_once_is_promoted_already(options, tmp_path) -> None:
    compiler = Compiler(cache=tmp_path, **options)
    known = compiler.compile(program(5))
    executable = compiler.compile(program(5), tier_up=TierUp(calls=1, first_level=1))
    assert executable.promote().result(0) == known
    assert [executable.g(1) for _ in range(3)] == [6, 6, 6]
    assert executable.report.promoted is None


def test_a_gate_is_asked_before_and_then_as_calls_double() -> None:
    asked: list[Candidate] = []

    def gate(candidate: Candidate) -> bool:
        asked.append(candidate)
        return candidate.calls >= 8

    executable = Compiler(cache=False).compile(program(6), tier_up=TierUp(calls=2, gate=gate))
    for _ in range(20):
        executable.g(1)
    executable.promote().result(60)
    assert [(each.function, each.calls) for each in asked] == [
        ("", 0),
        ("g", 2),
        ("g", 4),
        ("g", 8),
    ]
    assert asked[0].first is None
    assert asked[1].first.tier == "compiled"
    assert asked[1].seconds > 0


def test_a_gate_may_ask_for_optimised_code_from_the_beginning() -> None:
    executable = Compiler(cache=False).compile(
        program(7), tier_up=TierUp(gate=lambda candidate: True)
    )
    assert levels(executable) == ["3"]


def test_a_gate_that_raises_before_fails_the_call() -> None:
    def gate(candidate: Candidate) -> bool:
        raise LookupError("no estimate")

    with pytest.raises(LookupError, match="no estimate"):
        Compiler(cache=False).compile(program(8), tier_up=TierUp(gate=gate))


@pytest.mark.parametrize(
    "option", [{"calls": 0}, {"calls": True}, {"first_level": 4}, {"first_level": -1}, {"gate": 3}]
)
def test_options_that_cannot_be_used_are_named(option) -> None:
    with pytest.raises(ConfigError, match=next(iter(option))):
        TierUp(**option)


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(ConfigError, match="tier_up is 3"):
        Compiler(cache=False).compile(program(1), tier_up=3)


def test_a_compiler_that_is_closed_leaves_the_first_code(caplog) -> None:
    compiler = Compiler(cache=False)
    executable = compiler.compile(program(9), tier_up=TierUp(calls=1))
    compiler.close()
    with caplog.at_level(logging.WARNING, "twinjit.compile"):
        assert executable.g(1) == 10
    assert "goes on without optimised code" in caplog.text
    with pytest.raises(ExecutorError):
        executable.promote().result(60)


def test_threads_call_while_it_is_optimised() -> None:
    executable = Compiler(cache=False).compile(program(10), tier_up=TierUp(calls=50))
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    expected = Compiler(cache=False).compile(program(10)).f(x).tobytes()

    def call(number: int) -> None:
        for _ in range(400):
            assert executable.f(x).tobytes() == expected
            assert executable.g(number) == number + 10

    at_once(call)
    assert executable.promote().result(60)
    assert levels(executable) == ["3"]


def test_a_forked_child_optimises_for_itself() -> None:
    compiler = Compiler(cache=False)
    executable = compiler.compile(program(11), tier_up=TierUp(calls=4))
    executable.g(1)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        for _ in range(4):
            executable.g(1)
        executable.promote().result(50)
        os._exit(0 if levels(executable) == ["3"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert levels(executable) == ["0"]


def test_in_isolated_workers() -> None:
    with Compiler(cache=False, executor="process") as compiler:
        executable = compiler.compile(program(12), tier_up=True)
        executable.promote().result(60)
        assert levels(executable) == ["3"]


def test_a_program_dropped_before_it_is_optimised_is_freed() -> None:
    compiler = Compiler(cache=False)
    executable = compiler.compile(program(13), tier_up=True)
    function = executable.g
    tiering = executable._tiering
    known = weakref.ref(tiering)
    del executable, function, tiering
    assert known() is None


def test_a_gate_may_hold_its_program() -> None:
    class Query:
        def __init__(self) -> None:
            options = TierUp(calls=2, gate=self.decides)
            self.executable = Compiler(cache=False).compile(program(14), tier_up=options)
            self.called = self.executable.g

        def decides(self, candidate: Candidate) -> bool:
            return False

    gone = weakref.ref(Query())
    gc.collect()
    assert gone() is None


def test_an_interrupt_in_a_gate_ends_the_call() -> None:
    def gate(candidate: Candidate) -> bool:
        if candidate.calls:
            raise KeyboardInterrupt
        return False

    executable = Compiler(cache=False).compile(program(15), tier_up=TierUp(calls=2, gate=gate))
    assert executable.g(1) == 16
    with pytest.raises(KeyboardInterrupt):
        executable.g(1)
    assert executable.g(1) == 16
