"""Change a program in one place, and its fingerprint changes; change only its text: it does not.

These are programs of registered dialects, changed in their text; test_identity_properties.py has
random ones. Every mutant that parses is judged by its generic form, which two modules share if and
only if they are the same but for locations and for the order in which blocks are listed; and by
MLIR's own comparison with the program it was made from, as far as that can be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import mlir.ir as ir
import pytest

import twinjit
from tests.live_programs import PROGRAMS, fingerprint, generic, parse
from twinjit._native import _mlir

# (what to look for, what to put there); each match is one mutant.
REPLACEMENTS: list[tuple[str, str]] = [
    (r"(?<![\w%#@^.!])(\d+)(?![\w.])", r"1\1"),  # an integer
    (r"(?<![\w%#@^.!])(\d+)(?![\w.])", "0"),
    (r"(?<![\w%#@^.!])-(\d+)", r"\1"),
    (r"\bi32\b", "i64"),
    (r"\bi64\b", "i32"),
    (r"\bf32\b", "f64"),
    (r"\bf64\b", "f32"),
    (r"\bindex\b", "i64"),
    (r"(?<=[x<])(\d+)(?=x)", r"1\1"),  # a dimension
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"\bnsw\b|\bnnan\b|\bnone\b(?=>)", "nuw"),
    (r"\bnnan\b|\breassoc\b|(?<=fastmath<)none", "ninf"),
    (r"\badd(?=>)", "mul"),
    (r"\b(?:parallel|reduction)\b", "window"),
    (r"(%[\w#]+), (%[\w#]+)", r"\2, \1"),  # operands, or arguments, exchanged
    (r"(?<=[(, ])(%[\w#]+), (%[\w#]+)", r"\1, \1"),
    (r"(\^\w+), (\^\w+)(?=\])", r"\2, \1"),  # successors
    (r"(\^\w+), (\^\w+)(?=\])", r"\1, \1"),
    (r'"([^"]*)"', r'"\1x"'),  # the text of strings, and the names of operations
    (r"@(\w+)", r"@\1x"),
    (r'\b\w+ = (?:[\w.#%@-]+|"[^"]*")(?: : \w+)?, ', ""),  # an attribute
    (r", [\w.]+ = (?:[\w.#%@-]+|\"[^\"]*\")(?: : \w+)?", ""),
    (r"\bunit\b", "1 : i1"),
    (r"\bpacked ", ""),
    (r"arith\.addi", "arith.subi"),
    (r"arith\.addf", "arith.mulf"),
    (r" \+ ", " - "),
    (r"floordiv", "ceildiv"),
    (r"-0\.0+e\+00|-0\.0", "0.0"),
    (r"0x7FC00001", "0x7FC00002"),
    (r"distinct\[(\d+)\]", "distinct[0]"),
]


def mutants(text: str) -> Iterator[str]:
    for pattern, replacement in REPLACEMENTS:
        for match in re.finditer(pattern, text):
            yield text[: match.start()] + match.expand(replacement) + text[match.end() :]
    lines = text.splitlines()
    for i in range(len(lines)):
        yield "\n".join(lines[:i] + lines[i + 1 :])
        yield "\n".join([*lines[:i], *reversed(lines[i : i + 2]), *lines[i + 2 :]])
        yield "\n".join(lines[: i + 1] + lines[i:])
    blocks = re.split(r"(?m)(?=^ *\^)", text)
    for i in range(1, len(blocks) - 1):  # listed in another order
        yield "".join([*blocks[:i], blocks[i + 1], blocks[i], *blocks[i + 2 :]])


def unordered(module: ir.Module) -> tuple[str, ...]:
    """The lines of the generic form without names of values and blocks, sorted."""
    return tuple(sorted(re.sub(r"[%^][\w#]+", "_", generic(module)).splitlines()))


def parse_or_none(text: str, context: ir.Context) -> ir.Module | None:
    with context:
        try:
            return ir.Module.parse(text)
        except ir.MLIRError:
            return None


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_mutants(path: Path) -> None:
    text = path.read_text()
    original = parse(text, multithreading=False)
    expected = fingerprint(original)
    digests: dict[str, str] = {}
    forms: dict[str, set[tuple[str, ...]]] = {}
    for mutant in [text, *mutants(generic(original)), *mutants(text)]:
        module = parse_or_none(mutant, original.context)
        if module is not None:
            digest = fingerprint(module)
            assert digests.setdefault(generic(module), digest) == digest, mutant
            forms.setdefault(digest, set()).add(unordered(module))
            assert twinjit.equivalent(module, original) == (digest == expected), mutant
            operations = module.operation, original.operation
            if _mlir.upstream_equivalent(*(each._CAPIPtr for each in operations)):
                assert digest == expected, mutant
    assert all(len(same) == 1 for same in forms.values()), "two programs, one digest"
    assert len(digests) > 5, "few mutants are other programs"
