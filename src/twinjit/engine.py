"""Hit, or miss: look a program up, and compile what is new.

A program is looked up in two steps, as ccache does it. Its *request* digest needs no parsing: it
covers the raw text (or, for a live module, the fingerprint) and the options. An index leads from
there to the *key*, which covers the program's fingerprint and every other input that can change the
code; the key leads to the artifact. Text that differs from known text only in spelling misses the
index, but meets the same key.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace

from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.confirmation import FalseHits
from twinjit.constants import NO_CONSTANTS, Constants
from twinjit.counts import Counts
from twinjit.errors import ReproducibilityError
from twinjit.executable import Executable, LoadedCode
from twinjit.explanation import Explanation
from twinjit.index import RequestIndex
from twinjit.intake import Intake
from twinjit.key import DIGEST_SIZE, Key
from twinjit.observer import Observer
from twinjit.program_options import ProgramOptions
from twinjit.report import Clock, Report, Tier
from twinjit.settings import Confirm, Settings
from twinjit.source import CapturedModule, LiveModule, Source
from twinjit.stop import Stop
from twinjit.store.base import Store
from twinjit.store.disk import DiskStore
from twinjit.subject import Builder, Subject, key_of
from twinjit.symbols import Symbols
from twinjit.tiers import Tiers, artifact_of
from twinjit.turns import Turns

__all__ = ["Engine"]


class Engine:
    """Looks programs up, and has what is new compiled. Any number of threads may share one.

    Parameters
    ----------
    options
        What decides, beside a program, which code it gets.
    confirm
        As for `Compiler`.
    open_builder
        Says where programs are read and compiled under options.
    store
        The disk store, if there is one.
    shared
        The store that machines share, if there is one.
    settings
        For the bounds of memory and of waits.
    observer
        Is told of each call.

    Attributes
    ----------
    intake
        Where programs come in.
    tiers, index
        Code, and what leads to it.
    turns
        Who works on which program.
    counts
        What happened.
    """

    def __init__(
        self,
        options: BuildOptions,
        confirm: Confirm,
        open_builder: Callable[[BuildOptions], Builder],
        store: DiskStore | None,
        shared: Store | None,
        settings: Settings,
        observer: Observer,
    ) -> None:
        self.confirm = confirm
        self._open_builder = open_builder
        self._observer = observer
        stores: list[tuple[Tier, Store]] = [("disk", store)] if store else []
        stores += [("shared", shared)] if shared else []
        self.tiers = Tiers(stores, settings.memory_max_bytes)
        self.index = RequestIndex([store for _, store in stores])
        self._false_hits = FalseHits()
        self.turns = Turns(store, settings.wait_seconds)
        self.counts = Counts(store)
        self._levels: dict[int, Engine] = {}  # other engines of this compiler
        self._set(options)

    def _set(self, options: BuildOptions) -> None:
        self.options = options
        self._builder = self._open_builder(options)
        self.intake = Intake(options, self.confirm)

    def at_level(self, opt_level: int) -> Engine:
        """Return an engine that optimises otherwise, and shares all else with this one.

        Raises
        ------
        ConfigError
            As `make_builder` does.
        """
        if opt_level == self.options.opt_level:
            return self
        known = self._levels.get(opt_level)
        if known is None:
            other = copy(self)
            other._set(replace(self.options, opt_level=opt_level))
            known = self._levels.setdefault(opt_level, other)  # of threads that race, the first
        return known

    def compile(
        self, source: Source, clock: Clock, stop: Stop, request: bytes | None = None
    ) -> Executable:
        """Return a program's code, compiling it if it is new; see `Compiler.compile`.

        Parameters
        ----------
        request
            The digest that `take` gave with the program, if it did.
        """
        subject = self._builder.open(source, clock, stop)
        try:
            executable = self._compile(subject, request, clock, stop)
        except BaseException as error:
            self._observer.failed(source, clock, error)
            raise
        finally:
            subject.close()
        self._observer.delivered(source, clock, executable)
        return executable

    def find(self, source: Source, request: bytes | None, clock: Clock) -> Executable | None:
        """Return a program's code where its request leads to it, and compile nothing.

        Parameters
        ----------
        request
            The digest that `take` gave with the program.
        """
        subject = self._builder.open(source, clock, Stop())
        try:
            found = self._find_by_request(request, subject)
        finally:
            subject.close()
        if not found:
            return None
        executable = self._deliver(*found, clock, source.options)
        self._observer.delivered(source, clock, executable)
        return executable

    def close(self) -> None:
        """End what the builder has started; nothing can be compiled afterwards."""
        for engine in (*self._levels.values(), self):
            engine._builder.close()

    def explain(self, source: Source) -> Explanation:
        """Say how a program would be looked up; see `Compiler.explain`."""
        clock = Clock()
        subject = self._builder.open(source, clock, Stop())
        try:
            return self._explain(subject, self.intake.request(source, clock))
        finally:
            subject.close()

    def would_hit(self, source: Source) -> bool:
        """Say whether a program's code would be found; see `Compiler.would_hit`."""
        clock = Clock()
        if self.confirm == "never":
            identity = self.index.find(self.intake.request(source, clock))
            if identity and self.tiers.where(identity[:DIGEST_SIZE]) != "compiled":
                return True
        return self.explain(source).tier != "compiled"

    def clear_memory(self) -> None:
        """Forget all code; what someone still holds stays valid."""
        self.tiers.clear_memory()
        self.index.clear()

    def open_subject(self, source: Source, clock: Clock, stop: Stop) -> Subject:
        """Take a program to be compiled; whoever asked closes it."""
        return self._builder.open(source, clock, stop)

    # What is asked of hits, also of those that their finder links

    def check_direct(self, key: Key, request: bytes) -> None:
        """Tell of an index that leads elsewhere than to a program's own key, if `confirm` asks."""
        known = self.index.find(request) if self.confirm == "always" else None
        if known and known[:DIGEST_SIZE] != key.digest:
            self.counts.add("refuted")
            self._false_hits.warn(
                f"the index led a program of key {key.hex} to the code of key "
                f"{known[:DIGEST_SIZE].hex()}"
            )

    def is_confirmed(self, code: LoadedCode | Artifact, subject: Subject) -> bool:
        """Compare a hit with the program, if `confirm` asks; forget code of another."""
        if self.confirm == "never":
            return True
        artifact = artifact_of(code)
        verdict = subject.judge(artifact)
        if verdict != "unknown":
            self.counts.add(verdict)
        if verdict == "refuted":
            self._false_hits.warn(f"key {artifact.key_digest.hex()} led to another program")
        if verdict != "confirmed":
            self.tiers.forget(code)
        return verdict == "confirmed"

    def check_hit(self, code: LoadedCode | Artifact, subject: Subject) -> None:
        """Compile a hit again where check mode asks.

        Raises
        ------
        ReproducibilityError
            If that gave other code. Neither is kept.
        """
        try:
            subject.check_hit(artifact_of(code))
        except ReproducibilityError:
            self.tiers.forget(code)  # which of the two is right cannot be told
            raise

    def count(self, tier: Tier, clock: Clock) -> None:
        """Count code that a call got."""
        self.counts.add_code(tier)
        if "check" in clock.phases:
            self.counts.add("checked")

    # Lookup

    def _compile(
        self, subject: Subject, request: bytes | None, clock: Clock, stop: Stop
    ) -> Executable:
        if request is None:
            request = self.intake.request(subject.source, clock, stop)
        found = self._find_by_request(request, subject)
        if found:
            return self._deliver_hit(*found, subject, clock)
        if request is None or self.confirm == "always":
            return self._compile_missed(subject, request, clock, stop)

        def look_again() -> Executable | None:
            clock.lap("wait")
            found = self._find_by_request(request, subject)
            return self._deliver_hit(*found, subject, clock) if found else None

        def compile_(waits: bool) -> Executable:
            return self._compile_missed(subject, request, clock, stop, waits=waits)

        # Whoever waits need not even read the program then.
        return self.turns.of_missed(request, stop, look_again, compile_)

    def _explain(self, subject: Subject, request: bytes | None) -> Explanation:
        resolved = subject.resolved
        key = key_of(subject, self.options)
        why = subject.why_unknown
        if resolved.file_reader and not why:
            why = f"the pipeline's pass {resolved.file_reader} reads files"
        if why:
            return Explanation(key, "compiled", direct=False, uncacheable=why)
        identity = self.index.find(request) or b""
        direct = identity[:DIGEST_SIZE] == key.digest and self.confirm == "never"
        return Explanation(key, self.tiers.where(key.digest), direct)

    def _find_by_request(
        self, request: bytes | None, subject: Subject
    ) -> tuple[LoadedCode, Tier] | None:
        if request is None or self.confirm == "always":
            return None
        identity = self.index.fetch(request)
        symbols = subject.source.options.symbols
        found = identity and self.tiers.find(identity, subject.constants, symbols)
        if found:
            self._remember(request, subject, found[0])
        return found or None

    def _remember(self, request: bytes, subject: Subject, code: LoadedCode) -> None:
        # Of a live module, the fingerprint does not tell which constants it has.
        is_text = not isinstance(subject.source, CapturedModule | LiveModule)
        self.index.remember(request, code.content if is_text else code.artifact.key_digest)

    def _find_by_key(
        self, key: Key, request: bytes, subject: Subject
    ) -> tuple[LoadedCode, Tier] | None:
        """Look for the program's own key, and confirm what is found if that was asked for."""
        self.check_direct(key, request)
        symbols = subject.source.options.symbols
        found = self.tiers.find(key.digest, subject.constants, symbols)
        return found if found and self.is_confirmed(found[0], subject) else None

    # Compilation

    def _compile_missed(
        self,
        subject: Subject,
        request: bytes | None,
        clock: Clock,
        stop: Stop,
        *,
        waits: bool = True,
    ) -> Executable:
        fingerprint = subject.fingerprint
        resolved = subject.resolved
        options = subject.source.options
        key = key_of(subject, self.options)
        constants = NO_CONSTANTS if fingerprint is None else subject.constants()
        if request is None or fingerprint is None or resolved.file_reader:
            self.counts.add("uncacheable")
            artifact = subject.build(key)
            code = LoadedCode(artifact, constants, options.symbols, is_stored=False)
            clock.lap("load")
            return self._deliver(code, "compiled", clock, options)
        with self.turns.of_key(key.digest, stop, waits=waits):
            found = self._find_by_key(key, request, subject)
            if found:
                code, tier = found
            else:
                artifact = subject.build(key)
                code = self._publish(artifact, constants, options.symbols, clock)
                tier = "compiled"
            self._remember(request, subject, code)
            if resolved.is_self_contained:
                self.index.publish(request, key.digest)
        if tier != "compiled":
            return self._deliver_hit(code, tier, subject, clock)
        return self._deliver(code, tier, clock, options)

    def _publish(
        self, artifact: Artifact, constants: Constants, symbols: Symbols, clock: Clock
    ) -> LoadedCode:
        """Link a new artifact, and only then, since it may lack symbols, keep it."""
        code = self.tiers.publish(artifact, constants, symbols)
        clock.lap("load")
        self.tiers.store_published(code)
        clock.lap("publish")
        return code

    # Accounts

    def _deliver(
        self, code: LoadedCode, tier: Tier, clock: Clock, options: ProgramOptions
    ) -> Executable:
        self.count(tier, clock)
        return Executable(
            code,
            Report(
                tier,
                clock.seconds,
                clock.phases,
                code.pipeline,
                code.object_bytes,
                code.is_stored,
                code.opt_level,
                len(code.signatures),
                code.imported,
            ),
            options.signatures,
        )

    def _deliver_hit(
        self, code: LoadedCode, tier: Tier, subject: Subject, clock: Clock
    ) -> Executable:
        self.check_hit(code, subject)
        return self._deliver(code, tier, clock, subject.source.options)
