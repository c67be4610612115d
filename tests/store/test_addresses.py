from __future__ import annotations

from typing import Any

import pytest

from twinjit.errors import ConfigError
from twinjit.store import redis
from twinjit.store.addresses import split_read_only
from twinjit.store.backends import open_backend
from twinjit.store.deadline import DeadlineBackend
from twinjit.store.objects import FilesystemBackend
from twinjit.store.redis import RedisBackend

PASSWORD = "hunter2"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://host", "redis://host"),
        (f"redis://:{PASSWORD}@host:1234/5", "redis://host:1234/5"),
        (f"rediss://me:{PASSWORD}@[::1]:1234?ssl_cert_reqs=none", "rediss://[::1]:1234"),
        (f"redis://host?password={PASSWORD}", "redis://host"),
        (f"unix://:{PASSWORD}@/run/redis.sock?db=3", "unix:///run/redis.sock"),
        (f"unix://:12/{PASSWORD}@/run/redis.sock", "…"),
        ("file:///srv/cache", "file:///srv/cache"),
        ("file:///srv/job@2/cache", "file:///srv/job@2/cache"),
        (f"memory://key:12/{PASSWORD}@place", "…"),
    ],
)
def test_no_password_is_shown(url: str, expected: str) -> None:
    assert open_backend(url).url == expected


def test_no_password_is_shown_where_a_package_is_missing() -> None:
    with pytest.raises(ConfigError, match="s3fs") as caught:
        FilesystemBackend(f"s3://key:12/{PASSWORD}@bucket/x")
    assert PASSWORD not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host:6379",
        "/a/path",
        PASSWORD,
        f"{PASSWORD}@://x",
        "ftp://host/x",
        "http://host/x",
        f"redis://:{PASSWORD}/x@host",
        f"redis://:12/{PASSWORD}@host",
        f"redis://:{PASSWORD}#x@host",
        f"redis://:#{PASSWORD}@host",
        f"redis://:?{PASSWORD}@host",
        f"redis://me:12?{PASSWORD}@host",
        f"redis://:x@{PASSWORD}@host",
        f"redis://:[{PASSWORD}@host",
        f"unix://:a/{PASSWORD}@/run/x",
        f"redis://me:{PASSWORD}@host:notaport",
        f"redis://me:{PASSWORD}@host:99999999",
        "redis://",
        "redis:///0",
        "redis://host/zero",
        "unix://",
        "unix:///",
        "unix://host/run/x",
        f"redis://:{PASSWORD}@host?decode_responses=true",
        "redis://host?socket_timeout=9",
        "redis://host?read-only",
        "file://",
        "file:///",
        "file://host/path",
        "file:///x?y=z",
        "memory://",
        "s3://",
    ],
)
def test_what_is_no_address_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(ConfigError, match="shared cache") as caught:
        open_backend(url)
    assert PASSWORD not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_unknown_scheme_lists_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"memcached://.*redis://, rediss://, unix://, file://"):
        open_backend("memcached://host")


@pytest.mark.parametrize("scheme", redis.SCHEMES)
def test_redis_has_time_limits_of_its_own(scheme: str) -> None:
    url = f"{scheme}://{'/a' if scheme == 'unix' else 'host'}"
    assert isinstance(open_backend(url), RedisBackend)


def test_files_get_a_time_limit() -> None:
    assert isinstance(open_backend("memory://x"), DeadlineBackend)


@pytest.mark.parametrize("url", ["redis://host", "memory://x"])
@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_timeout_that_is_none(url: str, timeout: float) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        open_backend(url, timeout)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), 1e10])
def test_a_ttl_that_is_none(ttl: float) -> None:
    with pytest.raises(ConfigError, match="ttl"):
        open_backend("redis://host", ttl=ttl)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://h/0", ("redis://h/0", False)),
        ("redis://h/0?read-only", ("redis://h/0", True)),
        ("redis://h/0?read-only=true", ("redis://h/0", True)),
        ("redis://h/0?read-only=False", ("redis://h/0", False)),
        ("redis://h?db=3&read-only=1&username=a%20b", ("redis://h?db=3&username=a%20b", True)),
        ("redis://h?db=3", ("redis://h?db=3", False)),
    ],
)
def test_read_only(url: str, expected: tuple[str, bool]) -> None:
    assert split_read_only(url) == expected


def test_read_only_that_is_neither() -> None:
    with pytest.raises(ConfigError, match="'maybe'; give true or false"):
        split_read_only("redis://h?read-only=maybe")


@pytest.mark.parametrize("value", [b"x", "", "nan", [], object()])
@pytest.mark.parametrize("url", ["redis://host", "file:///a/path"])
def test_what_is_no_number(url: str, value: Any) -> None:
    with pytest.raises(ConfigError, match="timeout is"):
        open_backend(url, value)
    with pytest.raises(ConfigError, match="ttl is"):
        open_backend("redis://host", 0.5, value)


@pytest.mark.parametrize("value", [None, 5, b"redis://host", []])
def test_what_is_no_text(value: Any) -> None:
    with pytest.raises(ConfigError, match="give text"):
        open_backend(value)
