"""``twinjit cache``: look at the disk cache, clean it, and carry it elsewhere."""

from __future__ import annotations

import typer

from twinjit.cli.cache import bundles, care, listing, show, stats
from twinjit.cli.cache.stores import open_store
from twinjit.cli.options import Cache

__all__ = ["app"]

app = typer.Typer(
    help="Look at the disk cache, clean it, and carry it elsewhere.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def path(*, cache: Cache = None) -> None:
    """Print the cache's directory."""
    typer.echo(open_store(cache).root)


app.command("stats")(stats.stats)
app.command("list")(listing.list_entries)
app.command("show")(show.show)
app.command("verify")(care.verify)
app.command("prune")(care.prune)
app.command("clear")(care.clear)
app.command("export")(bundles.export_entries)
app.command("import")(bundles.import_entries)
