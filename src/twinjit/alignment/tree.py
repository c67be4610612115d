"""An outline as a tree in columns: what the alignment looks up, by the number of the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from operator import itemgetter

from twinjit.outline import Field, Record

__all__ = ["FREE", "ROOT", "Interner", "Tree"]

ROOT = -1
"""The parent of records of depth 0."""

FREE = -1
"""The definer of an identity that nothing in the outline defines."""

_SKETCH = 256  # records
_CHILDLESS: list[int] = []
_by_name = itemgetter(0)


class Interner(dict[Hashable, int]):
    """Numbers for keys, the same for equal ones; two trees to compare share one."""

    def __missing__(self, key: Hashable) -> int:
        number = self[key] = len(self)
        return number


class Tree:
    """An outline, indexed.

    Attributes
    ----------
    records
        The outline. Its records may be plain tuples, and the fields in it remain what they were.
    parent, children, end
        By record: the number of its parent, those of its children, and that after its last
        descendant. ``children[ROOT]`` are the records of depth 0.
    fields
        By record: its fields, by name.
    sort, local, shape, body
        By record: numbers that are equal exactly if the kind and label, the record, the subtree,
        and the record's label with the subtrees below it are, all apart from references.
    targets, slots
        By record: the nodes that define what its fields refer to (`FREE` for none), in the order of
        `fields`; and which of its definitions each is (where free: a number in the order in which
        the outline first refers to it).
    """

    def __init__(self, records: Sequence[Record], interner: Interner) -> None:
        self.records = [Record._make(record) for record in records]
        count = len(records)
        self.parent = [ROOT] * count
        self.children: list[list[int]] = [_CHILDLESS] * (count + 1)  # ROOT is the last
        self.end = [0] * count
        self.fields: list[Sequence[Field]] = []
        self.sort = [0] * count
        self.local = [0] * count
        self.shape = [0] * count
        self.body = [0] * count
        self.targets: list[tuple[int, ...]] = []
        self.slots: list[tuple[int, ...]] = []
        self._sketches: dict[int, tuple[Counter[int], Counter[int]]] = {}
        self._link()
        self._describe(interner)
        self._sum_up(interner)
        self._resolve()

    def equals(self, other: Tree) -> bool:
        """Tell whether two trees are the same, down to their references."""
        return (
            self.local == other.local
            and self.parent == other.parent
            and self.targets == other.targets
            and self.slots == other.slots
        )

    def precedes(self, other: Tree) -> bool:
        """Tell whether a tree comes first, in an order that depends on nothing but contents."""
        ours = zip(self.local, self.parent, strict=True)
        theirs = zip(other.local, other.parent, strict=True)
        for node, (one, another) in enumerate(zip(ours, theirs, strict=False)):
            if one != another:
                return _contents(self.records[node]) < _contents(other.records[node])
        if len(self.records) != len(other.records):
            return len(self.records) < len(other.records)
        return (self.targets, self.slots) < (other.targets, other.slots)

    def sketch(self, node: int) -> tuple[Counter[int], Counter[int]]:
        """Count the records, and the sorts of records, that a subtree begins with."""
        found = self._sketches.get(node)
        if found is None:
            end = min(self.end[node], node + _SKETCH)
            found = Counter(self.local[node + 1 : end]), Counter(self.sort[node + 1 : end])
            self._sketches[node] = found
        return found

    def _link(self) -> None:
        open_nodes: list[int] = []
        for node, record in enumerate(self.records):
            while len(open_nodes) > record.depth:
                self.end[open_nodes.pop()] = node
            parent = open_nodes[-1] if open_nodes else ROOT
            self.parent[node] = parent
            if self.children[parent] is _CHILDLESS:
                self.children[parent] = []
            self.children[parent].append(node)
            open_nodes.append(node)
        for node in open_nodes:
            self.end[node] = len(self.records)

    def _describe(self, interner: Interner) -> None:
        for node, record in enumerate(self.records):
            _, kind, label, symbol, _, _, fields, defines = record
            if len(fields) > 1:
                fields = tuple(sorted(fields, key=_by_name))
            self.fields.append(fields)
            sort = self.sort[node] = interner[kind, label]
            compared = tuple([(name, digest, len(refers)) for name, digest, _, refers in fields])
            self.local[node] = interner[sort, symbol, len(defines), compared]

    def _sum_up(self, interner: Interner) -> None:
        shape = self.shape
        for node in range(len(self.records) - 1, -1, -1):
            below = tuple([shape[child] for child in self.children[node]])
            self.shape[node] = interner["shape", self.local[node], below]
            self.body[node] = interner["body", self.sort[node], below]

    def _resolve(self) -> None:
        definers = {
            identity: (node, slot)
            for node, record in enumerate(self.records)
            for slot, (identity, _) in enumerate(record.defines)
        }
        free: dict[int, tuple[int, int]] = {}
        for fields in self.fields:
            found = [
                definers.get(identity) or free.setdefault(identity, (FREE, len(free)))
                for _, _, _, references in fields
                for identity in references
            ]
            self.targets.append(tuple([target for target, _ in found]))
            self.slots.append(tuple([slot for _, slot in found]))


def _contents(record: Record) -> tuple[object, ...]:
    fields = sorted((name, digest, len(refers)) for name, digest, _, refers in record.fields)
    return record.depth, record.kind, record.label, record.symbol, len(record.defines), fields
