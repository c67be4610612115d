"""The process that workers are forked from: the compiler loaded, one thread, nothing of the user's.

It is told to fork, by messages of one byte on one socket; each has the descriptors of a `Request`.
On the socket ``reports`` of that, whoever asked is told in JSON: first ``{"pid": int, "builds":
{…}}``, with a pidfd, or ``{"failure": text}``; and ``{"status": int}`` once the worker has ended.
Nothing else comes from here, so that no two threads read from one socket.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

__all__ = ["Request", "run"]


class Request(NamedTuple):
    """The descriptors of a request.

    Attributes
    ----------
    channel
        The worker's end of the socket for jobs.
    page
        The crash page: page.py.
    output
        For the worker's standard error.
    reports
        For what is told of the worker.
    """

    channel: int
    page: int
    output: int
    reports: int


_PR_SET_PDEATHSIG = 1


def run(control: int, owner: int) -> None:
    """Serve until the owner closes the socket or ends; workers end then, too.

    Parameters
    ----------
    control
        The descriptor of the socket that requests come from.
    owner
        The descriptor of the pidfd of the process that all is done for.
    """
    _reset_signals()
    _load()
    tasks = os.listdir("/proc/self/task")
    if len(tasks) != 1:
        sys.exit(f"the process that workers are forked from has {len(tasks)} threads")
    gc.collect()
    gc.freeze()  # what is collected in workers would be copied
    _Zygote(control, owner).serve()
    os._exit(0)


def _reset_signals() -> None:
    """Undo what was inherited: a process may have blocked or ignored any signal."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if number not in (signal.SIGPIPE, signal.SIGXFSZ):  # Python's own
            signal.signal(number, signal.SIG_DFL)


def _load() -> None:
    """Load, and use once, what workers need, so that they share it."""
    from twinjit.build import BuildOptions
    from twinjit.lowering import resolve_pipeline
    from twinjit.pipeline import NAMED_PIPELINES
    from twinjit.policy import Policy
    from twinjit.report import Clock
    from twinjit.source import SourceBytes
    from twinjit.stop import Stop
    from twinjit.subject import LocalSubject
    from twinjit.target import Target
    from twinjit.workers import page, worker  # noqa: F401 -- loading them is the point

    text = (
        b"func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> "
        b"{ %y = arith.addf %x, %x : tensor<?xf32> return %y : tensor<?xf32> }"
    )
    options = BuildOptions("auto", 3, Target.host(), Policy())
    subject = LocalSubject(SourceBytes(text, "<warm-up>"), Clock(), Stop(), options)
    for name in NAMED_PIPELINES:  # each takes milliseconds, once
        resolve_pipeline(name, subject.program)
    subject.build(options.key(subject.fingerprint, subject.resolved))
    subject.close()


class _Zygote:
    def __init__(self, control: int, owner: int) -> None:
        self._control, self._owner = socket.socket(fileno=control), owner
        self._workers: dict[int, tuple[int, socket.socket]] = {}  # by pidfd
        self._poll = select.poll()
        for descriptor in (control, owner):
            self._poll.register(descriptor, select.POLLIN)

    def serve(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._workers:
                    self._report_end(descriptor)
                elif descriptor == self._owner or not self._take_request():
                    self._end_workers()
                    return

    def _take_request(self) -> bool:
        size = len(Request._fields)
        data, descriptors, _, _ = socket.recv_fds(self._control, 1, size)
        if not data:
            return False
        if len(descriptors) != size:  # this process may have no more
            _close(descriptors)
            return True
        request = Request(*descriptors)
        reports = socket.socket(fileno=os.dup(request.reports))
        try:
            self._fork(request, reports)
        except OSError as error:
            _tell(reports, {"failure": f"cannot fork a worker: {error}"})
            reports.close()
        _close(descriptors)
        return True

    def _fork(self, request: Request, reports: socket.socket) -> None:
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _become_worker(request, parent)
        try:
            pidfd = os.pidfd_open(child)
        except OSError:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        from twinjit.toolchain import TOOLCHAIN

        self._workers[pidfd] = child, reports
        self._poll.register(pidfd, select.POLLIN)
        _tell(reports, {"pid": child, "builds": dict(TOOLCHAIN)}, [pidfd])

    def _report_end(self, pidfd: int) -> None:
        child, reports = self._workers.pop(pidfd)
        self._poll.unregister(pidfd)
        _, status = os.waitpid(child, 0)
        os.close(pidfd)
        _tell(reports, {"status": status})
        reports.close()

    def _end_workers(self) -> None:
        for child, _ in self._workers.values():
            os.kill(child, signal.SIGKILL)
        for child, _ in self._workers.values():
            os.waitpid(child, 0)


def _become_worker(request: Request, parent: int) -> None:
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:  # else it ended before that
            _keep(request)
            from twinjit.workers import page, worker

            page.install(request.page)
            worker.serve(socket.socket(fileno=request.channel))
            status = 0
    except BaseException:
        traceback.print_exc()  # to where its owner looks
    finally:
        os._exit(status)


def _keep(request: Request) -> None:
    """Close all descriptors but the worker's own."""
    os.dup2(request.output, 2)
    kept = {0, 1, 2, request.channel, request.page}
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):  # that of the listing itself
                os.close(int(name))


def _tell(reports: socket.socket, report: object, descriptors: Iterable[int] = ()) -> None:
    with suppress(OSError):  # who asked is no more
        socket.send_fds(
            reports, [json.dumps(report).encode()], list(descriptors), socket.MSG_NOSIGNAL
        )


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
