"""A compiler's shared tier: machines stood for by directories of their own, and a real Redis."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import twinjit
from tests.redis_server import RedisServer, redis_server
from twinjit.errors import CacheWarning, ConfigError

TEXT = "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}\n"
OTHER = TEXT.replace("addi", "muli")
SECRET = b"correct horse battery staple"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


def machine(tmp_path: Path, name: str, server: RedisServer, **settings: object) -> twinjit.Compiler:
    return twinjit.Compiler(
        cache=tmp_path / name,
        settings=twinjit.Settings.load(shared_url=server.url, shared_timeout=10.0, **settings),
    )


def tier(compiler: twinjit.Compiler, text: str = TEXT) -> str:
    executable = compiler.compile(text)
    assert executable.f(21) == (441 if text == OTHER else 42)
    return executable.report.tier


def test_one_machine_compiles_for_all(tmp_path: Path, server: RedisServer) -> None:
    first, second = (machine(tmp_path, name, server) for name in ("a", "b"))
    assert not second.would_hit(TEXT)
    assert tier(first) == "compiled"
    assert second.would_hit(TEXT)
    assert second.explain(TEXT).tier == "shared"
    assert tier(second) == "shared"
    assert tier(second) == "memory"
    assert second.explain(TEXT).tier == "memory"
    assert tier(machine(tmp_path, "b", server)) == "disk"
    assert (second.stats()["shared"], second.stats()["compiled"]) == (1, 0)
    assert second.store.totals()["shared"] == 1
    assert first.store.totals()["shared-puts"] == 1
    assert first.store.totals()["shared-miss-absent"] == 1


def test_what_was_shared_needs_the_server_no_more(tmp_path: Path, server: RedisServer) -> None:
    machine(tmp_path, "a", server).compile(TEXT)
    assert machine(tmp_path, "b", server).explain(TEXT).tier == "shared"
    assert not (tmp_path / "b").exists()  # to look is not to fetch
    assert tier(machine(tmp_path, "b", server)) == "shared"
    server.kill()
    later = machine(tmp_path, "b", server)
    assert tier(later) == "disk"
    explanation = later.explain(TEXT)
    assert explanation.direct
    assert later.shared.condition().last_error is None  # it was not even asked


def test_a_record_of_code_that_is_here_already_is_fetched(
    tmp_path: Path, server: RedisServer
) -> None:
    respelled = TEXT.replace("%x", "%z")
    assert tier(machine(tmp_path, "a", server)) == "compiled"
    assert tier(machine(tmp_path, "a", server), respelled) == "disk"
    assert tier(machine(tmp_path, "b", server)) == "shared"
    assert tier(machine(tmp_path, "b", server), respelled) == "disk"
    server.kill()
    later = machine(tmp_path, "b", server)
    assert tier(later, respelled) == "disk"
    assert later.shared.condition().last_error is None


@pytest.mark.usefixtures("hits_unchecked")
def test_a_hit_in_the_shared_store_loads_no_mlir(tmp_path: Path, server: RedisServer) -> None:
    machine(tmp_path, "a", server).compile(TEXT)
    script = (
        "import sys, twinjit\n"
        "settings = twinjit.Settings.load(shared_url=sys.argv[2], shared_timeout=10.0)\n"
        "exe = twinjit.Compiler(cache=False, settings=settings).compile(sys.argv[1])\n"
        "assert exe.f(21) == 42 and exe.report.tier == 'shared', exe.report\n"
        "assert 'twinjit._native._mlir' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, TEXT, server.url], check=True)


def test_without_a_disk(tmp_path: Path, server: RedisServer) -> None:
    settings = twinjit.Settings.load(shared_url=server.url, shared_timeout=10.0)
    for expected in ("compiled", "shared"):
        compiler = twinjit.Compiler(cache=False, settings=settings)
        assert compiler.store is None
        assert tier(compiler) == expected
        assert compiler.compile(TEXT).report.cached


def test_degrades_and_comes_back(tmp_path: Path, server: RedisServer) -> None:
    compiler = machine(tmp_path, "a", server)
    assert tier(compiler) == "compiled"
    server.kill()
    with pytest.warns(CacheWarning, match="shared cache"):
        assert tier(compiler, OTHER) == "compiled"
    compiler.clear_memory()
    assert (tier(compiler), tier(compiler, OTHER)) == ("disk", "disk")
    assert compiler.shared.condition().is_down
    server.start()
    fresh = machine(tmp_path, "b", server)
    assert tier(fresh) == "compiled"  # the server had kept nothing
    assert tier(machine(tmp_path, "c", server)) == "shared"


def test_only_what_is_signed_is_taken(tmp_path: Path, server: RedisServer) -> None:
    signing = machine(tmp_path, "a", server, shared_secret=SECRET)
    assert tier(signing) == "compiled"
    assert tier(machine(tmp_path, "b", server, shared_secret=SECRET)) == "shared"
    assert tier(machine(tmp_path, "c", server, shared_secret=SECRET[::-1])) == "compiled"
    with server.admin as admin:
        names = [name.decode() for name in admin.keys("*")]
        signed = [name for name in names if signing.shared._seal.key_id in name]
        assert len(signed) == 2
        for name in signed:  # an attacker who can write, but not sign
            data = bytearray(admin.get(name))
            data[len(data) // 2] ^= 1
            admin.set(name, bytes(data))
    late = machine(tmp_path, "d", server, shared_secret=SECRET)
    with pytest.warns(CacheWarning, match="unsigned"):
        assert tier(late) == "compiled"
    assert late.store.totals()["shared-miss-unsigned"] == 1
    assert tier(machine(tmp_path, "e", server, shared_secret=SECRET)) == "shared"


def test_a_backend_of_ones_own(tmp_path: Path) -> None:
    class Kept:
        url = "kept:here"

        def __init__(self) -> None:
            self.kept: dict[str, bytes] = {}

        def get(self, name: str) -> bytes | None:
            return self.kept.get(name)

        def put(self, name: str, data: bytes) -> None:
            self.kept[name] = data

        def remove(self, name: str) -> None:
            self.kept.pop(name, None)

    backend: twinjit.Backend = Kept()
    assert tier(twinjit.Compiler(cache=tmp_path / "a", shared=backend)) == "compiled"
    assert tier(twinjit.Compiler(cache=tmp_path / "b", shared=backend)) == "shared"
    assert tier(twinjit.Compiler(cache=tmp_path / "c", shared=None)) == "compiled"


def test_code_that_cannot_be_linked_is_replaced_everywhere(
    tmp_path: Path, server: RedisServer
) -> None:
    first = machine(tmp_path, "a", server)
    executable = first.compile(TEXT)
    broken = twinjit.Artifact.build(
        key=executable.key,
        object_code=b"no object",
        signatures=[],
        report={"pipeline": "none"},
        target=executable._code.artifact.target,
    )
    assert first.shared.put(broken)
    with pytest.warns(CacheWarning, match="damaged"):
        assert tier(machine(tmp_path, "b", server)) == "compiled"
    assert tier(machine(tmp_path, "c", server)) == "shared"


@pytest.mark.parametrize("shared", [3, "", "nowhere", object(), {}])
def test_what_is_no_shared_store(shared: object) -> None:
    with pytest.raises(ConfigError, match="shared"):
        twinjit.Compiler(cache=False, shared=shared)
