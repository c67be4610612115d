"""What MLIR said, as Python objects, and whose it is."""

from __future__ import annotations

import pytest

import twinjit
from tests.threads import at_once
from twinjit.errors import CompilationError, Diagnostic, TwinjitError

pytestmark = pytest.mark.usefixtures("silence")


def refused(text: str, **options: object) -> TwinjitError:
    with pytest.raises(TwinjitError) as raised:
        twinjit.Compiler(cache=False, **options).compile(text)  # type: ignore[arg-type]
    return raised.value


def test_a_note_belongs_to_its_diagnostic() -> None:
    error = refused("func.func private @f()\nfunc.func private @f()\n")
    (diagnostic,) = error.diagnostics
    assert diagnostic == Diagnostic(
        "error",
        "redefinition of symbol named 'f'",
        "<text>",
        2,
        1,
        "func.func private @f()\n^",
        (
            Diagnostic(
                "note",
                "see existing symbol definition here",
                "<text>",
                1,
                1,
                "func.func private @f()\n^",
            ),
        ),
    )
    assert str(error) == (
        "<text> is not valid\n"
        "  <text>:2:1: error: redefinition of symbol named 'f'\n"
        "    func.func private @f()\n"
        "    ^\n"
        "    <text>:1:1: note: see existing symbol definition here\n"
        "      func.func private @f()\n"
        "      ^"
    )


CALLED = Diagnostic("note", "called from here", "b.py", 3, 4)


@pytest.mark.parametrize(
    ("location", "file", "line", "column", "name", "notes"),
    [
        ('"a.py":1:2', "a.py", 1, 2, "", ()),
        ('"a.py":1:2 to 5:6', "a.py", 1, 2, "", ()),
        ('"op"("a.py":1:2)', "a.py", 1, 2, "op", ()),
        ('"op"', "", 0, 0, "op", ()),
        ('"outer"("inner"("a.py":1:2))', "a.py", 1, 2, "outer", ()),
        ('callsite("a.py":1:2 at "b.py":3:4)', "a.py", 1, 2, "", (CALLED,)),
        (
            'callsite("op"("a.py":1:2) at callsite("b.py":3:4 at "c.py":5:6))',
            "a.py",
            1,
            2,
            "op",
            (CALLED, Diagnostic("note", "called from here", "c.py", 5, 6)),
        ),
        (
            'callsite(callsite("a.py":1:2 at "b.py":3:4) at "c.py":5:6)',
            "a.py",
            1,
            2,
            "",
            (CALLED, Diagnostic("note", "called from here", "c.py", 5, 6)),
        ),
        (
            'fused[unknown, callsite("op" at "b.py":3:4), "a.py":1:2]',
            "a.py",
            1,
            2,
            "op",
            (CALLED,),
        ),
        ('fused[unknown, "a.py":1:2, "b.py":3:4]', "a.py", 1, 2, "", ()),
        ('fused<"why">["a.py":1:2]', "a.py", 1, 2, "", ()),
        ("unknown", "", 0, 0, "", ()),
    ],
)
def test_places(
    location: str, file: str, line: int, column: int, name: str, notes: tuple[Diagnostic, ...]
) -> None:
    text = f'func.func @f() -> i32 {{ "func.return"() : () -> () loc({location}) }}'
    (found,) = refused(text).diagnostics
    assert (found.file, found.line, found.column, found.name) == (file, line, column, name)
    assert found.notes == notes


@pytest.mark.parametrize("inner", ["callee", "caller"])
@pytest.mark.parametrize("executor", ["thread", "process"])
def test_callers_are_told_however_many(inner: str, executor: str) -> None:
    lines = ['#l0 = loc("a.py":1:1)']
    for n in range(1, 3000):
        here = f'"b.py":{n}:1'
        call = f"#l{n - 1} at {here}" if inner == "callee" else f"{here} at #l{n - 1}"
        lines.append(f"#l{n} = loc(callsite({call}))")
    text = "\n".join([*lines, 'func.func @f() -> i32 { "func.return"() : () -> () loc(#l2999) }'])
    error = refused(text, executor=executor)
    (found,) = error.diagnostics
    order = range(1, 1000) if inner == "callee" else range(2998, 1999, -1)
    assert [note.line for note in found.notes] == list(order)
    assert not any(note.notes for note in found.notes)
    assert str(error).count("called from here") == len(found.notes)


def test_locations_that_share_parts_end() -> None:
    for kind in ("callsite(#l{0} at #l{0})", 'fused["x"(#l{0}), "y"(#l{0})]'):
        lines = ["#l0 = loc(unknown)", *(f"#l{n + 1} = loc({kind.format(n)})" for n in range(60))]
        text = 'func.func @f() -> i32 { "func.return"() : () -> () loc(#l60) }'
        (found,) = refused("\n".join([*lines, text])).diagnostics
        assert len(found.notes) < 1000


def test_a_name_is_told() -> None:
    text = 'func.func @f() -> i32 { "func.return"() : () -> () loc("jit(f)/add"("a.py":1:2)) }'
    assert "a.py:1:2: jit(f)/add: error: " in str(refused(text))


def test_what_a_pass_would_need_to_know_is_no_note_of_nothing() -> None:
    """All that is told at the top level has a severity of its own."""
    policy = twinjit.Policy(constants="lift", lift_bytes=1)
    error = refused(
        """
        func.func @f() -> tensor<4xf32> {
          %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
          %r = "tosa.exp"(%c) : (tensor<4xf32>) -> tensor<4xf32>
          return %r : tensor<4xf32>
        }""",
        policy=policy,
        pipeline="convert-func-to-llvm",
    )
    assert {each.severity for each in error.diagnostics} <= {"error", "remark"}


@pytest.mark.parametrize(
    ("pipeline", "why"),
    [
        ("canonicalize{max-iterations=many}", "'many' value invalid for long argument"),
        ("canonicalize{top-down=maybe}", "'maybe' is invalid value for boolean argument"),
        ("canonicalize{region-simplify=odd}", "Cannot find option named 'odd'"),
        ("canonicalize{no-such=1}", "no such option no-such"),
        ("func.func(canonicalize{max-iterations=many})", "'many' value invalid"),
    ],
)
def test_values_of_options_are_refused_in_the_exception(pipeline: str, why: str) -> None:
    """LLVM's parser of options writes to stderr."""
    assert why in str(refused("module {}", pipeline=pipeline))


# Each fails at another step; the marker is in what is said.
FAILURES = {
    "unknown_marker0": "func.func @f() { return %unknown_marker0 }",
    "marker1": "func.func private @marker1()\nfunc.func private @marker1()",
    "marker2": 'func.func @f() { "arith.marker2"() : () -> () return }',
    "marker3": "func.func @f(%x: !llvm.marker3) { return }",
    "marker4": "func.func @f() { call @marker4() : () -> () return }",
    "marker5": "func.func @f() -> i32 { %c = arith.constant 1 : i64 return %c : i64 } // marker5",
    "marker6": 'func.func @f() { "marker6.op"() : () -> () return }',
    "marker7": "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> attributes {} { marker7 }",
}


def test_threads_get_their_own() -> None:
    compiler = twinjit.Compiler(cache=False)
    markers = list(FAILURES)

    def fail(index: int) -> None:
        marker = markers[index]
        for _ in range(25):
            with pytest.raises(CompilationError) as raised:
                compiler.compile(FAILURES[marker])
            told = str(raised.value)
            assert raised.value.diagnostics
            assert "marker" in told
            assert not [each for each in markers if each != marker and each in told]

    at_once(fail, len(FAILURES))
