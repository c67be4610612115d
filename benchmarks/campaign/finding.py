"""What a campaign finds wrong."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Account", "Finding"]


class Finding(NamedTuple):
    """One thing that went wrong.

    Attributes
    ----------
    kind
        What it is counted as.
    place
        Where: file, worker or fault; with the seed and the step that lead there.
    text
        What happened.
    """

    kind: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}: {self.text}"


@dataclass
class Account:
    """What a campaign did, and what it found.

    Attributes
    ----------
    counts
        What it did and measured.
    findings
        What went wrong, as it came.
    """

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def found(self, kind: str, place: str, text: str) -> None:
        """Take down a finding."""
        self.findings.append(Finding(kind, place, text))

    def tell(self) -> None:
        """Tell the findings on standard error."""
        for finding in self.findings:
            print(finding, file=sys.stderr, flush=True)

    def count(self, kind: str) -> int:
        """How many findings there are of a kind."""
        return sum(finding.kind == kind for finding in self.findings)
