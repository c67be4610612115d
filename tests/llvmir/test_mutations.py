"""Change an LLVM module in one place, and it is another program, as LLVM's own text of it is.

Every mutant that LLVM takes is judged by the text that LLVM prints: two modules with the same names
share it if and only if they are the same, debug info included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llvmir.modules import DEFAULT, PROGRAMS, parse, printed, shape
from twinjit._native import _llvm
from twinjit.errors import CompilationError
from twinjit.policy import Policy

POLICY = Policy(locations="keep", module_name="ignore")

# (what to look for, what to put there); each match is one mutant. Names of local values and of
# types stay as they are, since LLVM prints those.
REPLACEMENTS: list[tuple[str, str]] = [
    (r"(?<![\w%#@!.\"$-])(\d+)(?![\w.:])", r"1\1"),
    (r"(?<![\w%#@!.\"$-])(\d+)(?![\w.:])", "0"),
    (r"(?<![\w%#@!.\"$])-(\d+)(?![\w.])", r"\1"),
    (r"(?<=[\w])!(\d+)", "!0"),
    (r"(?<=[ {])!(\d+)", "!0"),
    (r"(?<=[ {])!(\d+)", "!5"),
    (r"\bi32\b", "i64"),
    (r"\bi8\b", "i16"),
    (r"\bdouble\b", "float"),
    (r"\b(nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|volatile|weak|fast|nnan|ninf|nsz|afn|arcp|reassoc|contract) ", ""),
    (r"\b(seq_cst|acquire|acq_rel|release)\b", "monotonic"),
    (r"\b(add|mul|xor|lshr) (?=i32|nuw|nsw)", "sub "),
    (r"\b(ult|slt|sge|eq)\b", "ne"),
    (r"(?<=[ (])(%[\w.]+), (%[\w.]+)", r"\2, \1"),
    (r"(?<=[ (])(%[\w.]+), (%[\w.]+)", r"\1, \1"),
    (r"label (%\w+), label (%\w+)", r"label \2, label \1"),
    (r'(?<=")(?=[^"\n]*")(\w)', r"x\1"),
    (r"\b(internal|private|weak_odr|linkonce_odr|weak|common) ", ""),
    (r"\b(hidden|protected|dso_local|unnamed_addr|local_unnamed_addr|externally_initialized) ", ""),
    (r", (align \d+|section \"\w+\"|comdat(\(\$\w+\))?|partition \"\w+\"|no_sanitize_\w+|sanitize_\w+)", ""),
    (r" (noundef|nonnull|noalias|readonly|inreg|zeroext|signext|nounwind|noreturn|cold|strictfp)\b", ""),
    (r"\b(tail|notail|musttail|fastcc) ", ""),
    (r"\bglobal\b", "constant"),
    (r"\bundef\b", "poison"),
    (r"\bpoison\b", "undef"),
    (r"\btrue\b", "false"),
    (r"\bnull\b", "undef"),
    (r"-0\.0", "0.0"),
    (r"\bdistinct ", ""),
    (r"= (?=!\{)", "= distinct "),
    (r", (\w+): (?:[\w.]+|\"[^\"]*\"|![\w]+(?:\(\))?)(?=[,)])", ""),  # a field of a debug node
    (r"\bDW_\w+_(\w+)\b", r"DW_ATE_float"),
    (r"DIFlag\w+", "DIFlagVector"),
    (r", !\w[\w.]* !\d+", ""),  # an attachment
    (r"(?m)^ *#dbg.*\n", ""),
]  # fmt: skip


def mutants(text: str) -> Iterator[str]:
    for pattern, replacement in REPLACEMENTS:
        for match in re.finditer(pattern, text):
            yield text[: match.start()] + match.expand(replacement) + text[match.end() :]
    lines = text.splitlines()
    for i in range(len(lines)):
        if lines[i] == "entry:":  # a name alone
            continue
        yield "\n".join(lines[:i] + lines[i + 1 :])
        if not all(re.match(r"![A-Za-z]", line) for line in lines[i : i + 2]):  # have no order
            yield "\n".join([*lines[:i], *reversed(lines[i : i + 2]), *lines[i + 2 :]])
        yield "\n".join(lines[: i + 1] + lines[i:])


def parse_or_none(text: str) -> _llvm.Module | None:
    try:
        return parse(text)
    except CompilationError:
        return None


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_mutants(path: Path) -> None:
    original = parse(path.read_text())
    expected_shape = shape(original, POLICY)
    digests: dict[str, str] = {}
    for mutant in [path.read_text(), *mutants(path.read_text())]:
        module = parse_or_none(mutant)
        if module is None:
            continue
        digest = module.fingerprint(POLICY.text).hex()
        assert digests.setdefault(canonical(module), digest) == digest, mutant
        same = digest == next(iter(digests.values()))
        assert original.equivalent(module, POLICY.text) == same, mutant
        assert (shape(module, POLICY) == expected_shape) == same, mutant
        assert module.equivalent(parse(module.bitcode()), DEFAULT.text)
    assert len(set(digests.values())) == len(digests), "two programs, one digest"
    assert len(digests) > 30, "few mutants are other programs"


def canonical(module: _llvm.Module) -> str:
    """Return the text of a module without what LLVM prints though it does not count.

    Named metadata come in the order of their names; types and comdats that are declared do not
    count by themselves, nor does whether LLVM has a name for a block.
    """
    lines = printed(module).splitlines()
    named = sorted(line for line in lines if re.match(r"![A-Za-z]", line))
    rest = [line for line in lines if not re.match(r"![A-Za-z]|\$\w+ = comdat|; |$", line)]
    return "\n".join([*named, *(re.sub(r" *; (preds|No pred).*", "", line) for line in rest)])
