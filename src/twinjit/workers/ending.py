"""How a worker ended that should not have."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass

from twinjit.workers.cause import find_cause
from twinjit.workers.page import Crash

__all__ = ["Ending"]


@dataclass(frozen=True)
class Ending:
    """How a process ended, as far as two ends can be compared.

    Attributes
    ----------
    signal
        Name of the signal that ended it; empty where it ended by itself.
    exit_status
        With which it ended by itself; 0 where a signal ended it.
    is_stack_overflow, is_out_of_memory, phase, pass_name
        As `Crash` has them.
    cause
        What it said last; see `find_cause`. Empty of a stack overflow, of which nothing is said.
    """

    signal: str = ""
    exit_status: int = 0
    is_stack_overflow: bool = False
    is_out_of_memory: bool = False
    phase: str = ""
    pass_name: str = ""
    cause: str = ""

    @classmethod
    def of(cls, exit_code: int, crash: Crash, output: str) -> Ending:
        """Put it together.

        Parameters
        ----------
        exit_code
            As of `os.waitstatus_to_exitcode`: negative for a signal.
        crash
            What the page says.
        output
            What it wrote to standard error.
        """
        return cls(
            signal=_name(-exit_code) if exit_code < 0 else "",
            exit_status=max(exit_code, 0),
            is_stack_overflow=crash.is_stack_overflow,
            is_out_of_memory=crash.is_out_of_memory,
            phase=crash.phase,
            pass_name=crash.pass_name,
            cause="" if crash.is_stack_overflow else find_cause(output),
        )

    def is_like(self, other: Ending) -> bool:
        """Whether two ends are of one kind and cause.

        Where memory runs out depends on what the process had of it before: it may be anywhere.
        """
        return self == other or (self.is_out_of_memory and other.is_out_of_memory)

    def __str__(self) -> str:
        pass_ = f", pass {self.pass_name}" if self.pass_name else ""
        phase = f" in phase {self.phase}{pass_}" if self.phase else ""
        cause = f": {self.cause}" if self.cause else ""
        return f"{self._way}{phase}{cause}"

    @property
    def place(self) -> str:
        """Phase and pass, as `CompilerCrashed.phase` has them."""
        return f"{self.phase} ({self.pass_name})" if self.pass_name else self.phase

    @property
    def _way(self) -> str:
        if self.is_out_of_memory:
            return "out of memory"
        if self.is_stack_overflow:
            return f"stack overflow ({self.signal})"
        if self.signal == "SIGKILL":
            return "killed from outside (SIGKILL), as by the system when it is short of memory"
        return self.signal or f"exit status {self.exit_status}"


def _name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
