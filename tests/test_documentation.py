"""The documentation is true: its examples run, and its tables of cases hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import twinjit
from tests.documented_cases import LLVM, MLIR, POLICIES, Pair
from twinjit import Policy, Settings
from twinjit.settings_values import OTHER_NAMES

HOME = {"HOME": "/home/ada"}
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
def test_examples_run(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": "__main__"}
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


def settings_table(heading: str) -> list[list[str]]:
    text = (ROOT / "docs" / "settings.md").read_text()
    table = re.search(rf"(?m)^\| {heading}.*\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert table
    return [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table[1].splitlines()
    ]


def test_the_table_of_settings() -> None:
    rows = settings_table("setting, key")
    assert [row[0] for row in rows] == [each.name for each in fields(Settings)]
    for name, variable, default, _ in rows:
        assert variable == f"TWINJIT_{name.upper()}"
        unset, said = Settings.load(HOME), Settings.load(HOME | {variable: default})
        assert (unset, said.sources[name]) == (said, variable)


def test_the_table_of_other_names() -> None:
    rows = settings_table("also")
    assert [row[0] for row in rows] == [*OTHER_NAMES.values(), ""]
    assert [row[1] for row in rows] == [
        *(f"TWINJIT_{name.upper()}" for name in OTHER_NAMES.values()),
        "TWINJIT_SETTINGS",
    ]


def test_the_settings_printed(tmp_path: Path) -> None:
    """As by `twinjit config` for Ada, with her file and variable."""
    text = (ROOT / "docs" / "cli.md").read_text()
    (shown,) = re.findall(r"(?ms)^\$ TWINJIT_CACHE_MAX_AGE=30d twinjit config\n(.*?)^```$", text)
    file = tmp_path / ".config" / "twinjit" / "settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text('cache_max_bytes = "8G"\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TWINJIT_CACHE_MAX_AGE": "30d"}
    command = [sys.executable, "-m", "twinjit", "config"]
    printed = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert columns(printed.replace(str(tmp_path), "/home/ada")) == columns(shown)


def columns(text: str) -> list[list[str]]:
    return [re.split(" {2,}", line) for line in text.splitlines()]


def test_files_that_pages_name_are_there() -> None:
    for page in PAGES:
        for name in re.findall(
            r"\b(?:docs|examples|src|benchmarks)/[\w/-]+\.\w+", page.read_text()
        ):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_settings_file_shown(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    (shown,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", text)
    folder = tmp_path / ".config" / "twinjit"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(shown)
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("sixteen bytes or more\n")
    settings = Settings.load({"HOME": str(tmp_path)})
    assert (settings.cache_max_bytes, settings.wait_seconds) == (8 * 1024**3, 20)
    assert settings.shared_secret == b"sixteen bytes or more"
    said = [name for name, source in settings.sources.items() if source != "default"]
    assert len(said) == shown.count("=")


def test_shown_fingerprints() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    shown = re.findall(r"(?m)^([0-9a-f]{64})  (examples/.*)$", text)
    assert len(shown) == 2
    for digest, name in shown:
        assert twinjit.fingerprint(ROOT / name) == digest
