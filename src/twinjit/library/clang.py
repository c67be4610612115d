"""C to bitcode, through an installed clang."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from twinjit._native import _llvm
from twinjit.errors import Diagnostic, LibraryError

__all__ = ["compile_c", "find_clang"]

# Simplified, but left for the optimiser of the program to vectorise and unroll: it knows the CPU.
_FLAGS = ("-O2", "-fPIC", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops")

_OLDEST = 12
_MAJOR = int(_llvm.LLVM_VERSION.split(".")[0])


def find_clang(wanted: str | None = None) -> str:
    """Return the path of a clang: the one that is wanted, or one in PATH that is not too new.

    Raises
    ------
    LibraryError
        If there is none.
    """
    names = [f"clang-{version}" for version in range(_MAJOR, _OLDEST - 1, -1)]
    for name in [wanted] if wanted else ["clang", *names]:
        found = shutil.which(name)
        if found:
            return found
    raise LibraryError(
        f"there is no {wanted or 'clang'} in PATH to compile C with; install clang {_MAJOR} or "
        "older, name one with clang=, or hand over bitcode with Library.from_bitcode"
    )


def compile_c(source: str | os.PathLike[str], flags: Sequence[str], clang: str) -> bytes:
    """Compile a C file to bitcode.

    Raises
    ------
    LibraryError
        If clang refuses it; its diagnostics are the error's.
    OSError
        If clang cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="twinjit-") as folder:
        target = Path(folder, "library.bc")
        command = [clang, *_FLAGS, *flags, "-c", "-emit-llvm", "-o", str(target), os.fspath(source)]
        done = subprocess.run(  # noqa: S603 -- the user's compiler, on the user's file
            command, capture_output=True, text=True, errors="backslashreplace", check=False
        )
        if done.returncode or not target.is_file():
            raise LibraryError(
                f"{clang} cannot compile {os.fspath(source)} (status {done.returncode})",
                diagnostics=(Diagnostic("error", done.stderr.strip() or "it said nothing"),),
            )
        return target.read_bytes()
