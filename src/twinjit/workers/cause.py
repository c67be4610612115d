"""What a process said before it ended, cut out of all that it wrote."""

from __future__ import annotations

import re

__all__ = ["find_cause"]

# As the C library, LLVM, the C++ library and Python write them; the first that occurs counts, as
# what follows it may be a consequence.
_FORMS = re.compile(
    r"""
      ^(?:[^\s:]+:\ )? (?P<place>[^\s:]+:\d+):\ .* Assertion\ [`'](?P<assertion>.+)'\ failed\.$
    | ^(?P<unreachable>(?:.*\n)?)UNREACHABLE\ executed\ at\ (?P<at>\S+:\d+)!$
    | ^(?P<error>LLVM\ ERROR:\ .*)$
    | ^terminate\ called\ after\ throwing\ an\ instance\ of\ '(?P<thrown>.+)'$
      (?:\n\s+what\(\):\s+(?P<what>.*)$)?
    | ^(?P<python>Fatal\ Python\ error:\ .*)$
    """,
    re.MULTILINE | re.VERBOSE,
)
_SOURCE = re.compile(r"^.*?/(?=(?:mlir|llvm)/(?:lib|include)/|bits/)")
_MOST = 500


def find_cause(output: str) -> str:
    """Find the assertion or the error that ended a process in what it wrote to standard error.

    Returns
    -------
    str
        On one line of at most 500 characters, all of them printable; where no known form of message
        is found, the last line that says anything.
    """
    found = _FORMS.search(output)
    cause = _tell(found) if found else _last_line(output)
    words = " ".join(cause.split())
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words)
    return shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…"


def _tell(found: re.Match[str]) -> str:
    if found["assertion"]:
        return f"Assertion `{found['assertion']}' failed at {_short(found['place'])}"
    if found["at"]:
        what = found["unreachable"].strip() or "unreachable code"
        return f"{what}: reached at {_short(found['at'])}"
    if found["thrown"]:
        return f"{found['thrown']} was thrown: {found['what'] or 'nothing caught it'}"
    return found["error"] or found["python"]


def _short(place: str) -> str:
    """Leave out of a source's path where upstream's builders keep it."""
    return _SOURCE.sub("", place)


def _last_line(output: str) -> str:
    return next((line for line in reversed(output.splitlines()) if line.strip()), "")
