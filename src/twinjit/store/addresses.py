"""Addresses of shared stores. No message shows a password."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from twinjit.errors import ConfigError
from twinjit.settings_values import SWITCH

__all__ = ["split_address", "split_read_only"]


def split_address(url: str) -> SplitResult:
    """Take an address apart.

    Raises
    ------
    ConfigError
        If it is none. A password may have spilled into any part, so the message shows the scheme
        alone.
    """
    if not isinstance(url, str):
        raise ConfigError(
            f"the address of the shared cache is a {type(url).__name__}; give text, for instance "
            "redis://host:6379/0"
        )
    scheme = url.partition("://")[0]
    problem = ConfigError(
        f"the address of the shared cache, {scheme}://…, cannot be read; write it as "
        "scheme://[user:password@]host[:port]/path, with /, ?, #, [, ], @ and % in a password "
        "percent-encoded"
    )
    if "://" not in url or not scheme.isascii() or not scheme.replace("+", "").isalnum():
        raise ConfigError(
            "the address of the shared cache has no scheme; write for instance "
            "redis://host:6379/0, or file:///a/path for a directory"
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise problem from None
    if parts.fragment or "@" in parts.netloc.rpartition("@")[0]:
        raise problem
    return parts


def split_read_only(url: str) -> tuple[str, bool]:
    """Take the option ``read-only`` out of an address, as in ``redis://host/0?read-only=true``.

    Without a value, it is set.

    Returns
    -------
    tuple
        The address without it, and whether it was set.

    Raises
    ------
    ConfigError
        If it is neither true nor false.
    """
    address, _, query = url.partition("?")
    read_only = False
    others = []
    for option in query.split("&") if query else ():
        name, _, value = option.partition("=")
        if name != "read-only":
            others.append(option)
        elif (word := value.lower() or "on") in SWITCH:
            read_only = SWITCH[word]
        else:
            raise ConfigError(
                f"the shared cache's option read-only is {value!r}; give true or false"
            )
    return address + ("?" + "&".join(others) if others else ""), read_only
