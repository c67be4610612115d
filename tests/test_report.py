"""What is told of calls, of lazy functions and of tiers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from twinjit import Compiler, Jit, Library, Report, TierUp
from twinjit.report import FunctionCounts, describe_timing, timing_of

TWO = (
    "func.func @f(%x: i64) -> i64 { return %x : i64 } "
    "func.func @g(%x: i64) -> i64 { return %x : i64 }"
)
HELPER = "define i64 @helper(i64 %x) { %y = mul i64 %x, 3 ret i64 %y }"
CALLER = (
    "declare i64 @helper(i64) define i64 @f(i64 %x) { %y = call i64 @helper(i64 %x) ret i64 %y }"
)
PHASES = {"wait": 0.5, "parse": 1.0, "passes": 2.0, "libraries": 4.0, "optimise": 8.0, "load": 16.0}


def test_functions_are_counted_by_what_was_done_with_them(tmp_path) -> None:
    compiler = Compiler(cache=tmp_path)
    assert compiler.compile(TWO).report.counts == FunctionCounts(generated=2)
    assert compiler.compile(TWO).report.counts == FunctionCounts(reused=2)
    assert Compiler(cache=tmp_path).compile(TWO).report.counts == FunctionCounts(reused=2)


def test_imports_are_counted_once() -> None:
    compiler = Compiler(cache=False, libraries=[Library.from_bitcode(HELPER.encode())])
    assert compiler.compile(CALLER).report.counts == FunctionCounts(generated=1, imported=1)
    again = compiler.compile(CALLER).report
    assert (again.counts, again.imported) == (FunctionCounts(reused=1), 1)


def test_phases_are_summed_up_to_stages() -> None:
    assert timing_of(PHASES) == {
        "generation": 3.0,
        "import": 4.0,
        "optimisation": 8.0,
        "emission": 0.0,
        "loading": 16.0,
        "other": 0.5,
    }


def test_stages_in_words() -> None:
    assert describe_timing({"codegen": 0.0015}) == (
        "generation 0.000 ms, import 0.000 ms, optimisation 0.000 ms, emission 1.500 ms, "
        "loading 0.000 ms, other 0.000 ms"
    )


def test_stages_cover_a_compilation() -> None:
    report = Compiler(cache=False).compile(TWO).report
    assert sum(report.timing.values()) == pytest.approx(sum(report.phases.values()))
    assert all(report.timing[name] > 0 for name in ("generation", "optimisation", "emission"))


def test_a_report_in_lines() -> None:
    report = Report("compiled", 0.0315, PHASES, "std", 1234, True, 2, functions=3, imported=1)
    assert report.text().splitlines() == [
        "Code: compiled in 31.500 ms, 1,234 bytes at -O2, pipeline std, stored",
        "Functions: 3 generated, 1 imported, 0 reused, 0 skipped",
        f"Timing: {describe_timing(PHASES)}",
    ]
    promoted = replace(report, opt_level=0, promoted=report)
    assert promoted.text().splitlines()[3:5] == [
        "Optimised:",
        "  Code: compiled in 31.500 ms, 1,234 bytes at -O2, pipeline std, stored",
    ]


def test_reports_of_tiers_tell_both() -> None:
    executable = Compiler(cache=False).compile(TWO, tier_up=TierUp(calls=1))
    assert executable.report.opt_level == 0
    executable.promote().result(60)
    data = json.loads(json.dumps(executable.report.to_data()))
    assert (data["opt_level"], data["promoted"]["opt_level"]) == (0, 3)
    assert data["promoted"]["counts"]["generated"] == 2


@pytest.mark.parametrize("level", [0, 1, 3])
def test_the_level_is_that_of_the_code(tmp_path, level: int) -> None:
    for _ in range(2):
        compiler = Compiler(cache=tmp_path, opt_level=level)
        assert compiler.compile(TWO).report.opt_level == level


def test_reports_of_lazy_functions(tmp_path) -> None:
    compiler = Compiler(cache=tmp_path, libraries=[Library.from_bitcode(HELPER.encode())])
    jit = Jit(compiler)
    jit.define("never", "i64(i64)", lambda: "")
    jit.add(CALLER)
    assert jit.f(5) == 15
    assert jit.report.counts == FunctionCounts(generated=1, imported=1, skipped=1)
    assert "Functions: 1 generated, 1 imported, 0 reused, 1 skipped" in jit.report.text()
    assert "IR: generated 0 times, 1 skipped" in jit.report.text()
    data = json.loads(json.dumps(jit.report.to_data()))
    assert data["counts"] == {"generated": 1, "imported": 1, "reused": 0, "skipped": 1}
    again = Jit(Compiler(cache=tmp_path, libraries=[Library.from_bitcode(HELPER.encode())]))
    again.add(CALLER)
    assert again.f(5) == 15
    assert again.report.counts == FunctionCounts(reused=1)
    assert "(1 from disk)" in again.report.text()
