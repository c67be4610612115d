"""Hits confirmed against the program that the code was compiled from."""

from __future__ import annotations

import warnings
from pathlib import Path

import mlir.ir
import numpy as np
import pytest

import twinjit
from tests.samples import with_sections
from tests.test_lifted import Mlp
from twinjit import Policy
from twinjit.confirmation import PROGRAM_SECTION
from twinjit.constants import Constants
from twinjit.errors import CacheWarning

TEXT = "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}\n"
RENAMED = TEXT.replace("%x", "%other")
SQUARE = TEXT.replace("addi", "muli")


def live(text):
    with mlir.ir.Context():
        return mlir.ir.Module.parse(text)


def counts(compiler):
    stats = compiler.stats()
    return {name: stats[name] for name in ("compiled", "confirmed", "refuted")}


@pytest.fixture
def open_confirming(tmp_path):
    def make(**options):
        return twinjit.Compiler(cache=tmp_path / "store", confirm="always", **options)

    return make


@pytest.fixture
def confirming(open_confirming):
    return open_confirming()


def replace_section(store, digest, name, content):
    """Change a section of a stored artifact, as if it had been made so."""
    assert store.put(with_sections(store.get(digest), {name: content}, listed=True))


@pytest.mark.parametrize("program", [TEXT, RENAMED, live(TEXT)], ids=["text", "renamed", "live"])
def test_hits_are_confirmed(open_confirming, program):
    compiler = open_confirming()
    compiler.compile(TEXT)
    assert compiler.compile(program).report.tier == "memory"
    assert counts(compiler) == {"compiled": 1, "confirmed": 1, "refuted": 0}
    other = open_confirming()
    assert other.compile(program).report.tier == "disk"
    assert counts(other) == {"compiled": 0, "confirmed": 1, "refuted": 0}


def test_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINJIT_CONFIRM", "always")
    assert twinjit.Compiler(cache=False).confirm == "always"
    assert twinjit.Compiler(cache=False, confirm="never").confirm == "never"
    monkeypatch.setenv("TWINJIT_CONFIRM", "sometimes")
    with pytest.raises(twinjit.errors.ConfigError, match="TWINJIT_CONFIRM"):
        twinjit.Compiler(cache=False)


def test_without_confirmation_nothing_is_stored_or_counted(compiler):
    digest = compiler.compile(TEXT).key.digest
    compiler.compile(TEXT)
    assert compiler.store.get(digest).section(PROGRAM_SECTION) is None
    assert counts(compiler) == {"compiled": 1, "confirmed": 0, "refuted": 0}


def test_confirmed_hits_are_not_direct(confirming):
    confirming.compile(TEXT)
    assert confirming.explain(TEXT).tier == "memory"
    assert not confirming.explain(TEXT).direct


def test_stored_program_does_not_say_where_it_came_from(confirming, tmp_path):
    path = tmp_path / "secret-place.mlir"
    path.write_text(TEXT)
    digest = confirming.compile(path).key.digest
    assert b"secret-place" not in bytes(confirming.store.get(digest).section(PROGRAM_SECTION))


def test_lazy_functions(open_confirming):
    texts = [f"define i64 @f(i64 %x) {{ %y = add i64 %x, {n} ret i64 %y }}" for n in (1, 2)]
    first = open_confirming()
    for text in texts:
        first.compile(text, lazy=True).f(1)
    stored = [
        bytes.fromhex(path.parent.name + path.stem) for path in Path(first.store.root).rglob("*.tj")
    ]
    programs = [first.store.get(digest).section(PROGRAM_SECTION) for digest in stored]
    for digest, program in zip(stored, reversed(programs), strict=True):
        replace_section(first.store, digest, PROGRAM_SECTION, bytes(program))
    second = open_confirming()
    with pytest.warns(CacheWarning, match="led to another program"):
        assert [second.compile(text, lazy=True).f(1) for text in texts] == [2, 3]
    assert counts(second) == {"compiled": 2, "confirmed": 0, "refuted": 2}


