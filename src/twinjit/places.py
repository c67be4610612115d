"""Where the nodes of an outline are, and what they are, in words."""

from __future__ import annotations

from collections import Counter

from twinjit.alignment import FREE, ROOT, Tree
from twinjit.outline import Field

__all__ = ["Places"]

_INNERMOST = 48
_OUTERMOST = 16
_FIELD_WIDTH = 60
_STRUCTURE = frozenset({"region", "block"})


class Places:
    """Tells the paths of a tree's nodes.

    A path is told from the outside to the inside. A symbol is told by its name, which stands for
    the region and the block that it is listed in, too; an outermost operation without a name is not
    told. Of a path of more than 64 nodes, the middle is left out.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._numbers, self._heads = _number(tree)

    def path(self, node: int, name: str = "") -> tuple[str, ...]:
        """Return the path of a node, or of something in it."""
        found: list[str] = []
        at = node
        while at != ROOT:
            found.append(self.element(at))
            if len(found) == _INNERMOST and self._heads[at] != at:
                head = self._heads[at]
                depth = self._tree.records[at].depth - self._tree.records[head].depth
                found.append(f"… ({depth - 1} more)")
                at = head
            else:
                at = self._above(at)
        root_told = len(found) == 1 or self._tree.records[self._root(node)].symbol
        path = found if root_told else found[:-1]
        return (*reversed(path), *([name] if name else []))

    def element(self, node: int) -> str:
        """Name a node among its siblings, such as ``operation 3 (arith.addi)``."""
        record = self._tree.records[node]
        if record.symbol:
            return f"@{record.symbol}"
        what = self.position(node)
        return what if record.label in ("", record.kind) else f"{what} ({record.label})"

    def position(self, node: int) -> str:
        """Say where a node is among its siblings of a kind, such as ``operation 3``."""
        return f"{self._tree.records[node].kind} {self._numbers[node]}"

    def describe(self, node: int) -> str:
        """Describe a node by its fields, and how much is in it."""
        record = self._tree.records[node]
        name = record.label or record.kind
        if record.symbol:
            name += f" @{record.symbol}"
        fields = ", ".join(map(_describe_field, record.fields))
        inside = self._tree.records[node + 1 : self._tree.end[node]]
        count = sum(each.kind not in _STRUCTURE for each in inside)
        return f"{name}{f' ({fields})' if fields else ''}{f' and {count} inside' if count else ''}"

    def definition(self, node: int, slot: int) -> str:
        """Name a definition and what defines it."""
        if node == FREE:
            return "something defined elsewhere"
        name = self._tree.records[node].defines[slot][1]
        element = self.element(node)
        return element if name in ("", element) else f"{name} of {element}"

    def _above(self, node: int) -> int:
        """Return the next node to tell above a node."""
        above = self._tree.parent[node]
        if self._tree.records[node].symbol:
            while above != ROOT and self._tree.records[above].kind in _STRUCTURE:
                above = self._tree.parent[above]
        return above

    def _root(self, node: int) -> int:
        node = self._heads[node]
        while self._tree.parent[node] != ROOT:
            node = self._tree.parent[node]
        return node


def _number(tree: Tree) -> tuple[list[int], list[int]]:
    """Return each node's number among its siblings of a kind, and its ancestor near the root."""
    numbers = [0] * len(tree.records)
    for children in filter(None, tree.children):
        seen: Counter[str] = Counter()
        for child in children:
            kind = tree.records[child].kind
            numbers[child] = seen[kind]
            seen[kind] += 1
    heads: list[int] = []
    for node, record in enumerate(tree.records):
        heads.append(node if record.depth < _OUTERMOST else heads[tree.parent[node]])
    return numbers, heads


def _describe_field(field: Field) -> str:
    name, _, text, _ = field
    if len(text) > _FIELD_WIDTH:
        text = f"{text[:_FIELD_WIDTH]}…"
    return f"{name}: {text}"
