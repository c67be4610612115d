"""What is told of each call of a compiler: a trace, and lines of a log.

The log is Python's, ``twinjit.compile``: a line at INFO for each program that was compiled, at
DEBUG for hits and failures. Only those who have imported `logging` can read it, so that nothing is
told, nor is the module loaded, before. Each record has an attribute ``twinjit``: a dict of the
values that the trace has in its ``args``, and ``seconds`` and ``phases``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from twinjit.executable import Executable
from twinjit.report import Clock
from twinjit.source import Source

if TYPE_CHECKING:
    from twinjit.trace import Tracer

__all__ = ["Observer"]

_INFO, _DEBUG = 20, 10  # of logging


class Observer:
    """Tells of each call.

    Parameters
    ----------
    tracer
        To trace calls as well.
    """

    def __init__(self, tracer: Tracer | None) -> None:
        self._tracer = tracer

    def delivered(self, source: Source, clock: Clock, executable: Executable) -> None:
        """Tell of a call that gave an executable."""
        is_new = executable.report.tier == "compiled"
        level = _INFO if is_new else _DEBUG
        log = _logger(level)
        if not (log or self._tracer):
            return
        report = executable.report
        told = {
            "tier": report.tier,
            "key": executable.key.hex,
            "pipeline": report.pipeline,
            "object_bytes": report.object_bytes,
        }
        if log:
            what = "compiled" if is_new else f"{report.tier} hit:"
            log(
                level,
                "%s %s in %.3f ms (key %.16s, %d bytes of code)",
                what,
                source.name,
                1e3 * report.seconds,
                executable.key.hex,
                report.object_bytes,
                extra=_extra(told, clock),
            )
        if self._tracer:
            self._tracer.record(source.name, clock, told)

    def failed(self, source: Source, clock: Clock, error: BaseException) -> None:
        """Tell of a call that raised."""
        log = _logger(_DEBUG)
        told = {"error": type(error).__name__}
        if log:
            log(
                _DEBUG,
                "%s raised %s after %.3f ms",
                source.name,
                type(error).__name__,
                1e3 * clock.seconds,
                extra=_extra(told, clock),
            )
        if self._tracer:
            self._tracer.record(source.name, clock, told)


def _logger(level: int) -> Any:
    """Return the log's method, if anyone wants to be told at this level."""
    get_logger = getattr(sys.modules.get("logging"), "getLogger", None)  # while it is imported, too
    if get_logger is None:
        return None
    logger = get_logger("twinjit.compile")
    return logger.log if logger.isEnabledFor(level) else None


def _extra(told: dict[str, Any], clock: Clock) -> dict[str, Any]:
    return {"twinjit": {**told, "seconds": clock.seconds, "phases": dict(clock.phases)}}
