"""Entries in a Redis server."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

from twinjit.errors import ArtifactError, ConfigError, EntryTooLargeError
from twinjit.forks import held_off
from twinjit.lazily import lazily
from twinjit.settings_values import LONGEST_AGE, place_of_url
from twinjit.store.addresses import split_address
from twinjit.store.allowance import MeteredSocket, allowed
from twinjit.store.deadline import check_timeout

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["SCHEMES", "RedisBackend"]

SCHEMES = ("redis", "rediss", "unix")

# What the server knows a name by: others may keep things there, too.
_PREFIX = "twinjit:"

# What the first round trip fetches at most, with the entry's size. If that is larger, yet within
# the limit, another fetches all of it.
_FIRST_BYTES = 64 * 1024

# What answers take beside what was asked for, at most: greetings, numbers, texts of errors.
_SMALL_TALK = 64 * 1024

# A call has this many times its time limit as a whole, since it may have to connect first.
_WAITS = 4

_OPTIONS = frozenset(
    {"db", "username", "password", "ssl_ca_certs", "ssl_ca_path", "ssl_cert_reqs"}
    | {"ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
)


class RedisBackend:
    """Entries in a Redis server, or one that speaks its protocol. See `twinjit.store.base.Backend`.

    Nothing is connected, and the ``redis`` package not imported, before the first call. A
    connection that the server has closed meanwhile is made again; else nothing is tried twice.

    Parameters
    ----------
    url
        ``redis://[[user]:password@]host[:port][/db]``, the same with ``rediss`` for TLS, or
        ``unix://[[user]:password@]/path[?db=N]``. Options after a question mark: ``db``,
        ``username``, ``password``, and for TLS ``ssl_ca_certs``, ``ssl_ca_path``,
        ``ssl_cert_reqs``, ``ssl_certfile``, ``ssl_keyfile``, ``ssl_check_hostname``, as redis-py
        has them.
    timeout
        Seconds without progress after which connecting, sending or receiving has failed; a call has
        four times as long as a whole, and as long again for each MiB received. Looking up the
        host's name has the name service's limits.
    ttl
        Seconds after its last use at which the server forgets an entry; None for never. It is set
        by `put` and renewed by `get`, where the server allows that.
    max_bytes
        Size above which `get` does not fetch a value; None for no limit.

    Raises
    ------
    ConfigError
        If an argument cannot be used, or redis-py is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 0.5,
        ttl: float | None = None,
        max_bytes: int | None = None,
    ) -> None:
        _check_address(url)
        self._url = place_of_url(url)
        check_timeout(timeout)
        if ttl is not None and not (isinstance(ttl, (int, float)) and 0.001 <= ttl <= LONGEST_AGE):
            raise ConfigError(
                f"the shared cache's ttl is {ttl!r}; give 0.001 to {LONGEST_AGE:.0f} seconds, or "
                "none for no limit"
            )
        if find_spec("redis") is None:
            raise ConfigError(
                f"the shared cache at {self._url} needs the package redis; install twinjit[redis]"
            )
        self._address = url
        self._timeout = timeout
        self._ttl_ms = None if ttl is None else int(1000 * ttl)
        self._max_bytes = max_bytes

    @property
    def url(self) -> str:
        """The address without user, password and options."""
        return self._url

    def get(self, name: str) -> bytes | None:
        """Fetch a value, and renew its time to live.

        Raises
        ------
        EntryTooLargeError
            If it is too large.
        ArtifactError
            If the server has something else than bytes under that name.
        Exception
            If the server cannot be reached or does not do it.
        """
        key = _PREFIX + name
        most = inf if self._max_bytes is None else self._max_bytes + _FIRST_BYTES
        with self._call(most):
            pipe = self._client.pipeline(transaction=False)
            pipe.getrange(key, 0, _FIRST_BYTES - 1)
            pipe.strlen(key)
            if self._ttl_ms is not None:
                pipe.pexpire(key, self._ttl_ms)
            # The last answer may be that this user or server must not write; then others renew it.
            first, size = pipe.execute(raise_on_error=False)[:2]
            for answer in (first, size):
                if isinstance(answer, Exception):
                    raise answer
            if not isinstance(first, bytes) or not isinstance(size, int):
                raise self._no_redis()
            if self._max_bytes is not None and size > self._max_bytes:
                raise EntryTooLargeError(f"{name} at {self._url} has {size} bytes")
            if len(first) == size:
                return first or None  # a missing value and an empty one read the same
            rest = -1 if self._max_bytes is None else self._max_bytes
            return cast("bytes", self._client.getrange(key, 0, rest)) or None

    def put(self, name: str, data: bytes) -> None:
        """Set a value, whatever was there. Raises what `get` raises, but for its first two."""
        with self._call():
            if self._client.set(_PREFIX + name, data, px=self._ttl_ms) is not True:
                raise self._no_redis()

    def remove(self, name: str) -> None:
        """Delete what is there. Raises what `put` raises."""
        with self._call():
            self._client.delete(_PREFIX + name)

    @contextmanager
    def _call(self, size: float = 0) -> Iterator[None]:
        """Limit a call, whose answers have `size` bytes at most, and translate its errors."""
        with (
            _errors_translated(self._url),
            allowed(_WAITS * self._timeout, size + _SMALL_TALK),
        ):
            yield

    def _no_redis(self) -> ConnectionError:
        return ConnectionError(errno.EPROTO, f"{self._url} gives no answers of Redis")

    @lazily
    def _client(self) -> Redis:
        with held_off():
            from redis import Redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry

        return Redis.from_url(
            self._address,
            socket_timeout=self._timeout,
            socket_connect_timeout=self._timeout,
            retry=Retry(NoBackoff(), 0),
            connection_class=_metered(split_address(self._address).scheme),
            protocol=2,  # one round trip less to connect, and all servers speak it
        )


