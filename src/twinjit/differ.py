"""The diff of two programs, given as outlines: what is the same is aligned, the rest is told."""

from __future__ import annotations

from collections.abc import Sequence

from twinjit.alignment import FREE, NONE, Interner, Pairing, Tree, alignments
from twinjit.comparison import Finding, Reference, compare
from twinjit.difference import Diff, Difference
from twinjit.identity import open_pair
from twinjit.outline import Field, Record
from twinjit.places import Places
from twinjit.policy import Policy, policy_or_default

__all__ = ["Diff", "Difference", "diff", "diff_outlines"]


def diff(
    a: object,
    b: object,
    policy: Policy | None = None,
    *,
    allow_unregistered: bool = False,
    language: str = "auto",
) -> Diff:
    """Find all differences between two programs.

    Parameters
    ----------
    a, b
        Programs of any contexts, as for `Compiler.compile`.
    policy, allow_unregistered, language
        As for `fingerprint`.

    Returns
    -------
    Diff
        False, and empty, exactly if the programs are equivalent under the policy.

    Raises
    ------
    TwinjitError
        As for `fingerprint`.
    """
    policy = policy_or_default(policy)
    first, second = open_pair(
        a, b, policy, allow_unregistered=allow_unregistered, language=language
    )
    if first.language != second.language:
        return Diff([_whole("language", first.language, second.language)])
    found = diff_outlines(
        first.outline(policy),
        second.outline(policy),
        symbol_order=policy.symbol_order == "keep",
    )
    if first.domain != second.domain:
        note = "what knows all of the program; what others read may mean something else"
        package = _whole("package", first.domain or "any", second.domain or "any", note)
        return Diff([package, *found])
    return found


def _whole(what: str, a: str, b: str, note: str = "") -> Difference:
    """Make a difference between programs as wholes."""
    return Difference("changed", (what,), (what,), a, b, note=note)


def diff_outlines(a: Sequence[Record], b: Sequence[Record], *, symbol_order: bool = True) -> Diff:
    """Find all differences between two programs.

    Parameters
    ----------
    a, b
        The programs' outlines, made with one policy. Their records may be plain tuples.
    symbol_order
        Whether the policy lets the order of symbols count.

    Returns
    -------
    Diff
        Empty exactly if the outlines are the same apart from locations, texts and the numbers of
        identities. What was inserted, removed, renamed or moved is one difference, whatever comes
        after it; and ``diff_outlines(b, a)`` tells the same differences from the other side.
    """
    interner = Interner()
    left, right = Tree(a, interner), Tree(b, interner)
    if left.equals(right):
        return Diff()
    # Where several alignments are as good, the choice must not depend on which side is called a.
    if right.precedes(left):
        findings, pairing = _find(right, left, symbol_order=symbol_order)
        told = _Teller(left, right, pairing.a)
        return Diff(told.tell([finding.mirrored() for finding in findings]))
    findings, pairing = _find(left, right, symbol_order=symbol_order)
    return Diff(_Teller(left, right, pairing.b).tell(findings))


def _find(left: Tree, right: Tree, *, symbol_order: bool) -> tuple[list[Finding], Pairing]:
    """Return the fewest differences that an alignment gives, and the alignment."""
    best: tuple[list[Finding], Pairing] | None = None
    for pairing, votes in alignments(left, right):
        findings = compare(pairing, votes, symbol_order=symbol_order)
        if best is not None and len(findings) >= len(best[0]):
            break
        best = findings, pairing
        if len(findings) == 1:
            break
    assert best is not None  # noqa: S101 -- there is always a first alignment
    return best


class _Teller:
    """Puts findings into words and in order.

    Parameters
    ----------
    left, right
        The outlines.
    partners
        By right node, the left one.
    """

    def __init__(self, left: Tree, right: Tree, partners: Sequence[int]) -> None:
        self._left = left
        self._a = _Side(left)
        self._b = _Side(right)
        self._anchors = _anchors(left, right, partners)

    def tell(self, findings: Sequence[Finding]) -> list[Difference]:
        """Return the differences in the order of the left outline."""
        return [self._difference(finding) for finding in sorted(findings, key=self._order)]

    def _order(self, finding: Finding) -> tuple[int, int, int, int]:
        if finding.a == NONE:
            return self._anchors[finding.b], 1, finding.b, 0
        told = [name for name, *_ in self._left.records[finding.a].fields]
        place = told.index(finding.field_a.name) if finding.field_a else len(told)
        return finding.a, 0, int(finding.kind != "moved"), place

    def _difference(self, finding: Finding) -> Difference:
        path_a, text_a = self._a.tell(finding.a, finding.field_a, finding, "inserted")
        path_b, text_b = self._b.tell(finding.b, finding.field_b, finding, "removed")
        return Difference(
            finding.kind,
            *(path_a, path_b),
            *(text_a, text_b),
            *(self._a.location(finding.a), self._b.location(finding.b)),
            note=self._note(finding, text_a, text_b),
        )

    def _note(self, finding: Finding, text_a: str | None, text_b: str | None) -> str:
        if finding.refers_a and finding.refers_b:
            if finding.refers_a.node == FREE == finding.refers_b.node:
                return "another one, judged by where else each of them occurs"
            return (
                f"refers to {self._b.definition(finding.refers_b)}, "
                f"no longer to {self._a.definition(finding.refers_a)}"
            )
        if finding.kind == "moved":
            return f"from {self._a.position(finding.a)} to {self._b.position(finding.b)}"
        alike = finding.kind == "changed" and text_a == text_b
        return "not the same, though printed alike" if alike else ""


class _Side:
    """One of the two outlines."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._places = Places(tree)

    def tell(
        self, node: int, field: Field | None, finding: Finding, absent: str
    ) -> tuple[tuple[str, ...], str | None]:
        """Return the path and the text of what differs; nothing for a kind that is `absent`."""
        if finding.kind == absent:
            return (), None
        if field:
            return self._places.path(node, field.name), field.text
        record = self._tree.records[node]
        if finding.name == "symbol":
            return self._places.path(node, finding.name), record.symbol
        if finding.name:
            names = ", ".join(name for _, name in record.defines)
            return self._places.path(node, finding.name), f"{len(record.defines)}: {names}"
        return self._places.path(node), self._places.describe(node)

    def position(self, node: int) -> str:
        """Say where a node is among its siblings."""
        return self._places.position(node)

    def location(self, node: int) -> str:
        """Return where a node was written."""
        return "" if node == NONE else self._tree.records[node].location

    def definition(self, reference: Reference) -> str:
        """Name what is referred to."""
        return self._places.definition(*reference)


def _anchors(left: Tree, right: Tree, partners: Sequence[int]) -> list[int]:
    """Return, by right node, the left one after which it is to be told.

    That is the last one below the sibling before it, and what was removed there.
    """
    anchors = [NONE] * len(right.records)
    paired = set(partners)
    for parent, children in enumerate(right.children):
        above = NONE if parent == len(partners) else partners[parent]
        last = above
        for child in children:
            if partners[child] != NONE:
                last = left.end[partners[child]] - 1
                continue
            following = last + 1
            while following < len(left.records) and left.parent[following] == above:
                if following in paired:
                    break
                following = left.end[following]
            last = anchors[child] = following - 1
    return anchors
