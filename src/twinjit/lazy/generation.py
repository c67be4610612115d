"""The modules of functions that are generated when they are called."""

from __future__ import annotations

from collections.abc import Callable

from twinjit.errors import GenerationError, TwinjitError
from twinjit.lazy.function_type import FunctionType
from twinjit.lazy.unit import Unit

__all__ = ["generate"]


def generate(
    name: str,
    type_: FunctionType,
    generator: Callable[[], object],
    read: Callable[[object], tuple[Unit, dict[str, str]]],
) -> tuple[Unit, str]:
    """Call what generates a function.

    Returns
    -------
    Unit, str
        The module, and the function's symbol in it.

    Raises
    ------
    GenerationError
        If it raises an Exception, which is the cause then, or gives what does not define `name`
        with that type. Other exceptions (KeyboardInterrupt) are not the function's, nor is what
        lies in where it was called from (MemoryError, RecursionError).
    """
    try:
        program = generator()
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        raise GenerationError(
            f"generating {name!r} raised {type(error).__name__}: {error}"
        ) from error
    try:
        unit, renamed = read(program)
    except TwinjitError as error:
        raise GenerationError(f"what was generated for {name!r} cannot be used: {error}") from error
    symbol = next((symbol for symbol, given in renamed.items() if given == name), name)
    defined = unit.defined.get(symbol)
    if defined is None:
        others = ", ".join(unit.defined) or "nothing"
        raise GenerationError(f"what was generated for {name!r} defines {others}, but not it")
    if defined.type != type_.text:
        raise GenerationError(
            f"{name!r} was defined as {type_.text}, but generated as {defined.type}"
        )
    return unit, symbol
