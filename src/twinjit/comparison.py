"""What differs between two aligned outlines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from twinjit.alignment import (
    FREE,
    NONE,
    ROOT,
    Pairing,
    Tree,
    Vote,
    elect,
    fewest_edits,
    increasing,
)
from twinjit.difference import Kind
from twinjit.outline import Field

__all__ = ["Finding", "Reference", "compare"]


_MIRRORED: Mapping[Kind, Kind] = {"inserted": "removed", "removed": "inserted"}


class Reference(NamedTuple):
    """A definition that something refers to: the node, and which of its definitions it is."""

    node: int
    slot: int


class Finding(NamedTuple):
    """One difference, by the numbers of the records.

    Attributes
    ----------
    kind
        As of `twinjit.Difference`.
    a, b
        The nodes; `NONE` where there is none.
    field_a, field_b
        The fields that differ; None where the nodes themselves do.
    refers_a, refers_b
        The first references that differ, where it is only these.
    name
        What differs, where it is neither a field nor the whole node.
    """

    kind: Kind
    a: int
    b: int
    field_a: Field | None = None
    field_b: Field | None = None
    refers_a: Reference | None = None
    refers_b: Reference | None = None
    name: str = ""

    def mirrored(self) -> Finding:
        """Return the same difference seen from the other side."""
        return Finding(
            _MIRRORED.get(self.kind, self.kind),
            *(self.b, self.a),
            *(self.field_b, self.field_a),
            *(self.refers_b, self.refers_a),
            self.name,
        )


def compare(
    pairing: Pairing, votes: Mapping[Vote, int], *, symbol_order: bool = True
) -> list[Finding]:
    """List what differs between two outlines, given which nodes are the same.

    The order of blocks behind the entry is that in which the outline visits them, so it only counts
    where nothing else says what differs.

    Parameters
    ----------
    pairing
        The alignment.
    votes
        How often paired nodes refer to each pair of definitions in the same place.
    symbol_order
        Whether the order of symbols counts; otherwise it is treated like that of blocks.
    """
    references = _References(pairing, votes)
    findings = list(_unpaired(pairing))
    moved = list(_moved(pairing))
    findings += (
        Finding("moved", a, pairing.a[a]) for a in moved if _keeps_order(pairing, a, symbol_order)
    )
    for a, b in enumerate(pairing.a):
        if b != NONE and not references.same_record(a, b):
            findings += _Record(pairing, references, a, b).findings()
    return findings or [Finding("moved", a, pairing.a[a]) for a in moved]


def _unpaired(pairing: Pairing) -> Iterator[Finding]:
    """Give the subtrees that only one of the outlines has."""
    for a, parent in enumerate(pairing.left.parent):
        if pairing.a[a] == NONE and (parent == ROOT or pairing.a[parent] != NONE):
            yield Finding("removed", a, NONE)
    for b, parent in enumerate(pairing.right.parent):
        if pairing.b[b] == NONE and (parent == ROOT or pairing.b[parent] != NONE):
            yield Finding("inserted", NONE, b)


def _moved(pairing: Pairing) -> Iterator[int]:
    """Give the left nodes whose partners are in another list, or in another order."""
    parents = pairing.right.parent
    for a, children in enumerate(pairing.left.children):
        if not children:
            continue
        parent = ROOT if a == len(pairing.a) else pairing.a[a]
        paired = [child for child in children if pairing.a[child] != NONE]
        here = [child for child in paired if parents[pairing.a[child]] == parent]
        partners = [pairing.a[child] for child in here]
        if len(here) == len(paired) and partners == sorted(partners):
            continue
        kept = {here[place] for place in increasing(partners)}
        yield from (child for child in paired if child not in kept)


def _keeps_order(pairing: Pairing, a: int, symbol_order: bool) -> bool:
    """Tell whether the place of a node among its siblings counts."""
    left, right = pairing.left, pairing.right
    parent = left.parent[a]
    if parent == ROOT or pairing.a[parent] != right.parent[pairing.a[a]]:
        return True
    record = left.records[a]
    if record.kind == "block":
        return pairing.a[left.children[parent][0]] != right.children[pairing.a[parent]][0]
    is_symbol = bool(record.symbol) or any(name.startswith("@") for _, name in record.defines)
    return symbol_order or not is_symbol


class _References:
    """Tells whether references are the same, given which nodes are."""

    def __init__(self, pairing: Pairing, votes: Mapping[Vote, int]) -> None:
        self._pairing = pairing
        self._free = elect(
            {
                (slot, other_slot): count
                for (target, slot, other, other_slot), count in votes.items()
                if target == FREE == other
            }
        )
        self._slots = self._elect_slots(votes)

    def same_record(self, a: int, b: int) -> bool:
        """Tell whether nothing differs between two nodes, apart from what is below them."""
        left, right = self._pairing.left, self._pairing.right
        return left.local[a] == right.local[b] and all(
            map(
                self.same,
                map(Reference, left.targets[a], left.slots[a]),
                map(Reference, right.targets[b], right.slots[b]),
            )
        )

    def same(self, one: Reference, other: Reference) -> bool:
        """Tell whether two references are the same."""
        if one.node == FREE or other.node == FREE:
            return one.node == other.node and self._free.get(one.slot) == other.slot
        if self._pairing.a[one.node] != other.node:
            return False
        slots = self._slots.get(one.node)
        return (one.slot if slots is None else slots.get(one.slot, NONE)) == other.slot

    def _elect_slots(self, votes: Mapping[Vote, int]) -> dict[int, dict[int, int]]:
        """Pair the definitions of partners of which one defines more than the other."""
        pairing = self._pairing
        by_node: dict[int, dict[tuple[int, int], int]] = {}
        for a, b in enumerate(pairing.a):
            if b != NONE and not pairing.defines_alike(a, b):
                by_node[a] = {}
        if by_node:
            for (target, slot, other, other_slot), count in votes.items():
                if target in by_node and pairing.a[target] == other:
                    by_node[target][slot, other_slot] = count
        return {node: elect(found) for node, found in by_node.items()}


class _Part(NamedTuple):
    """A field and what it refers to."""

    field: Field
    references: tuple[Reference, ...]


class _Record:
    """Two partners, compared field by field."""

    def __init__(self, pairing: Pairing, references: _References, a: int, b: int) -> None:
        self._pairing = pairing
        self._references = references
        self._a = a
        self._b = b

    def findings(self) -> list[Finding]:
        """Return what differs, in the order in which fields are told."""
        parts_a = _groups(self._pairing.left, self._a)
        parts_b = _groups(self._pairing.right, self._b)
        found = [
            finding
            for group in {**parts_a, **parts_b}
            for one, other in fewest_edits(
                parts_a.get(group, ()), parts_b.get(group, ()), self._same
            )
            for finding in self._compare(one, other)
        ]
        return [*found, *self._rest(found)]

    def _same(self, one: _Part, other: _Part) -> bool:
        return (
            one.field.digest == other.field.digest
            and len(one.references) == len(other.references)
            and all(map(self._references.same, one.references, other.references))
        )

    def _compare(self, one: _Part | None, other: _Part | None) -> Iterator[Finding]:
        nodes = self._a, self._b
        if one is None or other is None:
            kind: Kind = "inserted" if one is None else "removed"
            yield Finding(kind, *nodes, one and one.field, other and other.field)
        elif not self._same(one, other):
            refers: tuple[Reference | None, Reference | None] = None, None
            alike = one.field.digest == other.field.digest
            if alike and len(one.references) == len(other.references):
                refers = next(
                    pair
                    for pair in zip(one.references, other.references, strict=True)
                    if not self._references.same(*pair)
                )
            yield Finding("changed", *nodes, one.field, other.field, *refers)

    def _rest(self, found: Sequence[Finding]) -> Iterator[Finding]:
        """Give what no field tells: the name of a symbol, how many identities are defined."""
        one = self._pairing.left.records[self._a]
        other = self._pairing.right.records[self._b]
        if one.symbol != other.symbol and not any(
            _spells(finding.field_a, one.symbol) and _spells(finding.field_b, other.symbol)
            for finding in found
        ):
            yield Finding("changed", self._a, self._b, name="symbol")
        elif len(one.defines) != len(other.defines) and not found:
            yield Finding("changed", self._a, self._b, name="definitions")


def _spells(field: Field | None, symbol: str) -> bool:
    return symbol == (field.text.lstrip("@").strip('"') if field else "")


@lru_cache(maxsize=4096)
def _group(name: str) -> tuple[str, int]:
    """Split a field's name: what the fields of a numbered group share, and its number."""
    found = re.search(r"\d+", name)
    if not found:
        return name, 0
    return f"{name[: found.start()]}#{name[found.end() :]}", int(found[0])


def _groups(tree: Tree, node: int) -> Mapping[str, Sequence[_Part]]:
    """Group a node's fields, such as all operands; in the order in which they are told."""
    references = map(Reference, tree.targets[node], tree.slots[node])
    parts = {
        field[0]: _Part(Field._make(field), tuple([next(references) for _ in field[3]]))
        for field in tree.fields[node]
    }
    groups: dict[str, list[_Part]] = {}
    for name, *_ in tree.records[node].fields:
        groups.setdefault(_group(name)[0], []).append(parts[name])
    for group in groups.values():
        group.sort(key=lambda part: _group(part.field.name)[1])
    return groups
