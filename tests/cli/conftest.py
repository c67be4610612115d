"""Ways of running commands."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from twinjit.cli.app import app


@pytest.fixture
def cli():
    """Run a command in this process; return Typer's result."""
    return lambda *arguments, **options: CliRunner().invoke(
        app, list(map(str, arguments)), **options
    )


@pytest.fixture
def ok(cli):
    """Run a command that must succeed; return what it printed."""

    def invoke(*arguments, **options):
        result = cli(*arguments, **options)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return invoke


@pytest.fixture
def data(ok):
    """Run a command with --json; return the object it printed."""
    return lambda *arguments, **options: json.loads(ok(*arguments, "--json", **options))


@pytest.fixture
def fails(cli):
    """Run a command that must fail; return its message."""

    def invoke(code, *arguments, **options):
        result = cli(*arguments, **options)
        assert (result.exit_code, result.stdout) == (code, "")
        assert "Traceback" not in result.stderr
        return result.stderr

    return invoke


@pytest.fixture
def mlir(tmp_path):
    """Write a program; return its path."""

    def write(text, name="program.mlir"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
