"""From the address of a shared store to what it is made on."""

from __future__ import annotations

from twinjit.errors import ConfigError
from twinjit.store import objects, redis
from twinjit.store.addresses import split_address
from twinjit.store.base import Backend
from twinjit.store.deadline import DeadlineBackend

__all__ = ["open_backend"]


def open_backend(
    url: str, timeout: float = 0.5, ttl: float | None = None, *, max_bytes: int | None = None
) -> Backend:
    """Make the backend for an address, without connecting to it.

    Parameters
    ----------
    url
        See `RedisBackend` and `FilesystemBackend`.
    timeout
        For Redis, seconds without progress after which a call has failed; for all else, seconds
        that it may take as a whole.
    ttl
        Seconds after its last use at which Redis forgets an entry; None for never. Elsewhere it
        means nothing.
    max_bytes
        Size above which an entry is not fetched; None for no limit.

    Raises
    ------
    ConfigError
        If there is no backend for the address, it cannot be read, or a package is missing.
    """
    scheme = split_address(url).scheme
    if scheme in redis.SCHEMES:
        return redis.RedisBackend(url, timeout=timeout, ttl=ttl, max_bytes=max_bytes)
    if scheme in objects.SCHEMES:
        files = objects.FilesystemBackend(url, max_bytes=max_bytes)
        return DeadlineBackend(files, timeout, files.load_packages)
    known = ", ".join(f"{name}://" for name in (*redis.SCHEMES, *objects.SCHEMES))
    raise ConfigError(
        f"the shared cache's address begins with {scheme}://; Twinjit knows {known} and, in code, "
        "whatever backend is handed to it"
    )
