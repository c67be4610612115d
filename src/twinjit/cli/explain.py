"""``twinjit explain``: a program's key, and which parts of two keys differ."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

import twinjit
from twinjit.cli.cache.stores import find_entry, read_entry
from twinjit.cli.failures import reported
from twinjit.cli.options import (
    STDIN,
    Cache,
    Colour,
    ColourWhen,
    Confirm,
    Full,
    Json,
    Language,
    OptLevel,
    Pipeline,
    Policy,
    open_compiler,
    open_program,
)
from twinjit.cli.parts import part_data, part_text, shorten, show_parts
from twinjit.cli.show import coloured, print_json, stdout
from twinjit.errors import ConfigError

__all__ = ["explain"]

_DIFFERENT = 1
_FAILED = 2
_STORED = "key:"
_FINGERPRINT = "mlir"
_WIDTH = 40

A = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="MLIR text or bytecode; - for standard input. Of two, also key:DIGITS, the entry of "
        "the cache whose key begins so.",
    ),
]
B = Annotated[str | None, typer.Argument(metavar="[B]", help="What to compare the key of A with.")]


class _Side(NamedTuple):
    """A program, or an entry of the cache.

    Attributes
    ----------
    name
        What the user calls it.
    explanation
        How it would be looked up.
    is_stored
        Whether it is an entry.
    """

    name: str
    explanation: twinjit.Explanation
    is_stored: bool = False


class _Compared(NamedTuple):
    a: _Side
    b: _Side

    @property
    def differences(self) -> Sequence[tuple[str, str | bytes | None, str | bytes | None]]:
        return self.a.explanation.key.differences(self.b.explanation.key)

    @property
    def is_never_cached(self) -> bool:
        """Whether one of them finds no code, whatever its key."""
        return bool(self.a.explanation.uncacheable or self.b.explanation.uncacheable)

    @property
    def is_same(self) -> bool:
        """Whether both would find the same code."""
        return not (self.differences or self.is_never_cached)


def explain(
    context: typer.Context,
    a: A,
    b: B = None,
    *,
    full: Full = False,
    pipeline: Pipeline = "auto",
    opt_level: OptLevel = 3,
    policy: Policy = None,
    confirm: Confirm = None,
    language: Language = "auto",
    cache: Cache = None,
    json: Json = False,
    color: Colour = ColourWhen.auto,
) -> None:
    """Show a program's key, and where its code would come from now; or how two keys differ.

    Exit codes with B: 0 the keys are the same; 1 they differ; 2 they could not be compared.
    """
    options: dict[str, Any] = {"pipeline": pipeline, "opt_level": opt_level}
    options |= {"policy": policy, "confirm": confirm}
    if b is None:
        compiler = open_compiler(cache, **options)
        _explain_one(a, compiler, language, full=full, json=json)
        return
    if a == b == STDIN:
        raise typer.BadParameter("only one program can come from standard input")
    with reported(traceback=context.find_root().params["traceback"], code=_FAILED):
        compiler = open_compiler(cache, **options)
        compared = _Compared(_side(a, compiler, language), _side(b, compiler, language))
        if json:
            print_json(_compared_data(compared, compiler))
        else:
            console = coloured(color.value)
            _show_compared(console, compared, compiler, full=full)
            for line in _advice(compared, language, policy or ()):
                console.print(line, style="italic", highlight=False)
    raise typer.Exit(0 if compared.is_same else _DIFFERENT)


def _explain_one(
    file: str, compiler: twinjit.Compiler, language: str, *, full: bool, json: bool
) -> None:
    if file.startswith(_STORED):
        raise typer.BadParameter(
            f"twinjit cache show {file.removeprefix(_STORED)} shows an entry; here it can be what "
            "a program is compared with",
            param_hint="'A'",
        )
    explanation = compiler.explain(open_program(file), language=language)
    if json:
        print_json({**_data(explanation), "store": _root(compiler)})
        return
    console = stdout()
    show_parts(console, explanation.key, full=full)
    if not explanation.uncacheable:
        console.print(f"{'key':<18}{explanation.key.hex}", style="bold", highlight=False)
    console.print(_describe_lookup(explanation, compiler), highlight=False)


def _data(explanation: twinjit.Explanation) -> dict[str, Any]:
    return {
        "key": explanation.key.hex,
        "parts": explanation.key.to_data(),
        "hit": explanation.tier != "compiled",
        "tier": explanation.tier,
        "direct": explanation.direct,
        "uncacheable": explanation.uncacheable or None,
    }


def _root(compiler: twinjit.Compiler) -> str | None:
    return compiler.store.root if compiler.store else None


def _describe_lookup(explanation: twinjit.Explanation, compiler: twinjit.Compiler) -> str:
    if explanation.uncacheable:
        return f"never cached: {explanation.uncacheable}"
    shared = compiler.shared.url if compiler.shared else None
    places = [place for place in (_root(compiler), shared) if place]
    if explanation.tier == "compiled":
        where = f"not in {', nor in '.join(places)}" if places else "there is no disk cache"
        return f"miss: {where}"
    way = "without parsing the program" if explanation.direct else "after parsing the program"
    place = shared if explanation.tier == "shared" else _root(compiler)
    return f"hit: in {place}, found {way}"


def _side(name: str, compiler: twinjit.Compiler, language: str) -> _Side:
    if not name.startswith(_STORED):
        return _Side(name, compiler.explain(open_program(name), language=language))
    if compiler.store is None:
        raise ConfigError(f"{name}: there is no disk cache; name a directory with --cache")
    entry = find_entry(compiler.store.entries(), name.removeprefix(_STORED))
    artifact = read_entry(compiler.store, entry)
    return _Side(name, twinjit.Explanation(artifact.key, "disk", direct=False), is_stored=True)


def _compared_data(compared: _Compared, compiler: twinjit.Compiler) -> dict[str, Any]:
    return {
        "same": compared.is_same,
        "differences": [
            {"part": name, "a": part_data(mine), "b": part_data(theirs)}
            for name, mine, theirs in compared.differences
        ],
        "a": {"name": compared.a.name, **_data(compared.a.explanation)},
        "b": {"name": compared.b.name, **_data(compared.b.explanation)},
        "store": _root(compiler),
    }


def _show_compared(
    console: Console, compared: _Compared, compiler: twinjit.Compiler, *, full: bool
) -> None:
    sides = (compared.a, compared.b)
    if compared.differences:
        show = _show_in_full if full else _show_beside
        keys = [side.explanation.key.hex for side in sides]
        show(console, "part", *(side.name for side in sides), bold=True)
        for name, mine, theirs in compared.differences:
            show(console, name, part_text(mine), part_text(theirs))
        show(console, "key", *keys, bold=True)
        total = len(dict([*compared.a.explanation.key.parts, *compared.b.explanation.key.parts]))
        differ = "differs" if len(compared.differences) == 1 else "differ"
        console.print(f"{len(compared.differences)} of {total} parts {differ}", highlight=False)
    else:
        console.print(f"the same key: {compared.a.explanation.key.hex}", style="bold")
    for side in sides:
        lookup = _describe_lookup(side.explanation, compiler)
        console.print(f"{side.name}: {'stored' if side.is_stored else lookup}", highlight=False)


def _show_beside(console: Console, name: str, a: str, b: str, *, bold: bool = False) -> None:
    """Print two values beside each other, what is long around where they begin to differ."""
    start = _first_difference(a, b)
    left, right = (shorten(text, _WIDTH, start=start) for text in (a, b))
    style = "bold " if bold else ""
    console.print(
        Text.assemble(
            f"{name:<18}", (f"{left:<{_WIDTH + 4}}", f"{style}red"), (right, f"{style}green")
        )
    )


def _show_in_full(console: Console, name: str, a: str, b: str, *, bold: bool = False) -> None:
    console.print(Text(name, "bold"))
    console.print(Text(f"  - {a}", "bold red" if bold else "red"))
    console.print(Text(f"  + {b}", "bold green" if bold else "green"))


def _first_difference(a: str, b: str) -> int:
    for position, (mine, theirs) in enumerate(zip(a, b, strict=False)):
        if mine != theirs:
            return position
    return min(len(a), len(b))


def _advice(compared: _Compared, language: str, policy: Sequence[str]) -> Iterator[str]:
    """Say what the difference means, and how to see more of it."""
    names = {name for name, _, _ in compared.differences}
    if compared.is_never_cached:  # and may lack the fingerprint
        yield "they would share no code, for what is never cached finds none"
    elif not names:
        return
    elif _FINGERPRINT not in names:
        yield "the programs are the same; they differ in how they are compiled"
    elif not (compared.a.is_stored or compared.b.is_stored):
        command = ["twinjit", "diff", compared.a.name, compared.b.name]
        command += ["--language", language] if language != "auto" else []
        command += [word for each in policy for word in ("--policy", each)]
        yield f"the programs themselves differ; this shows where: {shlex.join(command)}"
    elif "policy" not in names:  # which decides what the fingerprint tells
        yield "the programs themselves differ"
