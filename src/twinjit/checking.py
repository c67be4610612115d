"""Check mode: what is compiled is compiled twice, and compared before anybody gets it.

Of hits, a share is compiled again and compared with what was found. `executors` puts this around
the builder of a compiler, wherever that compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from math import floor

from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.code_comparison import compare_artifacts
from twinjit.confirmation import Verdict
from twinjit.constants import Constants
from twinjit.errors import ReproducibilityError
from twinjit.key import Key
from twinjit.lowering import ResolvedPipeline
from twinjit.report import Clock
from twinjit.source import Source
from twinjit.stop import Stop
from twinjit.subject import Builder, Subject, key_of

__all__ = ["CheckingBuilder", "CheckingSubject", "Sample"]


class Sample:
    """Picks a share of events, evenly, and without chance: the same of the same events in order.

    Parameters
    ----------
    share
        From 0 for none to 1 for all.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._events = count()  # in one step, so that threads need no lock

    def picks(self, key_digest: bytes) -> bool:
        """Say whether the next event, of a key, is one of them."""
        # Keys begin at different points, so that one that comes once is not always passed over.
        phase = int.from_bytes(key_digest[:4], "little") / 2**32
        before = next(self._events)
        return floor((before + 1) * self._share + phase) > floor(before * self._share + phase)


class CheckingBuilder:
    """Has another builder compile each program twice; see `Builder`.

    Parameters
    ----------
    builder
        Who compiles.
    options
        Of that builder.
    share
        Of hits to compile again.
    """

    def __init__(self, builder: Builder, options: BuildOptions, share: float) -> None:
        self.builder = builder
        self.options = options
        self.sample = Sample(share)

    def open(self, source: Source, clock: Clock, stop: Stop) -> CheckingSubject:
        """Take a program for one call."""
        return CheckingSubject(self.builder.open(source, clock, stop), self, clock, stop)

    def open_again(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        """Take it a second time, without a check."""
        return self.builder.open_again(source, clock, stop)

    def close(self) -> None:
        """End what the builder has started."""
        self.builder.close()


class CheckingSubject:
    """A program that is compiled twice; see `Subject`."""

    def __init__(
        self, subject: Subject, builder: CheckingBuilder, clock: Clock, stop: Stop
    ) -> None:
        self.source = subject.source
        self._subject = subject
        self._builder = builder
        self._clock = clock
        self._stop = stop

    @property
    def fingerprint(self) -> bytes | None:
        """None for a program that has none."""
        return self._subject.fingerprint

    @property
    def why_unknown(self) -> str:
        """Why it has no fingerprint."""
        return self._subject.why_unknown

    @property
    def resolved(self) -> ResolvedPipeline:
        """The pipeline that it gets."""
        return self._subject.resolved

    @property
    def imports(self) -> bytes | None:
        """Digest of what can be imported into it."""
        return self._subject.imports

    def constants(self) -> Constants:
        """Return the large constants that the policy takes for parameters."""
        return self._subject.constants()

    def judge(self, artifact: Artifact) -> Verdict:
        """Say whether an artifact is of this very program."""
        return self._subject.judge(artifact)

    def build(self, key: Key) -> Artifact:
        """Compile it twice.

        Raises
        ------
        ReproducibilityError
            If that gave different code.
        """
        with self._again() as (again, second_key):  # while the first has its context or worker
            artifact = self._subject.build(key)
            second = again.build(second_key)
        self._compare(artifact, second, "compiling it twice gave different code")
        return artifact

    def check_hit(self, artifact: Artifact) -> None:
        """Compile it again, if this hit is one of the sample.

        Raises
        ------
        ReproducibilityError
            If that gave other code than was found.
        """
        if self._builder.sample.picks(artifact.key_digest):
            with self._again() as (again, key):
                second = again.build(key)
            self._compare(artifact, second, "compiling it again gave other code than was kept")

    def close(self) -> None:
        """Let go of the program."""
        self._subject.close()

    @contextmanager
    def _again(self) -> Iterator[tuple[Subject, Key]]:
        """Read the program a second time, in a time of its own."""
        again = self._builder.open_again(self.source, Clock(), self._stop)
        try:
            yield again, key_of(again, self._builder.options)
        finally:
            again.close()

    def _compare(self, first: Artifact, second: Artifact, what: str) -> None:
        difference = compare_artifacts(first, second)
        self._clock.lap("check")
        if difference:
            raise ReproducibilityError(
                f"{self.source.name}, key {first.key_digest.hex()}: {what}, by a fault of a pass, "
                f"MLIR, LLVM or Twinjit; nothing is kept of it: {difference}",
                difference=difference,
            )
