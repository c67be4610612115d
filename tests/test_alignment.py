"""The alignment: which node is which, and the lists it is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.outlines import block, func, module, op, records, within
from twinjit.alignment import NONE, Interner, Tree, alignments, fewest_edits, increasing
from twinjit.outline import Field, Record

short_lists = st.lists(st.integers(0, 3), max_size=8)


def trees(*programs) -> list[Tree]:
    interner = Interner()
    return [Tree(records(program, seed), interner) for seed, program in enumerate(programs)]


def pairs(a, b) -> list[tuple[str, str]]:
    """The partners by the first alignment, operations by their labels."""
    left, right = trees(a, b)
    pairing, _ = next(alignments(left, right))
    return [
        (left.records[node].label, right.records[partner].label if partner != NONE else "")
        for node, partner in enumerate(pairing.a)
        if left.records[node].kind == "operation"
    ]


def edit_distance(a: list[int], b: list[int]) -> int:
    """By the definition."""
    if not a or not b:
        return len(a) + len(b)
    return min(
        edit_distance(a[1:], b[1:]) + (a[0] != b[0]),
        edit_distance(a[1:], b) + 1,
        edit_distance(a, b[1:]) + 1,
    )


@given(short_lists.filter(lambda a: len(a) < 6), short_lists.filter(lambda b: len(b) < 6))
def test_edits_are_the_fewest(a, b):
    found = list(fewest_edits(a, b, int.__eq__))
    assert [one for one, _ in found if one is not None] == a
    assert [other for _, other in found if other is not None] == b
    assert sum(one != other for one, other in found) == edit_distance(a, b)


def test_long_lists_are_paired_by_place_between_their_ends():
    a, b = [0, *range(1000, 1300), 5], [0, *range(2000, 2299), 5]
    found = list(fewest_edits(a, b, int.__eq__))
    assert (found[0], found[1], found[-2], found[-1]) == (
        (0, 0),
        (1000, 2000),
        (1299, None),
        (5, 5),
    )


@given(st.permutations(range(7)))
def test_increasing(values):
    kept = increasing(values)
    chosen = [value for place, value in enumerate(values) if place in kept]
    assert chosen == sorted(chosen)
    longest = max(
        mask.bit_count()
        for mask in range(1 << len(values))
        if (some := [v for n, v in enumerate(values) if mask >> n & 1]) == sorted(some)
    )
    assert len(chosen) == longest


def test_trees_know_their_records():
    start = op("start", results=2)
    user = op("use", start.defines[1])
    (tree,) = trees(module(func("f", block(start, user))))
    assert [record.label for record in tree.records][-2:] == ["start", "use"]
    use = len(tree.records) - 1
    assert tree.parent[use] == tree.parent[use - 1]
    assert tree.children[tree.parent[use]] == [use - 1, use]
    assert (tree.targets[use], tree.slots[use]) == ((use - 1,), (1,))
    assert tree.end[0] == len(tree.records)


def test_plain_tuples_are_records():
    field = Field("attribute value", b"x" * 32, "1")
    record = Record(0, "operation", "o", "", "", b"", (field,), ())
    plain = (0, "operation", "o", "", "", b"", (tuple(field),), ())
    interner = Interner()
    assert Tree([record], interner).equals(Tree([plain], interner))


def test_shapes_leave_references_out_and_equality_does_not():
    def program(used: int):
        starts = [op("start"), op("start")]
        return module(func("f", block(*starts, op("use", starts[used].defines[0]))))

    left, right, again = trees(program(0), program(1), program(0))
    assert left.shape == right.shape
    assert not left.equals(right)
    assert left.equals(again)
    assert left.precedes(right) != right.precedes(left)


def test_labels_are_never_paired_with_others():
    a = module(func("f", block(op("x"), op("y"))))
    b = module(func("f", block(op("z"), op("y"))))
    assert pairs(a, b)[-2:] == [("x", ""), ("y", "y")]


def test_what_moved_into_another_block_is_the_same():
    def program(inside: bool):
        moved, loop = op("moved", value="1"), op("loop")
        within(loop, block(*([moved] if inside else []), op("yield")))
        return module(func("f", block(*([] if inside else [moved]), loop)))

    assert ("moved", "moved") in pairs(program(False), program(True))


def test_digests_spare_the_comparison_of_what_is_below():
    def program(value: str):
        body = [op("constant", value=str(n)) for n in range(500)]
        changed = func("g", block(op("constant", value=value)))
        return module(func("f", block(*body)), changed)

    left, right = trees(program("1"), program("2"))
    pairing, _ = next(alignments(left, right))
    assert pairing.work < 50
    assert NONE not in pairing.a
