"""LLVM IR that llvmlite holds: ``llvmlite.ir`` builds text, ``llvmlite.binding`` has LLVM's own."""

from __future__ import annotations

from typing import Any

from twinjit.foreign.bundle import Bundle, Written, distribution_of

__all__ = ["write"]


def write(program: Any, *, locations: bool) -> Written | None:  # noqa: ARG001  # as debug info
    """Write a Module as text, a ModuleRef as bitcode."""
    kinds = {(each.__module__, each.__qualname__) for each in type(program).__mro__}
    is_text = ("llvmlite.ir.module", "Module") in kinds
    if not is_text and ("llvmlite.binding.module", "ModuleRef") not in kinds:
        return None
    bundle = _Bundle("llvmlite", distribution_of("llvmlite"))
    try:
        return Written(str(program).encode() if is_text else program.as_bitcode(), "llvm", bundle)
    except Exception as error:  # whatever it raises
        raise bundle.failure(error) from error


class _Bundle(Bundle):
    """LLVM IR has no dialects, and thus no domain."""

    def registers_operation(self, name: str) -> bool:  # noqa: ARG002 -- all names are answered alike
        return False

    def registers_dialect(self, namespace: str) -> bool:  # noqa: ARG002 -- all names are answered alike
        return False