@pytest.mark.usefixtures("hits_unchecked")  # a check would find it, too
def test_false_direct_record(open_confirming):
    """It leads to another program's key, as a corrupted index might."""
    first = open_confirming()
    square = first.compile(SQUARE)
    own = first.compile(TEXT)
    (record,) = [
        path
        for path in Path(first.store.root).rglob("*.ref")
        if own.key.digest in path.read_bytes()
    ]
    request = bytes.fromhex(record.parent.name + record.stem)
    assert first.store.put_direct(request, square.key.digest)
    misled = twinjit.Compiler(cache=first.store.root)
    assert misled.compile(TEXT).f(5) == 25  # what confirmation is there for

    second = open_confirming()
    with pytest.warns(CacheWarning, match=f"key {own.key.hex}.*{square.key.hex}"):
        executable = second.compile(TEXT)
    assert executable.f(5) == 10
    assert second.stats()["refuted"] == 1
    assert second.compile(SQUARE).report.tier == "disk"  # not to blame
    assert twinjit.Compiler(cache=first.store.root).compile(TEXT).f(5) == 10


@pytest.mark.parametrize("tier", ["disk", "memory"])
def test_tampered_program(open_confirming, tier):
    compiler = open_confirming()
    other = bytes(compiler.store.get(compiler.compile(SQUARE).key.digest).section(PROGRAM_SECTION))
    digest = compiler.compile(TEXT).key.digest
    replace_section(compiler.store, digest, PROGRAM_SECTION, other)
    compiler.clear_memory()
    if tier == "memory":
        compiler._engine.tiers.find(digest, Constants)  # brings the entry there, unconfirmed
    with pytest.warns(CacheWarning, match=digest.hex()):
        executable = compiler.compile(TEXT)
    assert (executable.report.tier, executable.f(5)) == ("compiled", 10)
    assert compiler.stats()["refuted"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiler.compile(TEXT).report.tier == "memory"
        assert open_confirming().compile(TEXT).report.tier == "disk"


def test_warned_of_once(open_confirming):
    compiler = open_confirming()
    other = bytes(compiler.store.get(compiler.compile(SQUARE).key.digest).section(PROGRAM_SECTION))
    for attempt in range(2):
        digest = compiler.compile(TEXT).key.digest
        replace_section(compiler.store, digest, PROGRAM_SECTION, other)
        compiler.clear_memory()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert compiler.compile(TEXT).f(2) == 4
        assert len(caught) == (attempt == 0)
    assert compiler.stats()["refuted"] == 2


@pytest.mark.parametrize("content", [None, b"ML\xefR", b"no MLIR at all"])
def test_entry_without_a_readable_program_is_a_miss_that_heals(open_confirming, content):
    compiler = open_confirming()
    digest = compiler.compile(TEXT).key.digest
    replace_section(compiler.store, digest, PROGRAM_SECTION, content)
    compiler.clear_memory()
    assert compiler.compile(TEXT).report.tier == "compiled"
    assert counts(compiler) == {"compiled": 2, "confirmed": 0, "refuted": 0}
    assert compiler.compile(TEXT).report.tier == "memory"
    assert open_confirming().compile(TEXT).report.tier == "disk"


def test_entry_made_without_confirmation(open_confirming, tmp_path):
    plain = twinjit.Compiler(cache=tmp_path / "store")
    plain.compile(TEXT)
    compiler = open_confirming()
    assert compiler.compile(TEXT).report.tier == "compiled"
    assert compiler.compile(TEXT).report.tier == "memory"
    assert twinjit.Compiler(cache=tmp_path / "store").compile(TEXT).report.tier == "disk"


def test_resource_changed_in_place(confirming):
    values = np.arange(4, dtype=np.float32)
    text = """func.func @f() -> tensor<4xf32> {
      %t = arith.constant dense<[9.0, 8.0, 7.0, 6.0]> : tensor<4xf32>
      return %t : tensor<4xf32>
    }"""
    module = live(text)
    with module.context, mlir.ir.Location.unknown():
        kind = mlir.ir.RankedTensorType.get([4], mlir.ir.F32Type.get())
        attribute = mlir.ir.DenseResourceElementsAttr.get_from_buffer(values, "data", kind)
        (function,) = module.body.operations
        function.body.blocks[0].operations[0].attributes["value"] = attribute
    for _ in range(2):
        assert (confirming.compile(module).f() == [0, 1, 2, 3]).all()
    values[:] = [5, 6, 7, 8]
    for _ in range(2):
        assert (confirming.compile(module).f() == [5, 6, 7, 8]).all()
    assert counts(confirming) == {"compiled": 2, "confirmed": 2, "refuted": 0}


def test_under_a_policy(open_confirming):
    """What the policy ignores may differ from the stored program, and nothing else."""
    policy = Policy(private_symbols="rename", constants="lift", commutative="ignore")
    compiler = open_confirming(policy=policy)
    for seed in (1, 2, 1):
        assert Mlp(seed).matches(compiler.compile(Mlp(seed).text))
    assert counts(compiler) == {"compiled": 1, "confirmed": 2, "refuted": 0}


def test_locations_that_count_are_compared(open_confirming):
    text = 'func.func @f() { return } loc("{}":1:2)'
    compiler = open_confirming(policy=Policy(locations="keep"))
    for place in ("a", "b", "a"):
        compiler.compile(text.replace("{}", place))
    assert counts(compiler) == {"compiled": 2, "confirmed": 1, "refuted": 0}


# Programs without an identity

NO_BLOB = """func.func @f(%x: i64) -> i64 attributes {t.a = dense_resource<gone> : tensor<4xf32>} {
  return %x : i64
}"""


@pytest.mark.parametrize("confirm", ["never", "always"])
@pytest.mark.parametrize("form", [str, live], ids=["text", "live"])
@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(locations="keep"),
        Policy(private_symbols="rename", symbol_order="ignore"),
        Policy(commutative="ignore", module_name="ignore"),
        Policy(constants="lift", lift_bytes=1),
        Policy(discardable=["t.other"]),
    ],
    ids=lambda policy: policy.text,
)
def test_uncacheable(tmp_path, policy, form, confirm):
    compiler = twinjit.Compiler(policy=policy, confirm=confirm, cache=tmp_path)
    for _ in range(2):
        executable = compiler.compile(form(NO_BLOB))
        assert (executable.report.tier, executable.report.cached) == ("compiled", False)
        assert executable.f(7) == 7
    stats = compiler.stats()
    assert (stats["uncacheable"], stats["compiled"], stats["confirmed"]) == (2, 2, 0)
    explanation = compiler.explain(form(NO_BLOB))
    assert "'func.func'" in explanation.uncacheable
    assert "'gone'" in explanation.uncacheable
    assert str(explanation).endswith(
        f"would be compiled each time, without the cache: {explanation.uncacheable}"
    )
    assert explanation.tier == "compiled"
    assert not list(tmp_path.rglob("*.tj"))


