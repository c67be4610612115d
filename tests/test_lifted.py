"""Large constants as parameters: one compilation, and each program computes with its own."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import ml_dtypes
import mlir.ir
import numpy as np
import pytest

import twinjit
from tests.samples import with_sections
from twinjit import Policy
from twinjit.constants import LIFTED_SECTION, Constants, LiftedConstant
from twinjit.errors import ArtifactError, CacheWarning, LoweringError

LIFT = Policy(constants="lift")
ALL = Policy(constants="lift", lift_bytes=1)


def hexadecimal(array):
    return f'"0x{array.tobytes().hex().upper()}"'


def elements(values, *, resource, packed=None):
    """An attribute's elements as text, and the section of the file that they need."""
    if not resource:
        return f"dense<{hexadecimal(values if packed is None else packed)}>", ""
    data = (4).to_bytes(4, "little").hex() + values.tobytes().hex()
    section = f'{{-# dialect_resources: {{ builtin: {{ data: "0x{data}" }} }} #-}}'
    return "dense_resource<data>", section


class Mlp:
    """A small network with weights of its own."""

    def __init__(self, seed, width=32):
        rng = np.random.default_rng(seed)
        self.hidden, self.output = rng.standard_normal((2, width, width)).astype(np.float32)
        square, rows = f"tensor<{width}x{width}xf32>", f"tensor<4x{width}xf32>"
        self.text = f"""
        func.func @main(%x: {rows}) -> {rows} {{
          %w = arith.constant dense<{hexadecimal(self.hidden)}> : {square}
          %v = arith.constant dense<{hexadecimal(self.output)}> : {square}
          %z = arith.constant dense<0.0> : {rows}
          %a = linalg.matmul ins(%x, %w : {rows}, {square}) outs(%z : {rows}) -> {rows}
          %b = arith.maximumf %a, %z : {rows}
          %c = linalg.matmul ins(%b, %v : {rows}, {square}) outs(%z : {rows}) -> {rows}
          return %c : {rows}
        }}"""

    def matches(self, executable):
        x = np.linspace(-1, 1, 4 * len(self.hidden), dtype=np.float32).reshape(4, -1)
        expected = np.maximum(x @ self.hidden, 0) @ self.output
        return np.allclose(executable.main(x), expected, rtol=1e-4, atol=1e-4)


def table(values, dtype="i64", *, resource=False, attributes='"private" constant'):
    """A program that reads an element of a global."""
    type_ = f"memref<{len(values)}x{dtype}>"
    value, section = elements(values, resource=resource)
    return f"""
    memref.global {attributes} @table : {type_} = {value}
    func.func @f(%i: index) -> {dtype} {{
      %t = memref.get_global @table : {type_}
      %x = memref.load %t[%i] : {type_}
      return %x : {dtype}
    }}
    {section}"""


def tensor(values, dtype, *, resource=False):
    """A program that returns a constant."""
    type_ = f"tensor<{len(values)}x{dtype}>"
    packed = np.packbits(values, bitorder="little") if dtype == "i1" else values
    value, section = elements(values, resource=resource, packed=packed)
    return f"""
    func.func @f() -> {type_} {{
      %t = arith.constant {value} : {type_}
      return %t : {type_}
    }}
    {section}"""


def live(text):
    with mlir.ir.Context():
        return mlir.ir.Module.parse(text)


@pytest.fixture
def lifting(tmp_path):
    return twinjit.Compiler(policy=LIFT, cache=tmp_path / "store")


# One compilation for all weights


def test_one_compilation_for_two_networks(lifting):
    one, two = Mlp(1), Mlp(2)
    first, second = lifting.compile(one.text), lifting.compile(two.text)
    assert first.key == second.key
    assert first != second
    for _ in range(2):  # the second time without parsing
        assert one.matches(lifting.compile(one.text))
        assert two.matches(lifting.compile(two.text))
    assert one.matches(first)
    assert two.matches(second)
    counts = lifting.stats()
    assert (counts["compiled"], counts["memory"], counts["disk"]) == (1, 5, 0)
    assert lifting.compile(one.text) == first


def test_from_disk(lifting):
    lifting.compile(Mlp(1).text)
    other = twinjit.Compiler(policy=LIFT, cache=lifting.store.root)
    for seed in (1, 2, 3):
        assert Mlp(seed).matches(other.compile(Mlp(seed).text))
    assert other.stats()["compiled"] == 0
    assert other.stats()["disk"] == 1


def test_in_a_new_process(lifting):
    lifting.compile(Mlp(1).text)
    script = textwrap.dedent(f"""
        import twinjit
        from tests.test_lifted import LIFT, Mlp
        compiler = twinjit.Compiler(policy=LIFT, cache={lifting.store.root!r})
        for seed in (1, 2):
            assert Mlp(seed).matches(compiler.compile(Mlp(seed).text))
        assert compiler.stats()["compiled"] == 0
    """)
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root)


