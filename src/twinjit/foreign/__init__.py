"""Programs that objects of other packages hold: found out, and written down by those packages.

No such package is imported here: who hands over its object has imported it, and the object leads
to what is needed. The object is never modified.
"""

from __future__ import annotations

from twinjit.foreign import bindings, llvmlite, xdsl
from twinjit.foreign.bindings import package_of
from twinjit.foreign.bundle import Bundle, Unknown, Written

__all__ = ["Bundle", "Unknown", "Written", "package_of", "write_down"]


def write_down(program: object, *, locations: bool) -> Written | None:
    """Have a program's own package write it; None for what is no program of a known package.

    Parameters
    ----------
    program
        A Module, Operation or OpView of MLIR's Python bindings, in whichever package they are; an
        xDSL operation; a Module of ``llvmlite.ir`` or ModuleRef of ``llvmlite.binding``.
    locations
        Whether to write source locations, which take about as much room as all the rest.

    Raises
    ------
    UnsupportedProgramError
        If its package cannot write it.
    UnfingerprintableError
        If part of it is not at hand.
    """
    for write in (bindings.write, xdsl.write, llvmlite.write):
        written = write(program, locations=locations)
        if written is not None:
            return written
    return None
