"""``twinjit config``: the settings of this process, and where each comes from."""

from __future__ import annotations

import os
from typing import Any

import twinjit
from twinjit.cli.options import Json
from twinjit.cli.show import print_json, size, span, stdout

__all__ = ["config"]

_NUMBERS = ("workers", "check_hits")  # that are no times


def config(*, json: Json = False) -> None:
    """Print the settings, and where each comes from."""
    settings = twinjit.Settings.load()
    file = twinjit.Settings.file_path()
    found = file is not None and os.path.lexists(file)
    unknown = twinjit.Settings.unknown_variables()
    if json:
        data = {
            name: {"value": _value(settings, name), "source": source}
            for name, source in settings.sources.items()
        }
        print_json(
            {"settings": data, "file": file, "file_found": found, "unknown_variables": unknown}
        )
        return
    _print_table(
        [(name, _show(name, _value(settings, name)), of) for name, of in settings.sources.items()]
    )
    where = file or "none: TWINJIT_SETTINGS is off, or there is no home directory"
    missing = "" if found or file is None else " (not there)"
    stdout().print(f"settings file: {where}{missing}", highlight=False)
    if unknown:
        stdout().print(f"no settings, and not looked at: {', '.join(unknown)}", highlight=False)


def _value(settings: twinjit.Settings, name: str) -> Any:
    """Give a setting's value for JSON, without what is secret."""
    if name == "shared_secret":
        return "unset" if settings.shared_secret is None else "set"
    return settings.shared_place if name == "shared_url" else getattr(settings, name)


def _show(name: str, value: Any) -> str:
    """Write a value for people, and exactly."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if name.endswith("_bytes"):
        return size(value) if value < 1024 else f"{size(value)} ({value} bytes)"
    if isinstance(value, (int, float)):
        return f"{value:.15g}" if name in _NUMBERS else span(value)
    return str(value)


def _print_table(rows: list[tuple[str, str, str]]) -> None:
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    console = stdout()
    for name, value, source in rows:
        console.print(f"{name:{names}}  {value:{values}}  {source}", highlight=False)