def test_policy_may_leave_out_what_has_no_identity(tmp_path):
    compiler = twinjit.Compiler(policy=Policy(discardable="ignore"), cache=tmp_path)
    assert compiler.compile(NO_BLOB).report.tier == "compiled"
    assert compiler.compile(NO_BLOB).report.tier == "memory"
    assert compiler.stats()["uncacheable"] == 0


def test_explanation_of_a_pipeline_that_reads_files(tmp_path):
    pipeline = f"builtin.module(transform-preload-library{{transform-library-paths={tmp_path}}})"
    compiler = twinjit.Compiler(pipeline=pipeline, cache=False)
    assert "transform-preload-library reads files" in compiler.explain(TEXT).uncacheable


def test_options_are_checked():
    with pytest.raises(twinjit.errors.ConfigError, match="policy is 'lift'"):
        twinjit.Compiler(policy="lift")
    with pytest.raises(twinjit.errors.ConfigError, match="confirm is True"):
        twinjit.Compiler(confirm=True)


def test_policy_is_part_of_key_and_request(compiler, tmp_path):
    compiler.compile(TEXT)
    policy = Policy(private_symbols="rename")
    other = twinjit.Compiler(policy=policy, cache=compiler.store.root)
    assert other.explain(TEXT).tier == "compiled"
    assert not other.explain(TEXT).direct
    assert dict(other.explain(TEXT).key.parts)["policy"] == policy.text
    assert f"policy: {policy.text}" in str(other.explain(TEXT))
