"""Diffs of programs: each edit is told once, at its place."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.outlines import Definition, Node, Value, block, func, module, op, records, within
from tests.programs_to_edit import EDITS, edit, programs, random_program
from twinjit.alignment import Interner, Tree, alignments
from twinjit.differ import Diff, Difference, diff_outlines

_MIRRORED = {"inserted": "removed", "removed": "inserted"}


def diff(a: Node, b: Node) -> Diff:
    return diff_outlines(records(a), records(b, seed=1))


def the_only(a: Node, b: Node) -> Difference:
    found = diff(a, b)
    assert len(found) == 1, str(found)
    return found[0]


def straight(*operations: Node) -> Node:
    return module(func("f", block(*operations)))


def mirrored(each: Difference) -> tuple:
    kind = _MIRRORED.get(each.kind, each.kind)
    return kind, each.path_b, each.path_a, each.b, each.a, each.location_b, each.location_a


def as_tuple(each: Difference) -> tuple:
    return (
        *(each.kind, each.path_a, each.path_b, each.a, each.b),
        *(each.location_a, each.location_b),
    )


@given(programs(), st.integers(0, 99))
def test_numbers_of_identities_do_not_matter(program, seed):
    assert not diff_outlines(records(program), records(program, seed))


@given(programs(), st.integers(0, 2**32), st.booleans())
def test_one_edit_is_one_difference(program, seed, digests):
    rng = random.Random(seed)
    before = records(program, digests=digests)
    place = edit(program, rng.choice(EDITS), rng)
    assume(place is not None)
    found = diff_outlines(before, records(program, seed, digests=digests))
    assert len(found) == 1, str(found)
    kind, name = place
    assert found[0].kind in kind
    assert name in found[0].place


def differences_beyond_edits(program: Node, seed: int) -> int:
    rng = random.Random(seed)
    before = records(program)
    done = [edit(program, rng.choice(EDITS), rng) for _ in range(rng.randint(2, 4))]
    found = diff_outlines(before, records(program, seed))
    return len(found) - sum(each is not None for each in done)


@given(programs(), st.integers(0, 2**32))
def test_few_more_differences_than_edits(program, seed):
    assert differences_beyond_edits(program, seed) <= 4


def test_hardly_ever_more_differences_than_edits():
    """Fewest edits of graphs are out of reach; several edits of equal neighbours can mislead."""
    beyond = [differences_beyond_edits(random_program(seed), seed) for seed in range(500)]
    assert sum(each > 0 for each in beyond) <= 5


@given(programs(), programs(), st.integers(0, 2**32))
def test_a_diff_mirrors(one, other, seed):
    a, b = records(one), records(other)
    there = diff_outlines(a, b)
    assert Counter(map(mirrored, there)) == Counter(map(as_tuple, diff_outlines(b, a)))
    again = diff_outlines(records(one, seed), records(other, seed + 1))
    assert again.to_data() == there.to_data()


def test_the_first_of_four_equal_constants_that_are_used_apart():
    def program(*kept: int) -> Node:
        constants = {place: op("constant", value="1") for place in kept}
        users = [op("use", each.defines[0], n=str(n)) for n, each in constants.items()]
        return straight(*constants.values(), *users)

    found = diff(program(0, 1, 2, 3), program(0, 2, 3))
    assert [(each.kind, each.path[-1]) for each in found] == [
        ("removed", "operation 1 (constant)"),
        ("removed", "operation 5 (use)"),
    ]


@pytest.mark.parametrize("at", range(5))
def test_an_equal_constant_among_those_that_equal_operations_use(at):
    def program(inserted: int | None) -> Node:
        constants = [op("constant", value="1") for _ in range(4)]
        one, two, three, four = (each.defines[0] for each in constants)
        users = [op("add", one, two), op("add", three, four), op("add", one, four)]
        if inserted is not None:
            constants.insert(inserted, op("constant", value="1"))
        return straight(*constants, *users)

    found = the_only(program(None), program(at))
    assert (found.kind, found.path_b[-1]) == ("inserted", f"operation {at} (constant)")


def test_one_link_out_of_a_chain_of_equal_operations():
    def chain(length: int) -> Node:
        operations = [op("start")]
        for _ in range(length):
            operations.append(op("add", *2 * operations[-1].defines))
        return straight(*operations, op("return", *operations[-1].defines, results=0))

    found = diff(chain(50), chain(49))
    assert [each.kind for each in found] == ["removed", "changed"]
    assert found[1].path_a[-2:] == ("operation 51 (return)", "operand 0")


def test_an_operand_among_others():
    def call(*places: int) -> Node:
        start = op("start", results=4)
        return straight(start, op("call", *(start.defines[place] for place in places)))

    found = the_only(call(0, 1, 2), call(0, 3, 1, 2))
    assert (found.kind, found.path_a, found.path_b[-1]) == ("inserted", (), "operand 1")
    found = the_only(call(0, 1, 2), call(1, 2))
    assert (found.kind, found.path_a[-1]) == ("removed", "operand 0")
    assert [each.path[-1] for each in diff(call(0, 1), call(1, 0))] == ["operand 0", "operand 1"]


def test_an_argument_before_others_that_are_used():
    def function(arguments: int) -> Node:
        body = block(arguments=arguments)
        body.children = [op("use", each) for each in body.defines[-3:-1]]
        return module(func("f", body))

    found = the_only(function(2), function(3))
    assert (found.kind, found.path_b[-2:]) == ("inserted", ("block 0", "argument 2 type"))


def test_a_value_of_the_same_name():
    def program(used: int) -> Node:
        starts = [op("start", n="0"), op("start", n="1")]
        for each in starts:
            each.defines[0].name = "%x"
        return straight(*starts, op("use", starts[used].defines[0]))

    found = the_only(program(0), program(1))
    assert (found.a, found.b) == ("%x", "%x")
    assert found.note == (
        "refers to %x of operation 1 (start), no longer to %x of operation 0 (start)"
    )


def test_values_that_are_printed_alike():
    a, b = records(straight(op("start"))), records(straight(op("start")))
    last = b[-1]
    b[-1] = last._replace(fields=(last.fields[0]._replace(digest=bytes(32)),), digest=b"")
    b = [each._replace(digest=b"") for each in b]
    (found,) = diff_outlines(a, b)
    assert (found.a, found.b, found.note) == ("i32", "i32", "not the same, though printed alike")


def test_identities_that_nothing_defines():
    def program(*numbers: int) -> Node:
        distinct = [Definition(f"distinct[{number}]") for number in range(9)]
        operations = [op("start", n=str(place)) for place in range(len(numbers))]
        for each, number in zip(operations, numbers, strict=True):
            each.fields["attribute id"] = Value("distinct", [distinct[number]])
        return straight(*operations)

    assert not diff(program(0, 1, 0, 2), program(5, 3, 5, 0))
    found = the_only(program(0, 1, 0, 2), program(0, 1, 0, 1))
    assert found.path[-2:] == ("operation 3 (start)", "attribute id")
    assert found.note == "another one, judged by where else each of them occurs"
    # The first is the one that differs, although it is met first.
    found = the_only(program(0, 0, 0, 0), program(1, 0, 0, 0))
    assert found.path[-2:] == ("operation 0 (start)", "attribute id")


def test_a_renamed_function_with_a_changed_body():
    def program(name: str, value: str) -> Node:
        body = [op("start", n=str(n)) for n in range(5)]
        return module(func(name, block(*body, op("constant", value=value))), func("other", block()))

    found = diff(program("f", "1"), program("g", "2"))
    assert [each.path_a for each in found] == [
        ("@f", "attribute sym_name"),
        ("@f", "region 0", "block 0", "operation 5 (constant)", "attribute value"),
    ]
    assert found[1].path_b[0] == "@g"


def test_functions_that_have_nothing_in_common():
    found = diff(
        module(func("f", block(op("a"), op("b"), op("c")))),
        module(func("g", block(op("d"), op("e"), op("f")))),
    )
    assert [each.kind for each in found] == ["removed", "inserted"]


def test_a_symbol_that_no_field_tells():
    a, b = op("func.func", results=0, symbol="f"), op("func.func", results=0, symbol="g")
    found = the_only(module(within(a, block(op("x")))), module(within(b, block(op("x")))))
    assert (found.path_a, found.a, found.b) == (("@f", "symbol"), "f", "g")


def test_what_was_handed_in_is_compared_whatever_it_is_called():
    found = the_only(func("f", block(op("a"), op("b"))), func("g", block(op("a"), op("b"))))
    assert found.path_a == ("@f", "attribute sym_name")
    found = diff(func("f", block()), module())
    assert [each.kind for each in found] == ["removed", "inserted"]


def test_swapped_functions():
    one, two = func("f", block(op("a"))), func("g", block(op("b")))
    a, b = records(module(one, two)), records(module(two, one))
    (found,) = diff_outlines(a, b)
    assert (found.kind, found.note) == ("moved", "from operation 0 to operation 1")
    # Even where their order does not count, outlines that differ in nothing else differ.
    assert diff_outlines(a, b, symbol_order=False)


def test_blocks_are_told_apart_by_what_they_hold():
    def program(*order: str) -> Node:
        blocks = {name: block(op(name), op(name)) for name in "xyz"}
        branch = op("branch", results=0)
        for place, name in enumerate(order):
            branch.fields[f"successor {place}"] = Value("", [blocks[name].defines[-1]])
        return module(func("f", block(branch), *(blocks[name] for name in order)))

    # The outline lists blocks as it visits them: their order follows from the successors.
    found = diff(program("x", "y", "z"), program("x", "z", "y"))
    assert [each.path[-1] for each in found] == ["successor 1", "successor 2"]
    entry = diff(
        module(func("f", block(op("x"), op("y")), block(op("z")))),
        module(func("f", block(op("z")), block(op("x"), op("y")))),
    )
    assert [each.kind for each in entry] == ["moved"]


def test_empty_outlines():
    assert not diff_outlines([], [])
    (found,) = diff_outlines([], records(op("a")))
    assert (found.kind, found.path, found.a) == ("inserted", ("operation 0 (a)",), None)


def nest(depth: int, innermost: str) -> Node:
    root = inner = op("root", results=0)
    for _ in range(depth):
        child = op("loop", results=0)
        within(inner, block(child))
        inner = child
    within(inner, block(op("constant", value=innermost)))
    return root


def test_regions_nested_deeply():
    a, b = (records(nest(5000, value), digests=False) for value in "12")
    (found,) = diff_outlines(a, b)
    assert found.path[-2:] == ("operation 0 (constant)", "attribute value")
    assert len(found.path) < 70
    assert any("more)" in element for element in found.path)
    wide = op("root", results=0)
    assert not diff_outlines(records(wide), records(wide))


def test_long_values_are_shown_where_they_differ():
    long = "0, " * 30_000
    a, b = (straight(op("constant", value=f"{long}{n}, {long}")) for n in (1, 2))
    found = the_only(a, b)
    shown = str(found)
    assert len(shown) < 700
    assert "…" in shown
    assert "0, 1, 0" in shown
    assert "0, 2, 0" in shown
    data = found.to_data()
    assert data["a"]["length"] == len(found.a)
    assert data["a"]["differs_at"] == len(long)
    assert data["a"]["blake3"] != data["b"]["blake3"]


def test_a_diff_as_text_and_as_data():
    a, b = op("constant", value="1"), op("constant", value="2")
    a.location, b.location = "a.mlir:3:7", "b.mlir:4:1"
    found = diff(straight(op("x"), a), straight(op("y"), op("x"), b))
    place = "@f / region 0 / block 0"
    assert str(found) == (
        f"inserted {place} / operation 0 (y)\n"
        "  + y (result 0 type: i32)\n"
        f"changed {place} / operation 1 (constant) → operation 2 (constant) / attribute value\n"
        "  - 1  [a.mlir:3:7]\n"
        "  + 2  [b.mlir:4:1]\n"
        "1 changed, 1 inserted"
    )
    data = found.to_data()
    assert (data["equal"], data["counts"]) == (
        False,
        {"changed": 1, "inserted": 1, "removed": 0, "moved": 0},
    )
    assert data["differences"][1] == {
        "kind": "changed",
        "place": f"{place} / operation 1 (constant) → operation 2 (constant) / attribute value",
        "path_a": [*place.split(" / "), "operation 1 (constant)", "attribute value"],
        "path_b": [*place.split(" / "), "operation 2 (constant)", "attribute value"],
        "a": "1",
        "b": "2",
        "location_a": "a.mlir:3:7",
        "location_b": "b.mlir:4:1",
        "note": "",
    }
    assert (bool(found), len(found), repr(found)) == (True, 2, "<Diff: 1 changed, 1 inserted>")
    assert not Diff()
    assert str(Diff()) == "no differences"


def test_nothing_costs_more_than_the_edits_do():
    """However many operations look the same; counted in comparisons, not in seconds."""
    operations = [op("add") for _ in range(2)]
    rng = random.Random(0)
    while len(operations) < 5000:
        near = operations[-20:]
        operands = [rng.choice(near).defines[0], rng.choice(near).defines[0]]
        operations.append(op("add", *operands))
    before = records(straight(*operations))
    used = {each for node in operations for value in node.fields.values() for each in value.refers}
    unused = [node for node in operations if node.defines[0] not in used]
    for node in rng.sample(unused, 5):
        operations.remove(node)
    for place in rng.sample(range(1, 4000), 5):
        operations.insert(place, op("add", *2 * operations[place - 1].defines))
    left, right = (Tree(each, interner) for interner in [Interner()] for each in
                   (before, records(straight(*operations), 1)))  # fmt: skip
    pairing, _ = next(alignments(left, right))
    assert pairing.work < 2 * len(left.records)
    assert len(diff_outlines(before, records(straight(*operations), 1))) == 10
