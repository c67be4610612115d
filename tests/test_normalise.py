"""Two programs with one key give one object, under every policy and in every named pipeline."""

from __future__ import annotations

import mlir.ir
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import twinjit
from tests import variants
from tests.same_programs import (
    ANY_ORDER,
    COMMUTATIVE,
    EXCHANGED,
    LLVM_CALLS,
    LOOSEST,
    NO_ATTRIBUTES,
    PAIRS,
    RELISTED,
    RENAME,
    SUMS,
    TABLE,
    reordered,
)
from twinjit import Policy
from twinjit._native import _mlir

# For each pipeline, a public function, and a private one that it calls; the second is {name}, an
# operation in it has {attributes} and the commutative {operands}.
TEMPLATES = {
    "llvm": (
        """llvm.func @f(%x: i64, %y: i64) -> i64 {{
             %r = llvm.call @{name}(%x, %y) : (i64, i64) -> i64
             llvm.return %r : i64
           }}""",
        """llvm.func internal @{name}(%x: i64, %y: i64) -> i64 {{
             %r = llvm.add {operands} {{{attributes}}} : i64
             llvm.return %r : i64
           }}""",
    ),
    "std": (
        """func.func @f(%x: i64, %y: i64) -> i64 {{
             %r = call @{name}(%x, %y) : (i64, i64) -> i64
             return %r : i64
           }}""",
        """func.func private @{name}(%x: i64, %y: i64) -> i64 {{
             %r = arith.muli {operands} {{{attributes}}} : i64
             return %r : i64
           }}""",
    ),
    "linalg": (
        """func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{
             %r = call @{name}(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
             return %r : tensor<8xf32>
           }}""",
        """func.func private @{name}(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{
             %r = arith.addf {operands} {{{attributes}}} : tensor<8xf32>
             return %r : tensor<8xf32>
           }}""",
    ),
    "linalg-buffers": (
        """func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{
             call @{name}(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
             return
           }}""",
        """func.func private @{name}(%a: memref<8xf32>, %b: memref<8xf32>) {{
             linalg.map ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) (%x: f32, %y: f32) {{
               %r = arith.mulf {operands} {{{attributes}}} : f32
               linalg.yield %r : f32
             }}
             return
           }}""",
    ),
}
SETTINGS = [
    (Policy(), set()),
    (RENAME, {"name"}),
    (ANY_ORDER, {"order"}),
    (NO_ATTRIBUTES, {"attributes"}),
    (Policy(discardable=["t.mark"]), {"attributes"}),
    (COMMUTATIVE, {"operands"}),
    (Policy(module_name="ignore"), {"module"}),
    (LOOSEST, {"name", "order", "attributes", "operands", "module"}),
]


def write(pipeline, changed):
    """Fill a template in; what is `changed` differs, and the lines that everything is on."""
    functions = [
        text.format(
            name="malloc" if "name" in changed else "g",
            attributes="t.mark" if "attributes" in changed else "",
            operands="%y, %x" if "operands" in changed else "%x, %y",
        )
        for text in TEMPLATES[pipeline]
    ]
    body = "\n".join(reversed(functions) if "order" in changed else functions)
    name = "b" if "module" in changed else "a"
    return "\n" * len(changed) + f"module @{name} {{ {body} }}"


def compile_anew(program, policy, pipeline="auto"):
    return twinjit.Compiler(policy=policy, pipeline=pipeline, cache=False).compile(program)


def live(text):
    with mlir.ir.Context():
        return mlir.ir.Module.parse(text)


@pytest.mark.parametrize(("policy", "pipeline", "a", "b"), PAIRS.values(), ids=PAIRS)
def test_one_key_one_object(policy, pipeline, a, b):
    first, second = compile_anew(a, policy, pipeline), compile_anew(b, policy, pipeline)
    assert first.key == second.key
    assert first.object_code == second.object_code
    assert first.signatures == second.signatures
    copied = compile_anew(live(b), policy, pipeline)
    assert copied.object_code == first.object_code


@pytest.mark.parametrize("pipeline", twinjit.NAMED_PIPELINES)
@pytest.mark.parametrize(("policy", "changed"), SETTINGS, ids=[p.text for p, _ in SETTINGS])
def test_every_setting_in_every_pipeline(policy, changed, pipeline):
    plain = compile_anew(write(pipeline, set()), policy, pipeline)
    other = compile_anew(write(pipeline, changed), policy, pipeline)
    assert plain.key == other.key
    assert plain.object_code == other.object_code
    for change in changed:
        assert compile_anew(write(pipeline, {change}), Policy(), pipeline).key != plain.key


