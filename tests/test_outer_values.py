"""Live operations that use values from outside of them."""

from __future__ import annotations

import mlir.ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinjit
from tests.live_programs import generic, loop, parse
from twinjit import Policy
from twinjit.errors import UnfingerprintableError, UnsupportedProgramError

TEXT = """func.func @f(%n: index, %m: index, %p: memref<?xf32>, %q: memref<?xf32>) {{
  {before}
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %m {{
    {body}
  }}
  return
}}"""
COPY = """%x = memref.load %p[%i] : memref<?xf32>
    memref.store %x, %q[%i] : memref<?xf32>"""


def make(body: str = COPY, before: str = "") -> ir.Operation:
    return loop(TEXT.format(body=body, before=before))


def assert_same(a: ir.Operation, b: ir.Operation, policy: Policy | None = None) -> None:
    assert twinjit.fingerprint(a, policy) == twinjit.fingerprint(b, policy)
    assert twinjit.equivalent(a, b, policy)
    assert not twinjit.diff(a, b, policy)


def assert_different(
    a: ir.Operation, b: ir.Operation, policy: Policy | None = None
) -> twinjit.Diff:
    assert twinjit.fingerprint(a, policy) != twinjit.fingerprint(b, policy)
    assert not twinjit.equivalent(a, b, policy)
    assert not twinjit.equivalent(b, a, policy)
    found = twinjit.diff(a, b, policy)
    assert found
    return found


def test_what_defines_them_does_not_count() -> None:
    assert_same(make(), make(before="%other = arith.constant 7 : index"))
    assert_same(make(), make(COPY.replace("%p", "%r").replace("%q", "%p").replace("%r", "%q")))


def test_their_identities_count() -> None:
    gone, other = assert_different(make(), make(COPY.replace("%q", "%p")))
    assert (gone.kind, gone.path[-1]) == ("removed", "outer value 4 type")
    assert other.path[-2:] == ("operation 1 (memref.store)", "operand 1")
    assert (other.a, other.b) == ("outer value 4", "outer value 3")


def test_their_types_count() -> None:
    text = TEXT.format(body=COPY, before="")
    wide = text.replace("memref<?xf32>", "memref<?xf64>")
    found = assert_different(loop(text), loop(wide))
    assert {"outer value 3 type", "outer value 4 type"} <= {each.path[-1] for each in found}
    sized = text.replace("%q: memref<?xf32>", "%q: memref<8xf32>").replace(
        "%q[%i] : memref<?xf32>", "%q[%i] : memref<8xf32>"
    )
    assert [each.path[-1] for each in assert_different(loop(text), loop(sized))] == [
        "outer value 4 type"
    ]


def test_how_many_there_are() -> None:
    body = "%x = memref.load %p[%i] : memref<?xf32>"
    assert_different(make(body), make(body.replace("%i]", "%m]")))
    assert_different(make(body), make())


def test_used_in_nested_regions() -> None:
    body = "scf.for %j = %n to %m step %n {{ memref.store %x, {}[%j] : memref<?xf32> }}"
    before = "%x = arith.constant 1.0 : f32"
    assert_same(make(body.format("%p"), before), make(body.format("%q"), before))
    inner = "scf.for %j = %n to %i step %n { }"
    assert_different(make(inner), make(inner.replace("%i", "%m")))


def test_an_operation_of_a_nested_loop() -> None:
    body = "scf.for %j = %i to %m step %n { }"
    outer = [make(text) for text in (body, body.replace("%i", "%n"))]
    inner = [next(iter(each.regions[0].blocks[0])) for each in outer]
    found = assert_different(*inner)
    assert "outer value 0" in str(found)


def test_one_is_no_definition_inside() -> None:
    body = "%y = arith.constant 2 : index\n %z = arith.addi {}, %y : index"
    assert_different(make(body.format("%n")), make(body.format("%y")))


