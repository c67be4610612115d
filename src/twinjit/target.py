"""What machine code is made for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from twinjit._native import _llvm
from twinjit.errors import TargetError

__all__ = ["Target"]

# What LLVM's names of CPUs and features make of each level, by the architecture of the triple.
_LEVELS = {
    "x86_64": {
        # The levels of the x86-64 psABI; to LLVM they are CPUs.
        level: (level, "")
        for level in ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    },
    "aarch64": {
        "armv8-a": ("generic", ""),
        **{f"armv8.{minor}-a": ("generic", f"+v8.{minor}a") for minor in range(1, 10)},
        "armv9-a": ("generic", "+v9a"),
        **{f"armv9.{minor}-a": ("generic", f"+v9.{minor}a") for minor in range(1, 7)},
    },
}


@dataclass(frozen=True)
class Target:
    """A machine as LLVM names it.

    Attributes
    ----------
    triple
        Target triple, such as ``x86_64-unknown-linux-gnu``.
    cpu
        LLVM's name of the CPU.
    features
        ``+a,-b,…``: CPU features to use and to avoid, each after those before it.

    Raises
    ------
    TargetError
        If the word ``native`` is among them, which means another machine elsewhere, or a feature
        has neither ``+`` nor ``-`` before its name.
    """

    triple: str
    cpu: str
    features: str

    def __post_init__(self) -> None:
        features = self.features.split(",") if self.features else []
        if "native" in (self.triple, self.cpu, *(each.lstrip("+-") for each in features)):
            raise TargetError(
                f"{self!r}: what 'native' means differs by machine; use Target.host()"
            )
        for each in features:
            if each[:1] not in ("+", "-") or not each[1:]:
                raise TargetError(
                    f"the feature {each!r} of the target has no + or - before its name; "
                    "give features such as '+avx2,-fma4'"
                )

    @staticmethod
    def host() -> Target:
        """Return the machine this process runs on, with each feature it has and lacks."""
        return _HOST

    @staticmethod
    def baseline(level: str) -> Target:
        """Return what all machines of an architecture level have in common.

        Nothing of this machine but its architecture, system and C library enters: it is the same
        target, and gives the same keys and code, on all machines of the level and above.

        Parameters
        ----------
        level
            ``"x86-64"`` or ``"x86-64-v2"`` to ``"x86-64-v4"``, as the psABI defines them; on
            AArch64 ``"armv8-a"`` to ``"armv8.9-a"``, or ``"armv9-a"`` to ``"armv9.6-a"``.

        Raises
        ------
        TargetError
            If this architecture has no such level. Whether this machine is of the level is for
            `check_runs_here` to say.
        """
        triple = _llvm.plain_triple()
        levels = _LEVELS.get(triple.split("-", 1)[0], {})
        if not isinstance(level, str) or level not in levels:
            known = ", ".join(levels) or "none"
            raise TargetError(f"{level!r} is no level of this architecture; it has {known}")
        return Target(triple, *levels[level])

    @staticmethod
    def named(text: str) -> Target:
        """Return the target that a setting names: ``"host"``, or a level as for `baseline`.

        Raises
        ------
        TargetError
            If it names none.
        """
        if text == "host":
            return _HOST
        try:
            return Target.baseline(text)
        except TargetError as error:
            raise TargetError(f"{error.message}; or give 'host'") from None

    @property
    def instruction_sets(self) -> tuple[str, ...]:
        """Names of the instruction sets that its code may use, sorted; no tuning flags.

        Raises
        ------
        TargetError
            If LLVM does not know the target.
        """
        return _instruction_sets(self)

    def check_runs_here(self) -> None:
        """Make sure that code for this target can run in this process.

        Raises
        ------
        TargetError
            If LLVM does not know the target, it is another kind of machine's, or it has CPU
            features that this machine lacks; the message says which.
        """
        if self == _HOST:
            return
        why = _llvm.why_not_here(self.triple, [])
        if not why:
            try:
                why = _llvm.why_not_here(self.triple, self.instruction_sets)
            except TargetError as error:
                why = error.message
        if why:
            raise TargetError(f"code for this target cannot run here: {why}")


@lru_cache(maxsize=64)
def _instruction_sets(target: Target) -> tuple[str, ...]:
    return tuple(_llvm.instruction_sets(target.triple, target.cpu, target.features))


# Once, at import: CPUID is slow on virtual machines, and the answer does not change.
_HOST = Target(*_llvm.host_target())
