"""What a process runs that compiles one program and ends; `isolated` starts it.

From its standard input it reads a job as a reproducer has it: the length of ``crash.json``, a line
feed, ``crash.json``, the program. To its standard output it writes the answer: a byte 0, or a byte
1 and the message of what the program was refused with.
"""

from __future__ import annotations

import os
import sys

from twinjit.errors import TwinjitError
from twinjit.report import Clock
from twinjit.stop import stop_after
from twinjit.subject import open_local
from twinjit.workers.page import ending_on_memory_error, install
from twinjit.workers.protocol import LIVE
from twinjit.workers.reproducer import Reproducer
from twinjit.workers.written import WrittenSubject

__all__ = ["run"]


def run(fd: int) -> None:
    """Do the job; what crashes is noted on the page of a descriptor."""
    job = _read()
    install(fd)
    os.close(fd)
    job.limits.apply()  # of memory that is beyond what the libraries take
    with ending_on_memory_error():
        sys.stdout.buffer.write(_compile(job))
    sys.stdout.buffer.flush()


def _read() -> Reproducer:
    text = sys.stdin.buffer.read(int(sys.stdin.buffer.readline()))
    return Reproducer.from_json(text, sys.stdin.buffer.read(), "the job")


def _compile(job: Reproducer) -> bytes:
    open_ = WrittenSubject if job.source.name == LIVE else open_local
    subject = open_(job.source, Clock(), stop_after(None), job.options)
    try:
        language = job.source.language
        subject.build(
            job.options.key(subject.fingerprint, subject.resolved, language, subject.imports)
        )
    except TwinjitError as error:
        return b"\1" + str(error).encode(errors="backslashreplace")
    return b"\0"
