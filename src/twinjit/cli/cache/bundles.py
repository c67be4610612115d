"""``twinjit cache export`` and ``import``: entries as one file, to warm other caches with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.text import Text

import twinjit
from twinjit.cli.cache.stores import check_store, find_entry, open_store
from twinjit.cli.failures import DAMAGED
from twinjit.cli.options import Cache, Json
from twinjit.cli.show import plural, print_json, printable, size, stderr, stdout
from twinjit.errors import ConfigError

__all__ = ["export_entries", "import_entries"]

Target = Annotated[str, typer.Argument(metavar="FILE", help="The bundle to write.")]
Source = Annotated[str, typer.Argument(metavar="FILE", help="The bundle to read.")]
Keys = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY]...", help="The first digits of the keys to export; by default all."
    ),
]
Sign = Annotated[
    bool, typer.Option("--sign", help="Sign it with the secret of the settings (shared_secret).")
]
Unsigned = Annotated[
    bool,
    typer.Option(
        "--unsigned",
        help="Take a bundle that is not signed, although the settings have a secret: whoever wrote "
        "it can run code as you.",
    ),
]


def export_entries(
    file: Target,
    keys: Keys = None,
    *,
    sign: Sign = False,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Write entries as one file, whole or not at all.

    Exit codes: 4 if entries were left out, since they are damaged.
    """
    store = open_store(cache)
    secret = twinjit.Settings.load().shared_secret if sign else None
    if sign and secret is None:
        raise ConfigError(
            "there is no secret to sign with; set TWINJIT_SHARED_SECRET_FILE to the file it is in"
        )
    entries = list(store.entries()) if keys else []
    wanted = [find_entry(entries, key).key_digest for key in keys] if keys else None
    done = twinjit.export_bundle(store, file, wanted, secret=secret)
    if json:
        print_json({"file": file, **done._asdict()})
    else:
        _show_refused("left out", done.left_out)
        stdout().print(
            f"wrote {plural(done.entries, 'entry', 'entries')} and "
            f"{plural(done.records, 'direct record')}, {size(done.bytes)}, to {printable(file)}",
            highlight=False,
        )
    check_store(store)
    if done.left_out:
        raise typer.Exit(DAMAGED)


def import_entries(
    file: Source, *, unsigned: Unsigned = False, cache: Cache = None, json: Json = False
) -> None:
    """Take the entries of a bundle into the cache.

    With a secret in the settings, only what was signed with it is taken.

    Exit codes: 4 if the file is no bundle or cut short, or something in it was not taken; what was
    whole is in the cache then, too.
    """
    store = open_store(cache)
    secret = None if unsigned else twinjit.Settings.load().shared_secret
    done = twinjit.import_bundle(store, file, secret=secret)
    if json:
        print_json({"file": file, "path": store.root, **done._asdict()})
    else:
        _show_refused("refused", done.refused)
        stdout().print(
            f"took {plural(done.taken, 'file')} of {printable(file)} into {printable(store.root)}; "
            f"{done.present} were there already",
            highlight=False,
        )
    check_store(store)
    if done.refused:
        raise typer.Exit(DAMAGED)


def _show_refused(what: str, refused: Mapping[str, str]) -> None:
    console = stderr()
    for name, why in refused.items():
        console.print(Text.assemble((what, "red"), f"  {printable(name)}: {why}"))
