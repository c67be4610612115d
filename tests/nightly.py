"""How much property tests try: little in each run, much with ``TWINJIT_NIGHTLY=1``."""

from __future__ import annotations

import os

NIGHTLY = os.environ.get("TWINJIT_NIGHTLY") == "1"


def rounds(usual: int, nightly: int) -> int:
    return nightly if NIGHTLY else usual
