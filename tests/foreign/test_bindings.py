"""Modules of MLIR's bindings in other packages, whose MLIR is of another date."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import twinjit
from tests.foreign.bundles import BINDINGS, bindings, parse
from tests.live_programs import PROGRAMS, attribute, generic
from tests.live_programs import parse as parse_here
from twinjit import reader
from twinjit._native import _mlir
from twinjit.errors import (
    ParseError,
    UnfingerprintableError,
    UnsupportedProgramError,
    VerificationError,
)
from twinjit.policy import Policy
from twinjit.source import LiveModule, SourceBytes, open_source

ROOT = Path(__file__).parent.parent
CASES = json.loads((ROOT / "cases" / "identity.json").read_text())
TEXTS = {path.stem: generic(parse_here(path.read_text())) for path in PROGRAMS} | {
    f"{case['name']}-{side}": generic(parse_here(case[side])) for case in CASES for side in "ab"
}

MORE = {
    "resource": """
        "t.o"() {a = dense_resource<k> : tensor<1xi32>} : () -> ()
        {-# dialect_resources: { builtin: { k: "0x0400000001000000" } } #-}
    """,
    "numbers": attribute(
        "[-0.0 : f32, 0x7FC00001 : f32, 0x7FF0000000000001 : f64, 1.0e-45 : f32, 0x7F : f8E4M3FN,"
        " -1 : si8, 255 : ui8, 123456789012345678901234567890 : i128, 0.1 : bf16]"
    ),
    "elements": attribute(
        "[dense<[0x7FC00001, -0.0]> : tensor<2xf32>, array<f32: -0.0, 0x7FC00001>,"
        f" dense<{list(range(300))}> : tensor<300xi64>, dense<(0.0, -0.0)> : tensor<complex<f32>>,"
        " dense<[true, false]> : tensor<2xi1>, sparse<[[1]], [2]> : tensor<4xi32>]"
    ),
    "strings": attribute(r'["\00\FF\22\5C", "naïve", "{-#", @"a b"::@c, {"a b" = unit}]'),
    "unregistered-properties": '"t.o"() <{p = 1 : i32}> {q = #u.v<"w">} : () -> !u.w<4>',
    "thread-local": "llvm.mlir.global internal @x(1 : i32) : i32",
    "blocks": """"t.g"() ({
        "t.b"()[^b] : () -> ()
      ^a:
        "t.b"()[^b] : () -> ()
      ^b:
        "t.b"()[^a] : () -> ()
      }) : () -> ()""",
}


@pytest.fixture(scope="module", params=BINDINGS)
def ir(request: pytest.FixtureRequest) -> ModuleType:
    return bindings(request.param)


@pytest.fixture(scope="module")
def jaxlib() -> ModuleType:
    return bindings("jaxlib.mlir.ir")


def domain(program: object) -> str:
    return twinjit.domain(program)


class TestSameProgram:
    @pytest.mark.parametrize("name", [*TEXTS, *MORE])
    def test_fingerprint_is_ours(self, ir: ModuleType, name: str) -> None:
        text = TEXTS.get(name) or MORE[name]
        module = parse(ir, text)
        before = str(module)
        assert twinjit.fingerprint(module) == twinjit.fingerprint(text, allow_unregistered=True)
        assert twinjit.fingerprint(module.operation) == twinjit.fingerprint(module)
        assert domain(module) == ""
        assert str(module) == before

    def test_operations(self, ir: ModuleType) -> None:
        text = TEXTS["arith"]
        module, here = parse(ir, text), parse_here(text)  # to be kept: see bindings.py
        for theirs, ours in zip(module.body.operations, here.body.operations, strict=True):
            assert twinjit.fingerprint(theirs) == twinjit.fingerprint(ours)
            assert twinjit.fingerprint(theirs.operation) == twinjit.fingerprint(ours)

    def test_operation_with_a_resource(self, ir: ModuleType) -> None:
        module, here = parse(ir, MORE["resource"]), parse_here(MORE["resource"])
        theirs, ours = module.body.operations[0], here.body.operations[0]
        assert twinjit.fingerprint(theirs) == twinjit.fingerprint(ours)

    def test_locations_are_written_on_demand(self, ir: ModuleType) -> None:
        module = parse(ir, 'func.func private @f() loc("here.py":3:5)')
        assert b"here.py" not in open_source(module).data
        assert b'loc("here.py":3:5)' in open_source(module, locations=True).data

    @pytest.mark.parametrize(
        "case", [pytest.param(case, id=case["name"]) for case in CASES if case["policy"] == {}]
    )
    def test_cases(self, ir: ModuleType, case: dict[str, str]) -> None:
        a, b = (twinjit.fingerprint(parse(ir, generic(parse_here(case[side])))) for side in "ab")
        assert (a == b) == (case["expect"] == "equal"), case["why"]

    def test_compiles(self, ir: ModuleType, compiler: twinjit.Compiler) -> None:
        text = (
            "func.func @twice(%x: i64) -> i64 {\n %y = arith.addi %x, %x : i64\n return %y : i64\n}"
        )
        assert compiler.compile(text).twice(4) == 8
        executable = compiler.compile(parse(ir, text))
        assert executable.twice(21) == 42
        assert executable.report.tier == "memory"
        assert compiler.explain(parse(ir, text)).direct


class TestOtherDialects:
    TEXT = """func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {{
      %0 = {} %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }}"""

    def test_domain(self, jaxlib: ModuleType) -> None:
        from importlib.metadata import version

        module = parse(jaxlib, self.TEXT.format("stablehlo.sine"), allow_unregistered=False)
        assert domain(module) == f"jaxlib {version('jaxlib')}: stablehlo"
        assert domain(parse(jaxlib, attribute("#sdy.mesh<[]>"))).endswith(": sdy")
        types = "func.func private @f(!stablehlo.token)"
        assert domain(parse(jaxlib, types, allow_unregistered=False)).endswith(": stablehlo")
        assert domain(parse(jaxlib, types)).endswith(": stablehlo")

    def test_fingerprint(self, jaxlib: ModuleType) -> None:
        sine, cosine = (self.TEXT.format(f"stablehlo.{name}") for name in ("sine", "cosine"))
        first = twinjit.fingerprint(parse(jaxlib, sine))
        assert twinjit.fingerprint(parse(jaxlib, sine, allow_unregistered=False)) == first
        assert twinjit.fingerprint(parse(jaxlib, cosine)) != first
        text = open_source(parse(jaxlib, sine)).data
        assert twinjit.fingerprint(text, allow_unregistered=True) != first

    def test_two_bundles_have_two_domains(self, jaxlib: ModuleType) -> None:
        other = bindings("torch_mlir.ir")
        sine = self.TEXT.format("stablehlo.sine")
        assert open_source(parse(jaxlib, sine)).data == open_source(parse(other, sine)).data
        assert twinjit.fingerprint(parse(jaxlib, sine)) != twinjit.fingerprint(parse(other, sine))

    def test_another_process(self, jaxlib: ModuleType) -> None:
        sine = self.TEXT.format("stablehlo.sine")
        code = f"""if True:
            from tests.foreign.bundles import bindings, parse
            import twinjit
            print(twinjit.fingerprint(parse(bindings("jaxlib.mlir.ir"), {sine!r})))
        """
        output = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        assert output.stdout.strip() == twinjit.fingerprint(parse(jaxlib, sine))

    def test_compile_says_what_is_unknown(self, jaxlib: ModuleType, silence: None) -> None:
        module = parse(jaxlib, self.TEXT.format("stablehlo.sine"))
        with pytest.raises(UnsupportedProgramError, match=r"jaxlib [\d.]+ has .*\(stablehlo\)"):
            twinjit.compile(module, cache=False)

    def test_unregistered_on_both_sides(self, ir: ModuleType) -> None:
        for text in ('"my.o"() {a = #my.a<1>} : () -> !my.t<2>', attribute("!my.t")):
            module = parse(ir, text)
            assert domain(module) == ""
            assert twinjit.fingerprint(module) == twinjit.fingerprint(text, allow_unregistered=True)
            with pytest.raises(UnsupportedProgramError, match=r"\(.*my"):
                twinjit.compile(module, cache=False)

    def test_jax(self) -> None:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        lowered = jax.jit(lambda x: x @ x).lower(jax.ShapeDtypeStruct((3, 3), "float32"))
        assert twinjit.fingerprint(lowered) == twinjit.fingerprint(lowered.compiler_ir())
        assert domain(lowered).endswith(": stablehlo")


class TestDrift:
    """What another date's MLIR has and ours has not, or the other way round."""

    @staticmethod
    def source(text: str, module: Any) -> SourceBytes:
        """As if `module`'s bundle had printed `text`."""
        source = open_source(module)
        assert isinstance(source, SourceBytes)
        return SourceBytes(text.encode(), source.name, source.language, source.bundle)

    def test_property_we_do_not_have(self, ir: ModuleType) -> None:
        module = parse(ir, "module {}")
        text = '%0 = "arith.constant"() <{{value = 1 : i32{}}}> : () -> i32'
        plain, one, two = (
            reader.read(self.source(text.format(more), module))
            for more in ("", ", novel = 1", ", novel = 2")
        )
        assert plain.domain == ""
        assert one.domain == two.domain == f"{open_source(module).bundle}: arith"
        digests = {_mlir.fingerprint(each.program, Policy().text) for each in (plain, one, two)}
        assert len(digests) == 3
        with pytest.raises(UnsupportedProgramError, match=r"'arith\.constant' with a .*'novel'"):
            reader.read_to_compile(self.source(text.format(", novel = 1"), module))

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ('"arith.novel"() : () -> ()', VerificationError),
            ('"t.o"() {a = #arith.novel<1>} : () -> ()', ParseError),
            ('"func.func"() : () -> ()', (ParseError, VerificationError)),
        ],
    )
    def test_what_we_cannot_read(
        self, ir: ModuleType, text: str, error: type[Exception], silence: None
    ) -> None:
        source = self.source(text, parse(ir, "module {}"))
        for read in (reader.read, reader.read_to_compile):
            with pytest.raises(error, match=f"{source.bundle} has another MLIR") as caught:
                read(source)
            assert caught.value.diagnostics[0].line == 1

    def test_thread_local_storage(self) -> None:
        """Of MLIR 24: ``tls_mode`` takes the place of ``thread_local_``."""
        module = parse(
            bindings("torch_mlir.ir"), "llvm.mlir.global internal thread_local @x(1 : i32) : i32"
        )
        assert domain(module).endswith(": llvm")


