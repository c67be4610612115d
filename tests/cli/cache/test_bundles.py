"""``twinjit cache export`` and ``import``."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from tests.cli.cache.stores import damage, digest
from tests.cli.programs import SAXPY, TWICE

SECRET = "an example of sixteen bytes or more"
GOLDEN = Path(__file__).parents[2] / "golden"


def test_a_bundle_warms_another_cache(compiled, ok, data, mlir, tmp_path):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    printed = ok("cache", "export", bundle)
    assert printed.startswith("wrote 1 entry and 1 direct record, ")
    assert ok("cache", "import", bundle, *other).startswith("took 2 files of ")
    report = data("run", mlir(TWICE), "--arg", 1, *other)["report"]
    assert report["tier"] == "disk"
    assert data("cache", "import", bundle, *other) == {
        "file": str(bundle),
        "path": str(tmp_path / "other"),
        "taken": 0,
        "present": 2,
        "refused": {},
    }


def test_some_keys_are_exported(store, data, cli, tmp_path):
    bundle = tmp_path / "bundle.tar"
    done = data("cache", "export", bundle, digest(1).hex()[:8], digest(3).hex())
    assert (done["entries"], done["records"], done["left_out"]) == (2, 1, {})
    assert done["bytes"] == bundle.stat().st_size
    assert data("cache", "import", bundle, "--cache", tmp_path / "other")["taken"] == 3
    assert cli("cache", "export", tmp_path / "no.tar", "0000").exit_code == 2
    assert not (tmp_path / "no.tar").exists()


def test_damaged_entries_are_not_exported(store, cli, root, tmp_path):
    damage(root, 1)
    result = cli("cache", "export", tmp_path / "bundle.tar")
    assert result.exit_code == 4
    assert f"left out  objects/{digest(1).hex()}.tj: damaged: " in result.stderr
    assert result.stdout.startswith("wrote 2 entries")


def test_signed_bundles(store, ok, fails, cli, tmp_path, monkeypatch):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    assert "TWINJIT_SHARED_SECRET_FILE" in fails(1, "cache", "export", bundle, "--sign")
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET)
    printed = ok("cache", "export", bundle, "--sign")
    assert SECRET not in printed
    assert SECRET.encode() not in bundle.read_bytes()
    assert ok("cache", "import", bundle, *other).startswith("took 4 files")
    result = cli("cache", "import", bundle, "--unsigned", "--cache", tmp_path / "third")
    assert result.exit_code == 4
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET[::-1])
    result = cli("cache", "import", bundle, "--cache", tmp_path / "third")
    assert result.exit_code == 4
    assert result.stdout.startswith("took 0 files")
    assert "signature does not match" in result.stderr


def test_unsigned_bundles_where_there_is_a_secret(store, ok, cli, tmp_path, monkeypatch):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    ok("cache", "export", bundle)
    monkeypatch.setenv("TWINJIT_SHARED_SECRET", SECRET)
    result = cli("cache", "import", bundle, *other)
    assert result.exit_code == 4
    assert "is not signed" in result.stderr
    assert ok("cache", "import", bundle, "--unsigned", *other).startswith("took 4 files")


def test_a_bundle_that_is_cut_short(store, ok, fails, data, tmp_path):
    bundle, other = tmp_path / "bundle.tar", ("--cache", tmp_path / "other")
    ok("cache", "export", bundle)
    bundle.write_bytes(bundle.read_bytes()[:-15000])
    message = fails(4, "cache", "import", bundle, *other)
    assert f"{bundle}: the bundle is cut short" in message
    assert data("cache", "stats", *other)["entries"] in (1, 2)


def test_files_that_are_no_bundle(fails, root, tmp_path):
    (tmp_path / "text").write_text("text" * 1000)
    assert "no bundle" in fails(4, "cache", "import", tmp_path / "text")
    missing = tmp_path / "missing.tar"
    assert str(missing) in fails(3, "cache", "import", missing)
    assert str(missing.parent) in fails(3, "cache", "export", tmp_path / "text" / "bundle.tar")


def test_a_name_in_a_bundle_commands_no_terminal(cli, root, tmp_path):
    with tarfile.open(tmp_path / "bundle.tar", "w", format=tarfile.USTAR_FORMAT) as bundle:
        bundle.addfile(tarfile.TarInfo("objects/\x1b[31mred"), io.BytesIO())
    result = cli("cache", "import", tmp_path / "bundle.tar")
    assert result.exit_code == 4
    assert "\\x1b[31mred" in result.stderr
    assert "\x1b" not in result.stderr


def test_entries_of_a_real_program_are_listed_after_an_import(ok, data, root, tmp_path):
    ok("compile", SAXPY, "-o", tmp_path / "f.o")
    ok("cache", "export", tmp_path / "bundle.tar")
    ok("cache", "clear")
    ok("cache", "import", tmp_path / "bundle.tar")
    (entry,) = data("cache", "list")["entries"]
    assert entry["functions"] == ["saxpy", "gcd"]
