"""A compilation as it travels to another process: a program and its options, of plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from twinjit.artifact import encode
from twinjit.build import BuildOptions
from twinjit.errors import ExecutorError, KeyPartError, TwinjitError
from twinjit.key import Key
from twinjit.language import Language
from twinjit.options import open_libraries
from twinjit.plain import error_to_plain
from twinjit.program_options import ProgramOptions
from twinjit.report import Clock
from twinjit.source import SourceBytes
from twinjit.stop import stop_after
from twinjit.subject import key_of, open_local

__all__ = ["Job", "run"]


@dataclass(frozen=True)
class Job:
    """A compilation to do elsewhere.

    Attributes
    ----------
    program
        Text, bytecode or bitcode.
    name
        What diagnostics call it.
    options
        What decides, beside the program, which artifact it gets.
    key
        The parts of the key that the code will be kept under, framed as ``key.py`` says.
    seconds
        How long it may take once it has begun; None for no limit.
    language
        Of the program.
    libraries
        What it may import functions from, as `Linkable.to_plain` gives it.
    """

    program: bytes
    name: str
    options: BuildOptions
    key: bytes
    seconds: float | None
    language: Language = "mlir"
    libraries: list[dict[str, Any]] | None = None

    def to_bytes(self) -> bytes:
        """Write the job down: a JSON object of all but the program, a newline, and the program.

        The key is hexadecimal there. Engines see nothing in bytes that they would take for names
        of results, as Dask does in collections.
        """
        header = {
            "name": self.name,
            "options": self.options.to_plain(),
            "key": self.key.hex(),
            "seconds": self.seconds,
            "language": self.language,
            "libraries": self.libraries,
        }
        return json.dumps(header, separators=(",", ":")).encode() + b"\n" + self.program

    @classmethod
    def from_bytes(cls, data: bytes) -> Job:
        """Read what `to_bytes` writes.

        Raises
        ------
        ExecutorError
            If another release of Twinjit wrote it.
        """
        header, _, program = data.partition(b"\n")
        try:
            told = json.loads(header)
            options = BuildOptions.from_plain(told["options"])
            key = bytes.fromhex(told["key"])
            language, libraries = told["language"], told["libraries"]
            return cls(program, told["name"], options, key, told["seconds"], language, libraries)
        except (ValueError, TypeError, KeyError) as error:
            raise ExecutorError(
                f"the job is not of this release of Twinjit: {error!r}. Install the same release "
                "on all machines"
            ) from error


def run(data: bytes) -> dict[str, Any]:
    """Compile a job, in the process that an executor or a cluster chose.

    Errors of Twinjit are returned: what an engine makes of an exception (printing it, trying again
    elsewhere) is not meant for a program that does not compile.

    Returns
    -------
    dict
        ``{"entry": bytes}``, an entry with the artifact; or ``{"error": ...}``, as
        `error_to_plain` gives it.
    """
    try:
        return {"entry": _compile(Job.from_bytes(data))}
    except TwinjitError as error:
        return {"error": error_to_plain(error)}


def _compile(job: Job) -> bytes:
    options = ProgramOptions(libraries=open_libraries(job.libraries))
    source = SourceBytes(job.program, job.name, job.language, options=options)
    subject = open_local(source, Clock(), stop_after(job.seconds), job.options)
    key = key_of(subject, job.options)
    _check_key(key, job.key)
    return encode(subject.build(key))


def _check_key(key: Key, wanted: bytes) -> None:
    """See that this process would make the code that is asked for.

    Raises
    ------
    ExecutorError
        If it has another compiler, or reads another program.
    """
    try:
        differences = key.differences(Key.from_framing(wanted))
    except KeyPartError as error:
        raise ExecutorError(f"the job's key cannot be read: {error}") from error
    if differences:
        what = ", ".join(each.name for each in differences)
        raise ExecutorError(
            f"another compiler than the one that asks would compile here: {what} differ. Install "
            "the same release of Twinjit, and of LLVM and MLIR, on all machines"
        )