@pytest.mark.parametrize(("policy", "pipeline", "a", "b"), PAIRS.values(), ids=PAIRS)
def test_the_canonical_form_has_the_same_fingerprint(policy, pipeline, a, b):
    for text in (a, b):
        program = _mlir.parse(text.encode(), "test.mlir")
        before = _mlir.fingerprint(program, policy.text)
        lifted = program.normalise(policy.text)
        after = _mlir.fingerprint(program, policy.text)
        assert (before == after) == (not lifted)  # a lifted constant is another operation
        assert program.normalise(policy.text) == []
        assert _mlir.fingerprint(program, policy.text) == after


@pytest.mark.parametrize(
    ("policy", "a", "b"),
    [(policy, a, b) for policy, _, a, b in PAIRS.values() if policy != Policy()],
    ids=[name for name, (policy, *_) in PAIRS.items() if policy != Policy()],
)
def test_the_default_tells_them_apart(policy, a, b):
    assert compile_anew(a, Policy()).key != compile_anew(b, Policy()).key


def test_results_are_right():
    assert compile_anew(RELISTED, Policy()).f(4, False) == 49
    assert compile_anew(EXCHANGED, RENAME).f(3) == 36
    assert compile_anew(reordered(EXCHANGED), LOOSEST).f(3) == 36
    assert compile_anew(LLVM_CALLS.format(a="exp", b="a"), RENAME).f(3) == 13
    assert compile_anew(SUMS.format(first="%y, %x", second="%c, %a"), COMMUTATIVE).f(3, 4) == 17
    tables = [TABLE.format(name="malloc"), TABLE.format(name="a").replace("[1, 2", "[5, 6")]
    assert [compile_anew(text, LOOSEST).f(1) for text in tables] == [2, 6]


def test_order_of_users_does_not_count():
    """A live module whose values are used in another order than its text says."""
    text = """
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %a = arith.addf %x, %y : tensor<8xf32>
      %b = arith.mulf %x, %y : tensor<8xf32>
      return %a, %b : tensor<8xf32>, tensor<8xf32>
    }"""
    module = live(text)
    (function,) = module.body.operations
    first, *_ = function.body.blocks[0].operations
    for i in range(2):
        value = first.operands[i]
        first.operands[i] = first.operands[1 - i]
        first.operands[i] = value
    assert str(module) == str(live(text))
    assert compile_anew(module, Policy()).object_code == compile_anew(text, Policy()).object_code


def test_locations_that_count_are_kept():
    text = 'func.func @f() { return } loc("{}":1:2)'
    keys = {
        (policy.locations, place): compile_anew(text.replace("{}", place), policy).key
        for policy in (Policy(), Policy(locations="keep"))
        for place in ("a", "b")
    }
    assert keys["ignore", "a"] == keys["ignore", "b"]
    assert keys["keep", "a"] != keys["keep", "b"]


@pytest.mark.parametrize("policy", [Policy(), LOOSEST], ids=["default", "loosest"])
def test_debug_locations_leave_the_code_as_it_is(policy):
    scope = (
        '#file = #llvm.di_file<"{}" in "">\n'
        "#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C,"
        " file = #file, isOptimized = true, emissionKind = Full>\n"
        "#sub = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file,"
        ' name = "f", file = #file, subprogramFlags = Definition>\n'
        'llvm.func @f(%x: i64) -> i64 {{ llvm.return %x : i64 loc("{}":1:1) }}'
        ' loc(fused<#sub>["{}":1:1])'
    )
    a, b = (compile_anew(scope.format(name, name, name), policy) for name in "ab")
    assert a.object_code == b.object_code
    kept = compile_anew(scope.format("a", "a", "a"), Policy(locations="keep"))
    assert kept.object_code == a.object_code
    assert kept.key != a.key


@given(st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_variants_of_random_modules(data):
    module = data.draw(variants.modules())
    policy = data.draw(st.sampled_from([Policy(), RENAME, ANY_ORDER, COMMUTATIVE, LOOSEST]))
    texts = [module.render(data.draw(variants.spellings(module, policy))) for _ in range(2)]
    a, b = (compile_anew(text, policy) for text in texts)
    assert a.key == b.key, texts
    assert a.object_code == b.object_code, texts
    assert a.f(5) == b.f(5) == module.run(5)
