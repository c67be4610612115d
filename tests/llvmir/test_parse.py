"""Reading LLVM IR: errors say what and where, and the process survives what it can survive."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llvmir.modules import DEFAULT, KEEP_LOCATIONS, PROGRAMS, parse
from twinjit._native import _llvm
from twinjit.errors import CompilationError, ParseError, VerificationError

pytestmark = pytest.mark.usefixtures("silence")


def test_place_of_an_error() -> None:
    with pytest.raises(ParseError, match=r"cannot parse a\.ll as LLVM IR") as raised:
        _llvm.parse_module(b"define void @f() {\n  ret i32 %x\n}", "a.ll")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.severity, diagnostic.file) == ("error", "a.ll")
    assert (diagnostic.line, diagnostic.column) == (2, 7)
    assert diagnostic.excerpt == "  ret i32 %x\n      ^"


FLAG = '!llvm.module.flags = !{!0}\n!0 = !{i32 2, !"Debug Info Version", i32 3}'
INVALID = "define i32 @f() {\n  br label %a\na:\n  %x = add i32 %x, 1\n  ret i32 %x\n}\n"


@pytest.mark.parametrize("flag", ["", FLAG], ids=["plain", "debug"])
def test_invalid(flag: str) -> None:
    with pytest.raises(VerificationError, match="Only PHI nodes may reference their own value"):
        parse(INVALID + flag)


@pytest.mark.parametrize("source", [
    b"BC\xc0\xde", b"BC\xc0\xde" + bytes(16), b"\xde\xc0\x17\x0b" + bytes(16), b"BC\xc0\xdeabc",
    b"\xff\xfe", b"define", b"@g = global i8 \x00 0 @", "target triple = \"é".encode(),
    b'target datalayout = "nonsense"', b"define void @f() {",
    b"@g = global i99999999 0", b"@g = alias i8, ptr @g", b"!0 = !{!1}\n!m = !{!0}",
])  # fmt: skip
def test_bad_source(source: bytes) -> None:
    with pytest.raises(CompilationError) as raised:
        parse(source)
    assert raised.value.diagnostics


@pytest.mark.parametrize(
    "source", [b"", b"\n; nothing\n", b"; \xff", b'target triple = "any-thing"']
)
def test_odd_source(source: bytes) -> None:
    parse(source).fingerprint(DEFAULT.text)


def test_names_that_are_not_unicode() -> None:
    module = parse(rb'@"\ff" = global i8 0')
    assert module.outline(DEFAULT.text)[1][3] == "\\xff"
    assert module.fingerprint(DEFAULT.text) != parse(rb'@"\fe" = global i8 0').fingerprint(
        DEFAULT.text
    )


def try_all(source: bytes) -> None:
    try:
        module = parse(source)
    except CompilationError:
        return
    module.fingerprint(DEFAULT.text)
    module.outline(KEEP_LOCATIONS.text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
class TestDamage:
    def test_truncated(self, path: Path) -> None:
        text = path.read_bytes()
        bitcode = parse(text).bitcode()
        for source in (text, bitcode):
            for size in random.Random(1).sample(range(len(source)), 100):
                try_all(source[:size])

    def test_flipped_text(self, path: Path) -> None:
        text = path.read_bytes()
        for bit in random.Random(2).sample(range(8 * len(text)), 200):
            damaged = bytearray(text)
            damaged[bit // 8] ^= 1 << bit % 8
            try_all(bytes(damaged))

    def test_shuffled_words(self, path: Path) -> None:
        words = path.read_bytes().split(b" ")
        numbers = random.Random(3)
        for _ in range(200):
            damaged = list(words)
            damaged[numbers.randrange(len(words))] = numbers.choice(words)
            try_all(b" ".join(damaged))


def test_flipped_bitcode_in_a_process_of_its_own() -> None:
    """LLVM's reader ends the process on much damaged bitcode, by assertions and lack of memory.

    Nothing but a checksum could tell beforehand. Most flips are one exception, or another program;
    what is left is contained by who reads bitcode that it does not trust in another process.
    """
    code = """if True:
        import sys
        from tests.llvmir.modules import PROGRAMS, parse
        from tests.llvmir.test_parse import try_all
        bitcode = parse(PROGRAMS[int(sys.argv[1])].read_bytes()).bitcode()
        for bit in range(int(sys.argv[2]), 8 * len(bitcode), 8 * len(bitcode) // 20):
            damaged = bytearray(bitcode)
            damaged[bit // 8] ^= 1 << bit % 8
            print(bit, flush=True)
            try_all(bytes(damaged))
        """
    tried = ended = 0
    for program in range(len(PROGRAMS)):
        command = [sys.executable, "-c", code, str(program), "1000"]
        run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        tried += len(run.stdout.split())
        ended += run.returncode != 0
        if run.returncode == 0:
            assert run.stderr == ""
        else:
            assert run.returncode < 0, run.stderr
    assert tried > 3 * ended


N = 100_000
DEEP = {
    "metadata that waits": "!m = !{!0}\n" + "".join(f"!{i} = !{{!{i + 1}}}\n" for i in range(N)) + f"!{N} = !{{}}",
    "metadata": f"!m = !{{!{N}}}\n!0 = !{{}}\n" + "".join(f"!{i + 1} = !{{!{i}}}\n" for i in range(N)),
    "distinct metadata": "!m = !{!0}\n" + "".join(f"!{i} = distinct !{{!{i + 1}}}\n" for i in range(N)) + f"!{N} = !{{}}",
    "a cycle": "!m = !{!0}\n" + "".join(f"!{i} = !{{!{(i + 1) % N}}}\n" for i in range(N)),
    "arrays": f"@g = external global {'[1 x ' * N}i8{']' * N}",
    "expressions": f"@h = external global i8\n@g = global i64 {'xor (i64 ptrtoint (ptr @h to i64), i64 ' * N}ptrtoint (ptr @h to i64){')' * N}",
}  # fmt: skip


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep(text: str) -> None:
    module = parse(text)
    other = parse(module.bitcode())
    assert module.equivalent(other, DEFAULT.text)
    assert module.fingerprint(DEFAULT.text) == other.fingerprint(DEFAULT.text)
    module.outline(DEFAULT.text)


def test_nested_beyond_reason() -> None:
    with pytest.raises(ParseError, match="nested more than 250000 deep"):
        parse("@g = external global " + "{" * 300_000)


def test_wide() -> None:
    steps = "".join(f"  %v{i + 1} = add i32 %v{i}, %v0\n" for i in range(N))
    module = parse(f"define i32 @f(i32 %v0) {{\n{steps}  ret i32 %v{N}\n}}")
    assert module.equivalent(module, DEFAULT.text)
    assert len(module.outline(DEFAULT.text)) == N + 4
