"""Programs and processes that profilers and debuggers look at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# A function of the C library's name, which is compiled under another, and one that callers use.
SPIN = """
func.func private @exp(%n: i64) -> i64 attributes {no_inline} { return %n : i64 }
func.func @spin(%n: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %count = arith.index_cast %n : i64 to index
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%a = %one) -> i64 {
    %q = arith.divsi %a, %n : i64
    %b = arith.addi %q, %a : i64
    %e = func.call @exp(%b) : (i64) -> i64
    %x = arith.xori %e, %n : i64
    scf.yield %x : i64
  }
  return %r : i64
}
"""


def adds(number: int, name: str = "f") -> str:
    """Make a program of which no other number has the code."""
    return (
        f"func.func @{name}(%x: i64) -> i64 {{ %c = arith.constant {number} : i64 "
        "%y = arith.addi %x, %c : i64 return %y : i64 }"
    )


BEGIN = """
import os, sys, warnings
from pathlib import Path
import twinjit
from tests.profilers.programs import SPIN, adds
"""


def run(script: str, *arguments: object, wrapped_by: tuple[str, ...] = ()) -> str:
    """Run a script in a process of its own; return what it prints."""
    command = [*wrapped_by, sys.executable, "-W", "error", "-c", BEGIN + script]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        cwd=Path(__file__).parent.parent.parent,
    )
    return done.stdout
