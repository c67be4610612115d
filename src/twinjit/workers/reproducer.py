"""A reproducer: all that it takes to have a compilation crash again, as a directory.

::

    NAME/                 mode 0700, files 0600
      program.mlir        the program exactly as it was handed in: .mlir text, .mlirbc bytecode,
                          .ll LLVM IR, .bc bitcode
      crash.json          UTF-8, a JSON object of at most 1 MiB:
        format            _FORMAT
        time              when it crashed, in seconds since 1970
        program           blake3 (of its bytes, in hexadecimal), name (as diagnostics call it),
                          language ("mlir" or "llvm"), bundle (null, or package and title of the
                          package that held it)
        options           pipeline, opt_level, triple, cpu, features, policy (canonical text),
                          keeps_program: as `BuildOptions.to_plain` gives them
        limits            memory_bytes (or null), stack_bytes: as in `Limits`
        toolchain         builds of what turns a program into code, by name
        versions          of twinjit, llvm, python and the system, by name; for people
        ending            as in `Ending`
        output            the end of what the process wrote to its standard error
      README.txt          for people

    NAME = YYYYMMDDThhmmssZ-DIGEST
    DIGEST = 16 hexadecimal digits of BLAKE3 over crash.json without time, output and versions, so
             that the same crash of the same program has the same
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from blake3 import blake3

from twinjit._native import _llvm
from twinjit.build import BuildOptions
from twinjit.errors import PolicyError, TargetError
from twinjit.forks import held_off
from twinjit.policy import Policy
from twinjit.source import SourceBytes
from twinjit.target import Target
from twinjit.toolchain import TOOLCHAIN
from twinjit.workers.ending import Ending
from twinjit.workers.fields import Fields
from twinjit.workers.limits import Limits
from twinjit.workers.protocol import RecordedBundle

__all__ = ["CRASH_FILE", "PROGRAM_FILES", "Reproducer"]

# 1: first.
_FORMAT = 1

CRASH_FILE = "crash.json"
"""Name of the file that tells of the crash."""

_BINARY = (b"ML\xefR", b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_BY_LANGUAGE = {
    "mlir": ("program.mlir", "program.mlirbc"),
    "llvm": ("program.ll", "program.bc"),
}

PROGRAM_FILES = tuple(name for names in _BY_LANGUAGE.values() for name in names)
"""What the program's file may be called."""


@dataclass(frozen=True)
class Reproducer:
    """What a reproducer holds.

    Attributes
    ----------
    source
        The program.
    options, limits
        How it was compiled.
    ending
        How that ended.
    output
        What it wrote to its standard error, or the end of it.
    toolchain, versions
        What it was compiled by, by name.
    when
        Seconds since 1970.
    """

    source: SourceBytes
    options: BuildOptions
    limits: Limits
    ending: Ending
    output: str
    toolchain: Mapping[str, str]
    versions: Mapping[str, str]
    when: int

    @classmethod
    def of_now(
        cls,
        source: SourceBytes,
        options: BuildOptions,
        limits: Limits,
        ending: Ending,
        output: str = "",
    ) -> Reproducer:
        """Make one of what has just been seen, with this process's toolchain."""
        builds = dict(TOOLCHAIN)
        when = int(time.time())
        return cls(source, options, limits, ending, output, builds, _versions(), when)

    @property
    def program_file(self) -> str:
        """Name of the program's file."""
        return _BY_LANGUAGE[self.source.language][self.source.data.startswith(_BINARY)]

    @property
    def digest(self) -> str:
        """The same for the same crash of the same program."""
        data = self._data()
        for name in ("time", "output", "versions"):
            del data[name]
        return blake3(json.dumps(data, sort_keys=True).encode()).hexdigest(8)

    @property
    def name(self) -> str:
        """Name of its directory."""
        return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(self.when))}-{self.digest}"

    def to_json(self) -> bytes:
        """Write ``crash.json``."""
        return json.dumps(self._data(), indent=2).encode() + b"\n"

    @classmethod
    def from_json(cls, text: bytes, program: bytes, place: str) -> Reproducer:
        """Read ``crash.json``, and take the program that lies beside it.

        Raises
        ------
        ReproducerError
            If either is not what it should be; the message begins with `place`.
        """
        data = Fields.parse(text, place)
        version = data.count("format")
        if version != _FORMAT:
            raise data.failure(
                f"format {version}, which another release of Twinjit writes; this one reads "
                f"{_FORMAT}"
            )
        return cls(
            _source(data.part("program"), program),
            _options(data.part("options")),
            _limits(data.part("limits")),
            _ending(data.part("ending")),
            data.take("output", str),
            _texts(data.part("toolchain")),
            _texts(data.part("versions")),
            data.count("time", _LATEST),
        )

    def _data(self) -> dict[str, Any]:
        bundle = self.source.bundle
        return {
            "format": _FORMAT,
            "time": self.when,
            "program": {
                "blake3": blake3(self.source.data).hexdigest(),
                "name": self.source.name,
                "language": self.source.language,
                "bundle": bundle and {"package": bundle.package, "title": str(bundle)},
            },
            "options": self.options.to_plain(),
            "limits": asdict(self.limits),
            "toolchain": dict(self.toolchain),
            "versions": dict(self.versions),
            "ending": asdict(self.ending),
            "output": self.output,
        }


_LATEST = 253_402_300_799  # the end of the year 9999


def _versions() -> dict[str, str]:
    versions = {"llvm": _llvm.LLVM_VERSION, "python": platform.python_version()}
    try:
        return {"twinjit": _release(), **versions, "system": platform.platform()}
    except (OSError, ImportError):  # this process can open no file: it cannot save them, either
        return versions


def _release() -> str:
    with held_off():
        from importlib import metadata  # 10 ms, which `import twinjit` must not take
    try:
        return metadata.version("twinjit")
    except metadata.PackageNotFoundError:
        return "not installed"


def _source(told: Fields, program: bytes) -> SourceBytes:
    if told.take("blake3", str) != blake3(program).hexdigest():
        raise told.failure("the program is not the one that crashed; it was changed since")
    language = told.take("language", str)
    if language not in _BY_LANGUAGE:
        raise told.failure(f"language is {language!r}; it should be 'mlir' or 'llvm'")
    bundle = None
    if told.has("bundle"):
        held = told.part("bundle")
        bundle = RecordedBundle(held.take("package", str), held.take("title", str))
    name = told.take("name", str)
    return SourceBytes(program, name, "llvm" if language == "llvm" else "mlir", bundle)


def _options(told: Fields) -> BuildOptions:
    texts = [told.take(name, str) for name in ("triple", "cpu", "features")]
    try:
        target, policy = Target(*texts), Policy.from_text(told.take("policy", str))
    except (TargetError, PolicyError) as error:
        raise told.failure(error.message) from None
    return BuildOptions(
        told.take("pipeline", str),
        told.count("opt_level", 3),
        target,
        policy,
        told.take("keeps_program", bool),
    )


def _limits(told: Fields) -> Limits:
    memory = told.count("memory_bytes") if told.has("memory_bytes") else None
    return Limits(memory, told.count("stack_bytes"))


def _ending(told: Fields) -> Ending:
    return Ending(
        signal=told.take("signal", str),
        exit_status=told.count("exit_status", 255),
        is_stack_overflow=told.take("is_stack_overflow", bool),
        is_out_of_memory=told.take("is_out_of_memory", bool),
        phase=told.take("phase", str),
        pass_name=told.take("pass_name", str),
        cause=told.take("cause", str),
    )


def _texts(told: Fields) -> dict[str, str]:
    return {name: told.take(name, str) for name in told.names()}
