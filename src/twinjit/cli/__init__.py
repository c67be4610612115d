"""The ``twinjit`` command: a client of the public API, described in ``docs/cli.md``."""

from __future__ import annotations

from twinjit.cli.app import main

__all__ = ["main"]
