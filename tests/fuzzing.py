"""Damaged programs for the native parser, tried in a process that may die.

``python -m tests.fuzzing FIRST COUNT`` tries them and writes the number of each before it is tried,
so that the last one written is what the process died of.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import mlir.ir as ir

from tests.strategies.modules import random_program, render
from tests.strategies.symbols import random_symbols
from twinjit import Policy
from twinjit._native import _mlir
from twinjit.errors import TwinjitError

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))
MERGING = Policy(private_symbols="rename", symbol_order="ignore", locations="keep")
PIECES = (
    b"<", b">", b"[", b"]", b"(", b")", b"{", b"}", b'"', b"%", b"^", b"@", b"#", b"!", b"-", b"0x",
    b"99999999999999999999", b"-9223372036854775808", b"4294967296", b"\x00", b"\xff\xfe", b"\xc3",
    b"dense", b"loc(", b"distinct[0]<", b"affine_map<", b"!llvm.struct<", b"vector<", b"tensor<",
    b"memref<", b"i0", b"i16777215", b"f32", b"?x", b"0x0x", b"*x", b": i1", b"dense_resource<",
)  # fmt: skip


def sources() -> list[bytes]:
    """Text and bytecode to damage."""
    texts = [path.read_text() for path in PROGRAMS]
    texts += [render(random_program(seed, 10)) for seed in range(20)]
    texts += [random_symbols(seed).text() for seed in range(5)]
    result: list[bytes] = []
    for text in texts:
        context = ir.Context()
        context.allow_unregistered_dialects = True
        context.enable_multithreading(False)
        with context:
            try:
                module = ir.Module.parse(text)
            except ir.MLIRError:
                continue
        result.append(text.encode())
        file = io.BytesIO()
        module.operation.write_bytecode(file)
        result.append(file.getvalue())
    return result


def _flip(rng: Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: Random, data: bytes, _: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _drop(rng: Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 20) :]


def _splice(rng: Random, data: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(other))
    at = rng.randrange(len(data))
    return data[:at] + other[start : start + rng.randrange(1, 60)] + data[at:]


def _insert(rng: Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(PIECES) * rng.choice([1, 1, 1, 2, 3000]) + data[at:]


def _overwrite(rng: Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(PIECES) + data[at + rng.randrange(1, 8) :]


DAMAGE: tuple[Callable[[Random, bytes, bytes], bytes], ...] = (
    _flip, _flip, _cut, _drop, _splice, _insert, _overwrite,
)  # fmt: skip


def damaged(programs: list[bytes], number: int) -> bytes:
    rng = Random(number)
    data = rng.choice(programs)
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(DAMAGE)(rng, data, rng.choice(programs)) or b"\0"
    return data


def attempt(data: bytes) -> str:
    """Read, fingerprint and compare; say how that ended."""
    try:
        program = _mlir.parse(data, "fuzzed", True)
    except TwinjitError as error:
        return type(error).__name__
    try:
        for policy in (Policy(), MERGING):
            digest = _mlir.fingerprint(program, policy.text)
            again = _mlir.parse(data, "fuzzed", True)
            assert _mlir.fingerprint(again, policy.text) == digest
            assert _mlir.equivalent(program, again, policy.text)
    except TwinjitError as error:
        return type(error).__name__
    return "read"


def main(first: int, count: int) -> None:
    programs = sources()
    for number in range(first, first + count):
        print(number, end=" ", flush=True)
        print(attempt(damaged(programs, number)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
