"""Warnings that name the user's line, however deep in Twinjit the trouble was."""

from __future__ import annotations

import os
import sys
import warnings

from twinjit.errors import CacheWarning

__all__ = ["warn_of", "warn_of_cache"]

_PACKAGE = os.path.dirname(__file__) + os.sep


def warn_of_cache(message: str) -> None:
    """Warn with `CacheWarning`; see `warn_of`."""
    warn_of(CacheWarning, message)


def warn_of(category: type[Warning], message: str) -> None:
    """Warn at the line outside of Twinjit that led here.

    The message may quote paths and servers: what a terminal would obey is escaped.

    Under a filter that turns it into an exception, that is raised: the user asked for it.
    """
    level = 1
    frame = sys._getframe(0)
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    plain = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)
    warnings.warn(plain, category, stacklevel=level)
