"""What a process runs that compiles one program and ends; `isolated` starts it.

From its standard input it reads a job: the lengths of ``crash.json`` as a reproducer has it and of
its libraries, apart by a space, a line feed, ``crash.json``, the libraries as JSON (null for none,
or as `Linkable.to_plain` gives them), the program. To its standard output it writes the answer: a
byte 0 and the artifact as an entry, or a byte 1 and the message of what the program was refused
with.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import Any

from twinjit.artifact import encode
from twinjit.errors import TwinjitError
from twinjit.options import open_libraries
from twinjit.program_options import ProgramOptions
from twinjit.report import Clock
from twinjit.stop import stop_after
from twinjit.subject import key_of, open_local
from twinjit.workers.page import ending_on_memory_error, install
from twinjit.workers.protocol import LIVE
from twinjit.workers.reproducer import Reproducer
from twinjit.workers.written import WrittenSubject

__all__ = ["run"]


def run(fd: int) -> None:
    """Do the job; what crashes is noted on the page of a descriptor."""
    job, libraries = _read()
    install(fd)
    os.close(fd)
    job.limits.apply()  # of memory that is beyond what the libraries take
    with ending_on_memory_error():
        sys.stdout.buffer.write(_compile(job, libraries))
    sys.stdout.buffer.flush()


def _read() -> tuple[Reproducer, list[dict[str, Any]] | None]:
    stream = sys.stdin.buffer
    text, libraries = (stream.read(int(size)) for size in stream.readline().split())
    return Reproducer.from_json(text, stream.read(), "the job"), json.loads(libraries)


def _compile(job: Reproducer, libraries: list[dict[str, Any]] | None) -> bytes:
    open_ = WrittenSubject if job.source.name == LIVE else open_local
    try:
        options = ProgramOptions(libraries=open_libraries(libraries))
        source = replace(job.source, options=options)
        subject = open_(source, Clock(), stop_after(None), job.options)
        artifact = subject.build(key_of(subject, job.options))
    except TwinjitError as error:
        return b"\1" + str(error).encode(errors="backslashreplace")
    return b"\0" + encode(artifact)
