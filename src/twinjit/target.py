"""What machine code is made for."""

from __future__ import annotations

from dataclasses import dataclass

from twinjit._native import _llvm

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """A machine as LLVM names it.

    Attributes
    ----------
    triple
        Target triple, such as ``x86_64-unknown-linux-gnu``.
    cpu
        LLVM's name of the CPU. The word ``native`` is refused: it means another machine elsewhere.
    features
        ``+a,-b,…``: CPU features to use and to avoid, sorted by name.
    """

    triple: str
    cpu: str
    features: str

    def __post_init__(self) -> None:
        if self.cpu == "native":
            raise ValueError("Target(cpu='native') differs by machine; use Target.host()")

    @staticmethod
    def host() -> Target:
        """Return the machine this process runs on, with each feature it has and lacks."""
        return _HOST


# Once, at import: CPUID is slow on virtual machines, and the answer does not change.
_HOST = Target(*_llvm.host_target())
