"""The format of reproducers, and what is no reproducer."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.jobs import IDENTITY, bytecode, job
from twinjit.build import BuildOptions
from twinjit.errors import ReproducerError
from twinjit.policy import Policy
from twinjit.source import SourceBytes
from twinjit.target import Target
from twinjit.workers.advice import to_readme
from twinjit.workers.ending import Ending
from twinjit.workers.limits import Limits
from twinjit.workers.protocol import RecordedBundle
from twinjit.workers.reproducer import Reproducer

GOLDEN = Path(__file__).parents[1] / "golden"
PINNED = Reproducer(
    SourceBytes(b"module {}\n", "mod\u00fcl.mlir", bundle=RecordedBundle("jaxlib", "jaxlib 0.1")),
    BuildOptions("std", 2, Target("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx"), Policy(), True),
    Limits(1 << 30, 1 << 26),
    Ending("SIGABRT", 0, False, False, "passes", "canonicalize", "Assertion `x' failed at a.cpp:1"),
    "a.cpp:1: f: Assertion `x' failed.\n",
    {"libLLVM": "01", "libMLIR": "02"},
    {"twinjit": "0.1.0", "llvm": "22.1.8", "python": "3.12.0", "system": "Linux"},
    1_796_070_715,
)


def same(a: Reproducer, b: Reproducer) -> bool:
    """Whether two are, but for the bundle, which has no equality."""
    bundles = [each.source.bundle for each in (a, b)]
    plain = [
        dataclasses.replace(each, source=dataclasses.replace(each.source, bundle=None))
        for each in (a, b)
    ]
    names = [bundle and (bundle.package, str(bundle)) for bundle in bundles]
    return plain[0] == plain[1] and names[0] == names[1]


def test_golden() -> None:
    """Bytes and name of format 1."""
    assert PINNED.to_json() == (GOLDEN / "crash-v1.json").read_bytes()
    assert PINNED.name == "20261130T203155Z-d203f839b20cdccf"
    read = Reproducer.from_json(PINNED.to_json(), PINNED.source.data, "here")
    assert same(read, PINNED)


@pytest.mark.parametrize(
    ("program", "language", "file"),
    [
        (IDENTITY.encode(), "mlir", "program.mlir"),
        (bytecode(), "mlir", "program.mlirbc"),
        (b"define void @f() { ret void }", "llvm", "program.ll"),
        (b"BC\xc0\xde\x35", "llvm", "program.bc"),
        (b"\xde\xc0\x17\x0b\0", "llvm", "program.bc"),
    ],
)
def test_the_program_s_file(program: bytes, language: Any, file: str) -> None:
    made = dataclasses.replace(job(program), source=SourceBytes(program, "<bytes>", language))
    assert made.program_file == file
    assert same(Reproducer.from_json(made.to_json(), program, "here"), made)


def test_what_the_digest_is_of() -> None:
    changed: list[dict[str, Any]] = [
        {"source": dataclasses.replace(PINNED.source, data=b"module { }\n")},
        {"options": dataclasses.replace(PINNED.options, opt_level=1)},
        {"limits": Limits()},
        {"ending": Ending("SIGSEGV")},
        {"toolchain": {"libLLVM": "03"}},
    ]
    digests = {dataclasses.replace(PINNED, **each).digest for each in [{}, *changed]}
    assert len(digests) == 1 + len(changed)
    later = dataclasses.replace(PINNED, when=0, output="", versions={})
    assert later.digest == PINNED.digest


def test_the_readme() -> None:
    text = to_readme(PINNED)
    for part in (
        "Twinjit 0.1.0 (LLVM 22.1.8)",
        "SIGABRT in phase passes, pass canonicalize: Assertion `x' failed at a.cpp:1",
        "mlir-opt --pass-pipeline='builtin.module(",
        "program.mlir",
        "opt -O2 -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3 |",
        "-mattr=+avx -relocation-model=pic",
    ):
        assert part in text
    assert "chosen by the program's dialects" not in text
    assert "chosen by the program's dialects" in to_readme(job(IDENTITY))
    given_one = to_readme(job(IDENTITY, pipeline="builtin.module(cse)"))
    assert "--pass-pipeline='builtin.module(cse)' program.mlir" in given_one


def changed(path: str, value: object) -> bytes:
    """The pinned ``crash.json`` with another value at a path; ``...`` for none."""
    data = json.loads(PINNED.to_json())
    *above, last = path.split(".")
    place = data
    for name in above:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(data).encode()


def paths(data: dict[str, Any], above: str = "") -> list[str]:
    found = []
    for name, value in data.items():
        found.append(above + name)
        if isinstance(value, dict):
            found += paths(value, f"{above}{name}.")
    return found


OPTIONAL = ("program.bundle", "limits.memory_bytes", "toolchain.", "versions.")


@pytest.mark.parametrize("path", paths(json.loads(PINNED.to_json())))
def test_each_field_is_needed_and_checked(path: str) -> None:
    wrong: list[object] = [..., None, [1], 1.5]
    if path.startswith(OPTIONAL):
        wrong = [[1], 1.5]
    for value in wrong:
        with pytest.raises(ReproducerError, match=r"^here: ") as caught:
            Reproducer.from_json(changed(path, value), PINNED.source.data, "here")
        assert path.rpartition(".")[2] in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("format", 2, "another release"),
        ("format", True, "format is true or false"),
        ("program.language", "c", "'mlir' or 'llvm'"),
        ("program.name", "\ud800", "not valid Unicode"),
        ("program.blake3", "00", "it was changed since"),
        ("options.opt_level", 4, "from 0 to 3"),
        ("options.opt_level", True, "a whole number"),
        ("options.features", "avx", "no + or -"),
        ("options.cpu", "native", "native"),
        ("options.policy", "[]", "JSON object"),
        ("options.policy", '{"colour": 1}', "colour"),
        ("limits.stack_bytes", -1, "from 0"),
        ("limits.memory_bytes", 1 << 63, "from 0"),
        ("ending.exit_status", 256, "from 0 to 255"),
        ("time", 1 << 60, "from 0"),
    ],
)
def test_bad_values(path: str, value: object, says: str) -> None:
    with pytest.raises(ReproducerError, match=r"^here: ") as caught:
        Reproducer.from_json(changed(path, value), PINNED.source.data, "here")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"[]", b"null", b"[" * 100_000, b'{"format": 1' + b"0" * 5000 + b"}"]
)
def test_what_is_no_object(text: bytes) -> None:
    with pytest.raises(ReproducerError, match=r"^here: "):
        Reproducer.from_json(text, b"", "here")


def test_another_program() -> None:
    with pytest.raises(ReproducerError, match="it was changed since"):
        Reproducer.from_json(PINNED.to_json(), b"module {}", "here")


def _cut(text: bytes, at: int) -> bytes:
    return text[:at]


def _flip(text: bytes, at: int) -> bytes:
    return text[:at] + bytes([text[at] ^ 1 << at % 8]) + text[at + 1 :]


@given(st.sampled_from([_cut, _flip]), st.integers(0, len(PINNED.to_json()) - 2))
def test_damage_is_found_or_harmless(damage: Callable[[bytes, int], bytes], at: int) -> None:
    try:
        read = Reproducer.from_json(damage(PINNED.to_json(), at), PINNED.source.data, "here")
    except ReproducerError as error:
        told = str(error)
    else:
        told = "here: " if read.source.data == PINNED.source.data else "another program"
    assert told.startswith("here: ")
