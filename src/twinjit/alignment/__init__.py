"""The alignment of two outlines: which node of the one is which of the other."""

from __future__ import annotations

from twinjit.alignment.align import alignments
from twinjit.alignment.fewest import fewest_edits
from twinjit.alignment.lists import increasing
from twinjit.alignment.pairing import NONE, Pairing
from twinjit.alignment.tree import FREE, ROOT, Interner, Tree
from twinjit.alignment.votes import Vote, elect

__all__ = [
    "FREE",
    "NONE",
    "ROOT",
    "Interner",
    "Pairing",
    "Tree",
    "Vote",
    "alignments",
    "elect",
    "fewest_edits",
    "increasing",
]