def test_in_threads(lifting):
    networks = [Mlp(seed) for seed in range(6)]
    barrier = threading.Barrier(len(networks))
    results = []

    def work(network):
        barrier.wait()
        results.extend(network.matches(lifting.compile(network.text)) for _ in range(5))

    threads = [threading.Thread(target=work, args=(network,)) for network in networks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 30
    assert lifting.stats()["compiled"] == 1


def test_live_modules(lifting):
    one, two = Mlp(1), Mlp(2)
    modules = [(one, live(one.text)), (two, live(two.text)), (one, live(one.text))]
    for _ in range(2):
        for network, module in modules:
            assert network.matches(lifting.compile(module))
    assert lifting.stats()["compiled"] == 1


def test_resource_changed_in_place_is_read_anew(lifting):
    values = np.arange(512, dtype=np.float32)
    with mlir.ir.Context() as context, mlir.ir.Location.unknown():
        kind = mlir.ir.RankedTensorType.get([512], mlir.ir.F32Type.get())
        attribute = mlir.ir.DenseResourceElementsAttr.get_from_buffer(values, "data", kind)
        module = mlir.ir.Module.parse(tensor(np.arange(512, dtype=np.float32) + 1, "f32"), context)
        (function,) = module.body.operations
        function.body.blocks[0].operations[0].attributes["value"] = attribute
        assert (lifting.compile(module).f() == values).all()
        values *= 3
        assert (lifting.compile(module).f() == values).all()
    assert lifting.stats()["compiled"] == 1


def test_constants_live_as_long_as_the_code(lifting):
    function = lifting.compile(Mlp(1).text).main
    lifting.clear_memory()
    gc.collect()
    churn = [lifting.compile(Mlp(seed).text) for seed in range(2, 6)]

    class Held:
        main = staticmethod(function)

    assert Mlp(1).matches(Held)
    assert len(churn) == 4


def test_memory_is_counted(lifting):
    big = np.arange(1 << 17, dtype=np.float64)
    lifting.compile(table(big, "f64"))
    assert lifting.stats()["code_bytes"] > big.nbytes


def test_large(lifting):
    values = np.arange(1 << 24, dtype=np.float32)  # 64 MiB
    program = table(values, "f32", resource=True)
    executable = lifting.compile(program)
    assert len(executable.object_code) < 1 << 16
    assert [executable.f(i) for i in (0, 12345, len(values) - 1)] == [0, 12345, len(values) - 1]


# Elements

ELEMENTS = {
    "i8": np.arange(-20, 21, dtype=np.int8),
    "i16": np.arange(5, dtype=np.int16) * 9999,
    "i32": np.arange(5, dtype=np.int32) << 28,
    "i64": np.arange(5, dtype=np.int64) << 60,
    "index": np.arange(5, dtype=np.int64) << 40,
    "f16": np.linspace(-2, 2, 9, dtype=np.float16),
    "bf16": np.linspace(-2, 2, 9, dtype=np.float32).astype(ml_dtypes.bfloat16),
    "f32": np.array([-0.0, np.inf, 1e-40, 2], np.float32),
    "f64": np.array([-0.0, np.inf, 1e-310, 2], np.float64),
    "complex<f32>": np.array([1 + 2j, -3j, 4], np.complex64),
    "complex<f64>": np.array([1 + 2j, -3j, 4], np.complex128),
    "i1": np.array([True, False, False, True, True, True, False, True, False, True, True]),
}


@pytest.mark.parametrize(("dtype", "values"), ELEMENTS.items(), ids=ELEMENTS)
def test_elements(dtype, values):
    compiler = twinjit.Compiler(policy=ALL, cache=False)
    forms = [tensor(v, dtype, resource=r) for v in (values, values[::-1]) for r in (False, True)]
    for text, expected in zip(forms, [values, values, values[::-1], values[::-1]], strict=True):
        result = compiler.compile(text).f()
        assert result.dtype == expected.dtype
        assert result.tobytes() == expected.tobytes()
    assert compiler.stats()["compiled"] == 1


@pytest.mark.parametrize("dtype", ["i4", "i24", "i48", "f80", "f8E4M3FN"])
def test_elements_in_other_forms_count_by_content(dtype):
    values = ["1", "2"] if dtype[0] == "i" else ["1.0", "2.0"]
    text = f"""func.func @f() {{
      %t = arith.constant dense<[{", ".join(values)}]> : tensor<2x{dtype}>
      return
    }}"""
    others = text.replace("2.0]", "3.0]").replace("2]", "3]")
    assert twinjit.fingerprint(text, ALL) != twinjit.fingerprint(others, ALL)


@pytest.mark.parametrize("change", ["splat", "small", "shape", "type", "writable", "public"])
def test_what_counts_by_content(change):
    values = np.arange(200, dtype=np.int64)
    one, other = table(values), table(values[::-1])
    if change == "splat":
        one, other = table(values * 0), table(values * 0 + 1)
    elif change == "small":
        one, other = table(values[:20]), table(values[20:40])
    elif change == "shape":
        other = table(np.arange(201, dtype=np.int64))
    elif change == "type":
        other = table(values.astype(np.int32), "i32")
    elif change == "writable":
        one, other = (table(v, attributes='"private"') for v in (values, values[::-1]))
    elif change == "public":
        one, other = (table(v, attributes="constant") for v in (values, values[::-1]))
    assert twinjit.fingerprint(one, LIFT) != twinjit.fingerprint(other, LIFT)
    assert twinjit.Compiler(policy=LIFT, cache=False).compile(one).f(3) in (0, 1, 3)


def test_alignment_of_globals_is_kept(lifting):
    values = np.arange(256, dtype=np.float32)
    text = table(values, "f32").replace("\n    func", " {alignment = 4096}\n    func", 1)
    text = (
        text.replace(
            "return %x",
            "%p = memref.extract_aligned_pointer_as_index %t : memref<256xf32> -> index\n"
            "return %x, %p",
        )
        .replace("-> f32 {", "-> (f32, index) {")
        .replace("%x, %p : f32", "%x, %p : f32, index")
    )
    value, address = lifting.compile(text).f(7)
    assert value == 7
    assert address % 4096 == 0


def test_constants_cannot_be_written(lifting):
    """A result that views the constant is read-only, or a copy."""
    result = lifting.compile(tensor(np.arange(512, dtype=np.int64), "i64")).f()
    result[:] = 0
    again = lifting.compile(tensor(np.arange(512, dtype=np.int64), "i64")).f()
    assert again[5] == 5


def test_several_functions_share_a_constant(lifting):
    def program(values):
        return (
            table(values)
            + """
        func.func @g(%i: index) -> i64 {
          %x = func.call @f(%i) : (index) -> i64
          %t = memref.get_global @table : memref<200xi64>
          %y = memref.load %t[%i] : memref<200xi64>
          %s = arith.addi %x, %y : i64
          return %s : i64
        }"""
        )

    values = np.arange(200, dtype=np.int64)
    for each in (values, values[::-1].copy()):
        executable = lifting.compile(program(each))
        assert (executable.f(3), executable.g(3)) == (each[3], 2 * each[3])
    assert lifting.stats()["compiled"] == 1


def test_a_program_may_use_our_names(lifting):
    values = np.arange(200, dtype=np.int64)
    text = table(values).replace("@table", "@constant.0") + "func.func @constant.1() { return }"
    executable = lifting.compile(text)
    assert executable.f(9) == 9
    executable["constant.1"]()


# What goes wrong


def test_error_names_the_constants_that_a_pass_needed():
    text = """
    func.func @f() -> i64 {
      %t = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
      %i = arith.constant 1 : index
      %x = tensor.extract %t[%i] : tensor<3xi64>
      return %x : i64
    }"""
    assert twinjit.Compiler(pipeline="std", cache=False).compile(text).f() == 2
    with pytest.raises(LoweringError, match=r"@constant\.0 of type tensor<3xi64> in @f"):
        twinjit.Compiler(policy=ALL, pipeline="std", cache=False).compile(text)


@pytest.mark.parametrize(
    "broken",
    [
        b"[]",
        b"{",
        b"7",
        b'[{"name": "constant.0"}]',
        b'[{"name": "constant.0", "type": "memref<200xi64>", "size": 1600, "alignment": 3}]',
        b'[{"name": "constant.0", "type": "memref<200xi32>", "size": 1600, "alignment": 64}]',
        b'[{"name": "constant.0", "type": "memref<200xi64>", "size": 800, "alignment": 64}]',
    ],
)
def test_entry_for_other_constants_is_a_miss_that_heals(lifting, broken):
    text = table(np.arange(200, dtype=np.int64))
    digest = lifting.compile(text).key.digest
    artifact = lifting.store.get(digest)
    lifting.store.put(with_sections(artifact, {LIFTED_SECTION: broken}, listed=True))
    lifting.clear_memory()
    with pytest.warns(CacheWarning):
        executable = lifting.compile(text)
    assert executable.report.tier == "compiled"
    assert executable.f(3) == 3
    lifting.clear_memory()
    assert lifting.compile(text).report.tier == "disk"


def test_binding_checks_types_and_sizes():
    lifted = [LiftedConstant("a", "tensor<2xi8>", 2, 64)]
    assert Constants(("tensor<2xi8>",), (b"xy",)).bind(lifted) == [("a", b"xy", 64)]
    for wrong in [Constants(), Constants(("tensor<3xi8>",), (b"xy",)),
                  Constants(("tensor<2xi8>",), (b"xyz",))]:  # fmt: skip
        with pytest.raises(ArtifactError, match="constants"):
            wrong.bind(lifted)


def test_section_of_artifacts():
    lifted = [LiftedConstant("constant.0", "tensor<2xi8>", 2, 64)]
    assert LiftedConstant.to_section(lifted) == (
        b'[{"name": "constant.0", "type": "tensor<2xi8>", "size": 2, "alignment": 64}]'
    )


def test_digest_tells_contents_apart():
    kinds = ("t", "t")
    digests = {Constants(kinds, pair).digest for pair in [(b"ab", b""), (b"a", b"b"), (b"", b"ab")]}
    assert len(digests) == 3
    assert Constants().digest == b""
