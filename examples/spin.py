"""Run for a while in compiled code, for `perf` and gdb to look at: see ``docs/profiling.md``."""

from __future__ import annotations

import twinjit

TEXT = """
func.func @spin(%n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one) -> f64 {
    %root = math.sqrt %x : f64
    %next = arith.addf %root, %one : f64
    scf.yield %next : f64
  }
  return %last : f64
}"""

if __name__ == "__main__":
    print(twinjit.compile(TEXT).spin(100_000_000))
