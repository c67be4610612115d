"""Functions that are compiled, and even generated, when they are first called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twinjit._native import _llvm
from twinjit.compiler import Compiler
from twinjit.errors import ConfigError, ExecutorError
from twinjit.lazy.function import LazyFunction
from twinjit.lazy.functions import LazyFunctions
from twinjit.lazy.session import Session
from twinjit.options import check_switch
from twinjit.symbols import Symbols

__all__ = ["Jit", "take_native_error"]


class Jit(LazyFunctions):
    """A set of functions that call one another, each compiled when it is first called.

    Its functions are attributes (``jit.f(x)``) and items (``jit["f"](x)``); a function whose name
    is one of this class's own attributes is an item only. Any number of threads may use it: each
    function is generated and compiled once. Code is looked for in the tiers of the compiler by a
    key of each function's own, which does not depend on what it, or those that it calls, are
    named.

    Parameters
    ----------
    compiler
        What to compile with; by default a new `Compiler`.
    speculate
        Have the callees of a function that is called for the first time compiled, and generated,
        in the background.
    symbols
        External symbols by name: addresses, ctypes functions, or objects with an ``address``.
        Others are looked for in the process.

    Raises
    ------
    ConfigError
        If an option is something else.
    """

    def __init__(
        self,
        compiler: Compiler | None = None,
        *,
        speculate: bool = False,
        symbols: Mapping[str, object] | None = None,
    ) -> None:
        if not isinstance(compiler, Compiler | None):
            raise ConfigError(f"compiler is {compiler!r:.200}; give a Compiler, with the options")
        self._compiler = compiler or Compiler()
        session = Session(
            self._compiler._engine,
            self._compiler._open,
            Symbols.of(symbols),
            speculate=check_switch("speculate", speculate),
        )
        super().__init__(session)

    def define(self, name: str, signature: object, generate: Callable[[], object]) -> LazyFunction:
        """Take in a function that is generated when it is first called.

        Parameters
        ----------
        name
            Under which others declare and call it.
        signature
            Its type: LLVM's text, such as ``"i64(i64, ptr)"``; or C's, such as
            ``"int64_t (int64_t, void *)"``, or a ctypes prototype.
        generate
            Gives LLVM IR that defines it: text, bitcode or a module of llvmlite's. Called at most
            once, in whichever thread calls the function first, or in one of its own
            (`speculate`, or a small stack). What else the module defines, this function alone
            calls. What it declares is looked for among the functions here, then in `symbols` and
            in the process.

        Raises
        ------
        RedefinitionError
            If there is a function of that name.
        ConfigError
            If `name` is no name, `signature` cannot be read, or `generate` cannot be called.
        """
        self._check_open()
        if not isinstance(name, str) or not name:
            raise ConfigError(f"name is {name!r}; give the name of a function")
        if not callable(generate):
            raise ConfigError(
                f"what generates {name!r} is {generate!r:.200}; give a function that returns the "
                "program, or take the program in with add"
            )
        return self._session.define(name, signature, generate)

    def add(self, program: object, *, language: str = "auto") -> list[str]:
        """Take in all functions of a program.

        Parameters
        ----------
        program, language
            As for `Compiler.compile`. MLIR is lowered to LLVM IR at once, as a whole.

        Returns
        -------
        list of str
            Names of the functions that it defines for others.

        Raises
        ------
        RedefinitionError
            If there is a function of one of the names; nothing is taken in then.
        CompilationError
            If it cannot be read, or lowered.
        UnsupportedProgramError, OSError
            As `Compiler.compile`.
        """
        self._check_open()
        return self._session.add(program, language)

    def close(self) -> None:
        """Compile nothing more; any number of times. Compiled functions can be called still."""
        self._session.close()

    def __enter__(self) -> Jit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._session.is_closed:
            raise ExecutorError("the Jit is closed, and takes no more functions")


def take_native_error() -> Any:
    """Return what made the last lazy function fail that native code of this thread called.

    Returns
    -------
    BaseException or None
        None if there was none since the last call.
    """
    return _llvm.take_native_error()
