"""Programs as they come in: sorted, taken down for later, and their requests."""

from __future__ import annotations

from dataclasses import replace

from twinjit.build import BuildOptions
from twinjit.options import pipeline_request
from twinjit.pipeline import AUTO, NAMED_PIPELINES
from twinjit.program_options import DEFAULT_OPTIONS, ProgramOptions
from twinjit.report import Clock
from twinjit.request import RequestHasher
from twinjit.settings import Confirm
from twinjit.source import CapturedModule, LiveModule, Source, SourceBytes, open_source
from twinjit.stop import Stop
from twinjit.subject import capture, live_fingerprint, load_mlir

__all__ = ["Intake"]


class Intake:
    """Takes programs in, and tells what is asked for with them.

    Parameters
    ----------
    options
        What decides, beside a program, which code it gets.
    confirm
        As for `Compiler`.
    """

    def __init__(self, options: BuildOptions, confirm: Confirm) -> None:
        self._pipeline = options.pipeline
        self._policy = options.policy
        self._confirm = confirm
        self._hasher = RequestHasher([*options.parts, *pipeline_request(options.pipeline)])

    def open(
        self, program: object, language: str, options: ProgramOptions = DEFAULT_OPTIONS
    ) -> Source:
        """Sort a program as `open_source` does, with its locations where these can reach code."""
        keeps_locations = self._policy.locations == "keep"
        source = open_source(program, language=language, locations=keeps_locations)
        return source if options == DEFAULT_OPTIONS else replace(source, options=options)

    def take(self, source: Source) -> tuple[SourceBytes, bytes | None]:
        """Make a program independent of what becomes of it, to be compiled later.

        Returns
        -------
        SourceBytes, bytes or None
            The program, and a digest that is the same for all programs to which one executable
            can be given if their options are the same; None where that is not known.

        Raises
        ------
        CompilationError
            If a live module is not valid, or refers to what is outside of it.
        """
        if isinstance(source, LiveModule):
            load_mlir(Clock())
            source = capture(source, self._policy)
            # The fingerprint does not tell the constants, and may be what is not to be relied on.
            if self._policy.constants == "lift" or self._confirm == "always":
                return source, None
        # What another pipeline reads may have changed since another compilation began.
        is_closed = source.language == "llvm" or self._pipeline in (AUTO, *NAMED_PIPELINES)
        return source, self.request(source, Clock()) if is_closed else None

    def request(self, source: Source, clock: Clock, stop: Stop | None = None) -> bytes | None:
        """Digest what was asked for; None for a live module without an identity."""
        if isinstance(source, CapturedModule):
            return self._of_live(source.fingerprint, source)
        if isinstance(source, SourceBytes):
            return self._hasher.of_source(source)
        load_mlir(clock)
        return self._of_live(live_fingerprint(source, self._policy, stop), source)

    def _of_live(self, fingerprint: bytes | None, source: Source) -> bytes | None:
        if fingerprint is None:
            return None
        return self._hasher.of_fingerprint(fingerprint, source.options.libraries)
