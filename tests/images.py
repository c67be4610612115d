"""Linked images, and what the kernel says of their memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import twinjit
from twinjit._native import _llvm

__all__ = ["FUNCTIONS", "addresses", "load", "maps", "object_code", "program", "protection"]

FUNCTIONS = ("next", "entry", "where")


def program(number: int = 1, *, variables: int = 1) -> str:
    """Text of a program with code, read-only data and variables, in pages of their own.

    ``next()`` counts its calls from `number`, ``entry(i)`` reads a table, and ``where()`` gives the
    addresses of table and variables.
    """
    return f"""
    memref.global "private" constant @table : memref<4xi64> = dense<[{number}, 11, 22, 33]>
    memref.global "private" @calls : memref<{variables}xi64> = dense<0>
    func.func @next() -> i64 {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : i64
      %first = arith.constant {number} : i64
      %calls = memref.get_global @calls : memref<{variables}xi64>
      %before = memref.load %calls[%zero] : memref<{variables}xi64>
      %now = arith.addi %before, %one : i64
      memref.store %now, %calls[%zero] : memref<{variables}xi64>
      %sum = arith.addi %before, %first : i64
      return %sum : i64
    }}
    func.func @entry(%i: index) -> i64 {{
      %table = memref.get_global @table : memref<4xi64>
      %entry = memref.load %table[%i] : memref<4xi64>
      return %entry : i64
    }}
    func.func @where() -> (index, index) {{
      %table = memref.get_global @table : memref<4xi64>
      %calls = memref.get_global @calls : memref<{variables}xi64>
      %0 = memref.extract_aligned_pointer_as_index %table : memref<4xi64> -> index
      %1 = memref.extract_aligned_pointer_as_index %calls : memref<{variables}xi64> -> index
      return %0, %1 : index, index
    }}
    """


@cache
def object_code(variables: int = 1) -> bytes:
    """Object code of `program`."""
    compiler = twinjit.Compiler(cache=False, shared=False, opt_level=1)
    return compiler.compile(program(variables=variables)).object_code


def load(variables: int = 1) -> _llvm.Image:
    """Link `object_code` once more."""
    return _llvm.load(object_code(variables), FUNCTIONS)


def addresses(executable: twinjit.Executable) -> dict[str, int]:
    """Where an executable of `program` has its code, its table and its variables."""
    table, variables = executable.where()
    return {"code": executable.next.address, "table": table, "variables": variables}


def maps() -> int:
    """Count the mappings of this process."""
    return Path("/proc/self/maps").read_text().count("\n")


def protection(address: int) -> str:
    """What may be done at an address, such as ``"r-x"``; ``"---"`` where nothing is mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        ends, flags = line.split()[:2]
        begin, end = (int(each, 16) for each in ends.split("-"))
        if begin <= address < end:
            return flags[:3]
    return "---"
