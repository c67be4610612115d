"""A program as a tree of nodes to compare: what MLIR and LLVM IR have in common for a diff.

The native core writes a program down as a list of `Record`, parents before their children in the
canonical order of the policy. Names that mean nothing by themselves (values, blocks, renamed
symbols, distinct attributes) are *identities*: numbers given within one outline. A field refers to
them in order, and its digest leaves them out, so that one inserted operation changes no digest but
its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Field", "RawField", "RawRecord", "Record", "records"]


class Field(NamedTuple):
    """One compared property of a node.

    Attributes
    ----------
    name
        What it is, in the field's words: ``attribute value``, ``operand 1``, ``result 0 type``,
        ``successor 0``, ``name``, ``linkage`` … Unique within its node.
    digest
        32 bytes, equal exactly if the values are, apart from the identities in them.
    text
        The value for people, as the language prints it.
    references
        The identities in it, in order.
    """

    name: str
    digest: bytes
    text: str
    references: tuple[int, ...] = ()


class Record(NamedTuple):
    """One node of a program's tree.

    Attributes
    ----------
    depth
        Of the node in the tree; the root's is 0.
    kind
        ``operation``, ``region``, ``block``, and for LLVM IR also ``module``, ``function``,
        ``global``, ``instruction``, ``metadata`` …
    label
        What kind of thing it is, such as the operation's or the instruction's name; nodes of
        different labels are never the same node changed.
    symbol
        The name by which the program itself refers to it, which identifies it; empty for none.
    location
        Where it was written, as ``file:line:column``; empty where unknown.
    digest
        Of the whole subtree, equal exactly if the subtrees are the same program; empty where that
        depends on what is outside of it.
    fields
        What is compared, in the order in which it is told.
    defines
        The identities it defines, with what the language calls them (``%0``, ``^bb1``, ``@f``).
    """

    depth: int
    kind: str
    label: str
    symbol: str
    location: str
    digest: bytes
    fields: tuple[Field, ...]
    defines: tuple[tuple[int, str], ...]


# What the native core gives for a field, and for a record.
RawField = tuple[str, bytes, str, tuple[int, ...]]
RawRecord = tuple[int, str, str, str, str, bytes, tuple[RawField, ...], tuple[tuple[int, str], ...]]


def records(raw: Iterable[RawRecord]) -> list[Record]:
    """Name the parts of what the native core gives."""
    return [Record(*each[:6], tuple(Field(*field) for field in each[6]), each[7]) for each in raw]
