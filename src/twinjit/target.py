"""What machine code is made for."""

from __future__ import annotations

from dataclasses import dataclass

from twinjit._native import _llvm
from twinjit.errors import TargetError

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

    Raises
    ------
    TargetError
        If `cpu` is ``native``.
    """

    triple: str
    cpu: str
    features: str

    def __post_init__(self) -> None:
        if self.cpu == "native":
            raise TargetError("Target(cpu='native') differs by machine; use Target.host()")

    def check_runs_here(self) -> None:
        """Make sure that code for this target can run in this process.

        Raises
        ------
        TargetError
            If LLVM does not know the target, it is another kind of machine's, or it has CPU
            features that this machine lacks; the message says which.
        """
        if self != _HOST and (why := _llvm.why_not_here(self.triple, self.cpu, self.features)):
            raise TargetError(f"code for this target cannot run here: {why}")

    @staticmethod
    def host() -> Target:
        """Return the machine this process runs on, with each feature it has and lacks."""
        return _HOST


# Once, at import: CPUID is slow on virtual machines, and the answer does not change.
_HOST = Target(*_llvm.host_target())
