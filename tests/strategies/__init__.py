"""What property tests share: Hypothesis strategies, and random MLIR programs."""

from tests.strategies.arith import ArithProgram, arith_programs, value_names
from tests.strategies.artifacts import (
    artifacts,
    digests,
    json_objects,
    keys,
    names,
    part_tables,
    texts,
    values,
)
from tests.strategies.modules import Program, Spelling, programs, random_program, render, spellings
from tests.strategies.mutations import mutants
from tests.strategies.policies import LOOSEST, either, policies
from tests.strategies.sameness import same_program
from tests.strategies.symbols import random_symbols, spelt_otherwise, symbols

__all__ = [
    "LOOSEST",
    "ArithProgram",
    "Program",
    "Spelling",
    "arith_programs",
    "artifacts",
    "digests",
    "either",
    "json_objects",
    "keys",
    "mutants",
    "names",
    "part_tables",
    "policies",
    "programs",
    "random_program",
    "random_symbols",
    "render",
    "same_program",
    "spellings",
    "spelt_otherwise",
    "symbols",
    "texts",
    "value_names",
    "values",
]