@pytest.mark.parametrize("order", ["%n, %m", "%m, %n"])
def test_operands_without_an_order(order: str) -> None:
    policy = Policy(commutative="ignore")
    a = make("%y = arith.addi %n, %m : index")
    assert_same(a, make(f"%y = arith.addi {order} : index"), policy)
    assert_different(a, make("%y = arith.addi %n, %n : index"), policy)
    assert_different(a, make(f"%y = arith.subi {order} : index"), policy)


def test_an_operation_alone() -> None:
    module = parse("""func.func @f(%x: i64, %y: i64, %z: i32) {
      %a = arith.addi %x, %y : i64
      %b = arith.addi %y, %x : i64
      %c = arith.addi %x, %x : i64
      %d = arith.addi %z, %z : i32
      return
    }""")
    (function,) = module.body
    a, b, c, d, _ = function.regions[0].blocks[0]
    assert_same(a, b)
    assert_different(a, c)
    assert_different(c, d)


def test_program_is_not_changed() -> None:
    module = parse(TEXT.format(body=COPY, before=""))
    before = generic(module)
    (function,) = module.body
    operation = next(each for each in function.regions[0].blocks[0] if each.operation.regions)
    twinjit.fingerprint(operation)
    twinjit.diff(operation, make("%y = arith.addi %n, %m : index"))
    assert generic(module) == before


def test_is_not_compiled() -> None:
    for use in (twinjit.compile, twinjit.explain):
        with pytest.raises(UnsupportedProgramError, match="from outside of it"):
            use(make())


def test_blocks_from_outside() -> None:
    module = parse("func.func @f() {\n cf.br ^a\n^a:\n return }")
    (function,) = module.body
    branch = next(iter(function.regions[0].blocks[0]))
    with pytest.raises(UnfingerprintableError, match="a successor lies outside"):
        twinjit.fingerprint(branch)


OUTER = ("%a", "%b", "%c", "%z")
Operation = tuple[str, str, str]  # a name and two operands


def write(bounds: list[str], body: list[Operation]) -> ir.Operation:
    lines = "\n".join(
        f"%v{place} = arith.{name} {x}, {y} : index" for place, (name, x, y) in enumerate(body)
    )
    return loop(
        "func.func @f(%a: index, %b: index, %c: index) {\n%z = arith.constant 0 : index\n"
        f"scf.for %i = {bounds[0]} to {bounds[1]} step {bounds[2]} {{\n{lines}\n}}\nreturn }}"
    )


def by_first_use(bounds: list[str], body: list[Operation]) -> list[object]:
    """What the loop is, outer values named by the order of their first use."""
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers))) if name in OUTER else name

    return [[*map(number, bounds)], *((name, number(x), number(y)) for name, x, y in body)]


@st.composite
def loops(draw: st.DrawFn) -> tuple[list[str], list[Operation]]:
    bounds = draw(st.lists(st.sampled_from(OUTER), min_size=3, max_size=3))
    body: list[Operation] = []
    for place in range(draw(st.integers(0, 4))):
        known = st.sampled_from([*OUTER, *(f"%v{each}" for each in range(place))])
        body.append((draw(st.sampled_from(["addi", "subi"])), draw(known), draw(known)))
    return bounds, body


@given(loops(), st.permutations(OUTER), st.none() | st.sampled_from(OUTER))
def test_same_exactly_if_first_uses_are(
    program: tuple[list[str], list[Operation]], permuted: list[str], other: str | None
) -> None:
    bounds, body = program
    renamed = dict(zip(OUTER, permuted, strict=True))
    more = (
        [renamed[each] for each in bounds],
        [(name, renamed.get(x, x), renamed.get(y, y)) for name, x, y in body],
    )
    if other and body:
        more[1][-1] = (*more[1][-1][:2], other)
    check = assert_same if by_first_use(*program) == by_first_use(*more) else assert_different
    check(write(*program), write(*more))
