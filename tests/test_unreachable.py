"""Blocks that cannot be reached have no order, within others that cannot be reached neither."""

from __future__ import annotations

from itertools import permutations

import pytest

import twinjit
from tests.live_programs import parse
from twinjit import Policy

INNER = (
    """^a(%4: i1, %5: i2):
      "t.br"()[^a, ^a] : () -> ()""",
    """^b(%6: i3, %7: i4):
      "t.br"()[^d] : () -> ()""",
    """^c(%8: f16):
      "t.use"(%x) : (i1) -> ()
      "t.br"()[^c, ^a] : () -> ()""",
    """^d:
      "t.use"(%x) : (i1) -> ()
      "t.br"()[^b] : () -> ()""",
)


def nest(depth: int, blocks: tuple[str, ...]) -> str:
    """A region whose unreachable blocks hold such regions themselves."""
    listed = "\n".join(blocks)
    if depth == 0:
        return f"""({{
          "t.br"() : () -> ()
          {listed}
        }})"""
    inside = nest(depth - 1, blocks)
    one = f"""^one:
      "t.op"() {inside} : () -> ()
      "t.br"()[^two] : () -> ()"""
    two = """^two:
      "t.br"()[^one] : () -> ()"""
    order = (one, two) if INNER.index(blocks[0]) % 2 else (two, one)
    return "({\n" + '"t.br"() : () -> ()\n' + "\n".join(order) + "\n})"


@pytest.mark.parametrize("depth", range(5))
def test_any_listing_is_one_program(depth: int) -> None:
    found = set()
    for blocks in permutations(INNER):
        text = f'"t.op"() {nest(depth, blocks)} : () -> ()'
        text = '"t.top"() ({\n^0(%x: i1):\n' + text + "\n}) : () -> ()"
        found.add(twinjit.fingerprint(parse(text)))
    assert len(found) == 1


def test_symbols_that_only_what_cannot_be_reached_tells_apart() -> None:
    """Private functions in any order, and their blocks in any listing."""
    policy = Policy(private_symbols="rename", symbol_order="ignore")

    def function(name: str, number: int, blocks: tuple[str, ...]) -> str:
        listed = "\n".join(blocks)
        return f"""func.func private @{name}(%x: i1) -> i64 {{
          %k = arith.constant {number} : i64
          return %k : i64
          {listed}
        }}"""

    pair = (
        """^a:
          cf.br ^b""",
        """^b:
          %y = arith.xori %x, %x : i1
          cf.cond_br %y, ^a, ^b""",
    )
    found = set()
    for first, second in permutations((0, 1)):
        for one in permutations(pair):
            for other in permutations(pair):
                functions = (function("f", 1, one), function("g", 2, other))
                text = functions[first] + functions[second]
                text += "func.func @main(%x: i1) -> i1 { return %x : i1 }"
                found.add(twinjit.fingerprint(text, policy=policy))
    assert len(found) == 1
