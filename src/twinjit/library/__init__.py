"""Libraries: bitcode whose functions can become part of programs."""

from twinjit.library.decisions import ImportDecision
from twinjit.library.libraries import Libraries, libraries_of
from twinjit.library.library import Library
from twinjit.library.policy import ImportPolicy

__all__ = ["ImportDecision", "ImportPolicy", "Libraries", "Library", "libraries_of"]
