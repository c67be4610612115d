"""The digests in ``tests/golden``; ``python -m tests.golden_fingerprints`` writes them anew.

A change of any is a change of the format: raise kVersion in ``native/ir/identity.cpp``, say what
changed there, and only then pin the new digests.
"""

from __future__ import annotations

import json
from pathlib import Path

import twinjit
from tests.live_programs import PROGRAMS
from twinjit import Policy

FOLDER = Path(__file__).parent / "golden"
DEFAULT = FOLDER / "fingerprints.json"
BY_POLICY = FOLDER / "fingerprints-by-policy.json"

POLICIES = (
    Policy(locations="keep"),
    Policy(private_symbols="rename"),
    Policy(symbol_order="ignore"),
    Policy(private_symbols="rename", symbol_order="ignore"),
    Policy(discardable="ignore"),
    Policy(discardable=["t.tag", "x.range"]),
    Policy(commutative="ignore"),
    Policy(module_name="ignore"),
    Policy(constants="lift", lift_bytes=16),
    Policy(
        locations="keep", private_symbols="rename", symbol_order="ignore", discardable="ignore",
        commutative="ignore", module_name="ignore", constants="lift", lift_bytes=1,
    ),
)  # fmt: skip


def digests(policy: Policy) -> dict[str, str]:
    return {
        path.stem: twinjit.fingerprint(path.read_text(), policy, allow_unregistered=True)
        for path in PROGRAMS
    }


def main() -> None:
    DEFAULT.write_text(json.dumps(digests(Policy()), indent=2) + "\n")
    by_policy = {policy.text: digests(policy) for policy in POLICIES}
    BY_POLICY.write_text(json.dumps(by_policy, indent=2) + "\n")


if __name__ == "__main__":
    main()
