"""The documentation is true: its examples run, and its tables of cases hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import twinjit
from tests.documented_cases import LLVM, MLIR, POLICIES, Pair
from twinjit import Policy

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
EXAMPLES = [
    pytest.param(page, id=page.name)
    for page in PAGES
    if re.search(r"(?m)^```python$", page.read_text())
]
SECTIONS = {"MLIR": MLIR, "LLVM IR": LLVM, "Policies": POLICIES}


def tables() -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of docs/identity.md that say what is the same: section, and cells by row."""
    text = (ROOT / "docs" / "identity.md").read_text()
    for section in re.split(r"(?m)^## ", text)[1:]:
        for table in re.findall(r"(?m)(?:^\|.*\n)+", section):
            rows = [
                [cell.strip() for cell in line.strip("|").split(" | ")]
                for line in table.splitlines()
            ]
            if "same?" in rows[0]:
                place = rows[0].index("same?")
                yield section.partition("\n")[0], [[row[0], row[1], row[place]] for row in rows[2:]]


def documented() -> Iterator[object]:
    for section, rows in tables():
        for case, second, answer in rows:
            key = (case, second.split("=")[0].strip("`")) if section == "Policies" else case
            yield pytest.param(section, key, answer, id=f"{section}: {case}, {second}"[:80])


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text()):
        exec(compile(block, str(page), "exec"), names)
    assert capsys.readouterr().out


@pytest.mark.parametrize(("section", "key", "answer"), list(documented()))
def test_each_row(section: str, key: str | tuple[str, str], answer: str) -> None:
    assert answer in ("yes", "no")
    pairs = SECTIONS[section][key]  # type: ignore[index]  # keys of one kind in each
    assert pairs
    for pair in pairs:
        if section == "Policies":
            assert key[1] in pair.policy
        check(pair, same=answer == "yes")


def check(pair: Pair, *, same: bool) -> None:
    policy = Policy(**pair.policy)
    options = {"allow_unregistered": pair.allow_unregistered}
    digests = {twinjit.fingerprint(each, policy, **options) for each in (pair.a, pair.b)}
    assert (len(digests) == 1) == same
    assert twinjit.equivalent(pair.a, pair.b, policy, **options) == same
    assert bool(twinjit.diff(pair.a, pair.b, policy, **options)) != same


@pytest.mark.parametrize("section", SECTIONS)
def test_every_pair_is_documented(section: str) -> None:
    rows = [row for name, found in tables() if name == section for row in found]
    assert len(rows) == len(SECTIONS[section])


def test_shown_fingerprints() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    shown = re.findall(r"(?m)^([0-9a-f]{64})  (examples/.*)$", text)
    assert len(shown) == 2
    for digest, name in shown:
        assert twinjit.fingerprint(ROOT / name) == digest