def _metered(scheme: str) -> type:
    """Make a class of connections that receive no more than is allowed."""
    from redis import connection

    base: Any = {
        "redis": connection.Connection,
        "rediss": connection.SSLConnection,
        "unix": connection.UnixDomainSocketConnection,
    }[scheme]
    return type(
        base.__name__, (base,), {"_connect": lambda self: MeteredSocket(base._connect(self))}
    )


def _check_address(url: str) -> None:
    parts = split_address(url)
    local = parts.scheme == "unix"
    host = parts.hostname
    database = parts.path.strip("/")
    if (local and (host or not database)) or not (local or host):
        raise ConfigError(
            f"the shared cache's address, {parts.scheme}://…, cannot be read; write "
            "redis://host:6379/0, or unix:///path/of/socket"
        )
    if not local and database and not (database.isascii() and database.isdigit()):
        raise ConfigError(
            f"the shared cache's address, {parts.scheme}://…, ends with something else than the "
            "number of a database; percent-encode / in a password"
        )
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:
            unknown = repr(name) if name.isidentifier() else "that is no name"  # of a password?
            raise ConfigError(
                f"the shared cache's address has an option {unknown}; Twinjit knows read-only, "
                + ", ".join(sorted(_OPTIONS))
            )


@contextmanager
def _errors_translated(url: str) -> Iterator[None]:
    """Raise redis-py's errors as those of Python, so that what handles them need not know it."""
    with held_off():
        import redis

    try:
        yield
    except redis.RedisError as error:
        raise _translated(error, url) from error


def _translated(error: Exception, url: str) -> Exception:
    from redis import exceptions

    text = f"{url}: {error}"
    if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)):
        return PermissionError(errno.EACCES, text)
    if isinstance(error, exceptions.TimeoutError):
        return TimeoutError(errno.ETIMEDOUT, text)
    if isinstance(error, exceptions.BusyLoadingError):
        return ConnectionError(errno.EAGAIN, text)
    if isinstance(error, exceptions.ConnectionError):
        return ConnectionError(_errno_behind(error), text)
    if isinstance(error, exceptions.OutOfMemoryError):
        return OSError(errno.ENOSPC, text)
    if isinstance(error, exceptions.ReadOnlyError):
        return OSError(errno.EROFS, text)
    if str(error).startswith("WRONGTYPE"):
        return ArtifactError(text)
    return error


def _errno_behind(error: Exception) -> int:
    """Find why a connection failed: redis-py keeps that as the exception's context."""
    cause = error.__context__
    if isinstance(cause, socket.gaierror):
        return errno.EHOSTUNREACH  # its numbers are others than those of errno
    number = cause.errno if isinstance(cause, OSError) else None
    return number or errno.ECONNRESET