def test_text_that_hides_what_it_refers_to(ir: ModuleType) -> None:
    for hidden in ("#u.v<#alias>", "!u.v<!alias>", "#u.v<distinct[0]<1>>", "#u<dense_resource<k>>"):
        text = attribute(hidden)
        with pytest.raises(UnfingerprintableError, match="refers to"):
            twinjit.fingerprint(text, allow_unregistered=True)
        with pytest.raises(UnfingerprintableError, match="refers to"):
            twinjit.fingerprint(parse(ir, text))
    for plain in ('#u.v<"#alias">', "#u.v<#u.w>", "#u.v<#w<1>>", "#u.v<distinct>"):
        twinjit.fingerprint(attribute(plain), allow_unregistered=True)


def test_threads(ir: ModuleType) -> None:
    module = parse(ir, TEXTS["cf"])
    expected = twinjit.fingerprint(TEXTS["cf"])
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(twinjit.fingerprint(module))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_invalidated_operation(ir: ModuleType) -> None:
    module = parse(ir, "func.func private @f()")
    (function,) = module.body.operations
    operation = function.operation
    operation.erase()
    with pytest.raises((UnsupportedProgramError, RuntimeError)):
        twinjit.fingerprint(operation)


def test_own_bindings_keep_their_way() -> None:
    assert isinstance(open_source(parse_here("module {}")), LiveModule)


def test_values_from_outside(ir: ModuleType) -> None:
    text = "func.func @f(%x: i64) -> i64 { %y = arith.addi %x, %x : i64 return %y : i64 }"
    module = parse(ir, text)
    block = module.body.operations[0].regions[0].blocks[0]
    with pytest.raises(UnsupportedProgramError, match="values from outside of it"):
        twinjit.fingerprint(block.operations[0])
