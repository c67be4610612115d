"""What it gains to compile functions when they are called, for 1,000 of which 10 are called.

Each function is a loop over arithmetic of its own. All without a store, but for ``recompiled``.

Figures
-------
``eager_ms``, ``lazy_ms``
    Until ten functions gave their first results: with a module of all 1,000 generated and compiled
    at once, and with a `Jit` that was told of 1,000.
``eager_over_lazy``
    Of these medians.
``module_lazy_ms``, ``eager_over_module_lazy``
    The same for ``compile(…, lazy=True)`` of the module of all 1,000, which is generated and read.
``generation_skipped``, ``skipped``
    Functions of 1,000 that were neither generated nor compiled.
``recompiled``
    Functions that are compiled anew, in a new compiler with the same disk store, after one of
    1,000 was edited and all of them are called.
``stub_ns``, ``direct_ns``, ``stub_over_direct``
    A call between two compiled functions, through a stub and between functions of one module (not
    inlined).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial

import twinjit
from benchmarks.harness import Figures, interleave

__all__ = ["run"]

_COUNT = 1000
_CALLED = range(0, _COUNT, 100)


def run(*, quick: bool) -> Figures:
    """Measure; see the module's docstring for the figures."""
    seconds = interleave(
        {"eager": _eager, "lazy": _lazy, "module": _module_lazy},
        rounds=1 if quick else 5,
        repeat={"eager": 1, "lazy": 1, "module": 1},
    )
    report = _lazy()
    return {
        "eager_ms": 1e3 * seconds["eager"],
        "lazy_ms": 1e3 * seconds["lazy"],
        "eager_over_lazy": seconds["eager"] / seconds["lazy"],
        "module_lazy_ms": 1e3 * seconds["module"],
        "eager_over_module_lazy": seconds["eager"] / seconds["module"],
        "generation_skipped": report.generation_skipped,
        "skipped": report.skipped,
        "recompiled": _recompiled(),
        **_calls(rounds=3 if quick else 15),
    }


def _text(index: int, edited: int = -1) -> str:
    """Generate a function: a loop of `n` turns over arithmetic of its own."""
    steps, value = [], "%sum"
    for step in range(12):
        number = index * 97 + step * 13 + 7 + (index == edited)
        steps.append(f"  %m{step} = mul i64 {value}, {2 * number + 1}")
        steps.append(f"  %s{step} = lshr i64 %m{step}, {step % 5 + 1}")
        steps.append(f"  %x{step} = xor i64 %s{step}, %i")
        value = f"%x{step}"
    body = "\n".join(steps)
    return f"""
define i64 @f{index}(i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ {index}, %0 ], [ {value}, %loop ]
{body}
  %next = add i64 %i, 1
  %is_end = icmp uge i64 %next, %n
  br i1 %is_end, label %end, label %loop
end:
  ret i64 {value}
}}
"""


def _module(edited: int = -1) -> str:
    return "".join(_text(index, edited) for index in range(_COUNT))


def _compiler() -> twinjit.Compiler:
    return twinjit.Compiler(cache=False, shared=False)


def _eager() -> None:
    executable = _compiler().compile(_module())
    for index in _CALLED:
        executable[f"f{index}"](10)


def _lazy() -> twinjit.LazyReport:
    jit = twinjit.Jit(_compiler())
    for index in range(_COUNT):
        jit.define(f"f{index}", "i64(i64)", partial(_text, index))
    for index in _CALLED:
        jit[f"f{index}"](10)
    return jit.report


def _module_lazy() -> None:
    executable = _compiler().compile(_module(), lazy=True)
    for index in _CALLED:
        executable[f"f{index}"](10)


def _recompiled() -> int:
    """Compile all functions, edit one, and count what is compiled then."""
    with tempfile.TemporaryDirectory() as folder:
        report = None
        for edited in (-1, _COUNT // 2):
            compiler = twinjit.Compiler(cache=folder, shared=False)
            executable = compiler.compile(_module(edited), lazy=True)
            for name in executable:
                executable[name](1)
            report = executable.report
        if report is None or report.compiled + sum(report.hits.values()) != _COUNT:
            raise RuntimeError(f"not all functions were called: {report}")
        return report.compiled


_CALLS = 1_000_000

_CALLER = """
define i64 @caller(i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %more = call i64 @callee(i64 %sum)
  %next = add i64 %i, 1
  %is_end = icmp eq i64 %next, %n
  br i1 %is_end, label %end, label %loop
end:
  ret i64 %more
}
define i64 @callee(i64 %x) noinline { %r = add i64 %x, 1 ret i64 %r }
"""


def _calls(rounds: int) -> dict[str, float]:
    direct = _compiler().compile(_CALLER)["caller"]
    stub = _compiler().compile(_CALLER, lazy=True)["caller"]
    if (direct(_CALLS), stub(_CALLS)) != (_CALLS, _CALLS):
        raise RuntimeError("the calls are not counted right")
    turns: dict[str, Callable[[], object]] = {
        "direct": lambda: direct(_CALLS),
        "stub": lambda: stub(_CALLS),
    }
    seconds = interleave(turns, rounds=rounds, repeat=dict.fromkeys(turns, 5))
    return {
        "stub_ns": 1e9 * seconds["stub"] / _CALLS,
        "direct_ns": 1e9 * seconds["direct"] / _CALLS,
        "stub_over_direct": seconds["stub"] / seconds["direct"],
    }
