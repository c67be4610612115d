"""LLVM IR compiled apart from the tests, since some of it ends the process that does it."""

from __future__ import annotations

from functools import cache

import twinjit
from twinjit.build import BuildOptions
from twinjit.errors import CompilerCrashed, TwinjitError
from twinjit.policy import Policy
from twinjit.report import Clock
from twinjit.source import SourceBytes
from twinjit.stop import Stop
from twinjit.workers.builder import WorkerBuilder

__all__ = ["outcome_of"]


@cache
def _builder(policy: Policy) -> tuple[BuildOptions, WorkerBuilder]:
    options = BuildOptions("auto", 2, twinjit.Target.host(), policy)
    return options, WorkerBuilder(options, twinjit.Settings.load(), 1)


def outcome_of(source: str | bytes, policy: Policy) -> bytes | str:
    """Compile, without linking: the object, or the class of the error."""
    data = source.encode() if isinstance(source, str) else source
    options, builder = _builder(policy)
    subject = builder.open(SourceBytes(data, "test.ll", "llvm"), Clock(), Stop())
    try:
        key = options.key(subject.fingerprint, subject.resolved, "llvm")
        return bytes(subject.build(key).object_code)
    except (TwinjitError, CompilerCrashed) as error:
        return type(error).__name__
    finally:
        subject.close()
