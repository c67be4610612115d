# What nanobind's stub generator cannot see: Function is no nanobind type.

twinjit\._native\._llvm\.Function$:
    \from collections.abc import Callable, Mapping, Sequence
    \from typing import Any
    class Function:
        \doc
        def __init__(self, image: Image, name: str, arguments: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]], slots: tuple[int, int] | None, keeps: object = None, entry: str | None = None) -> None: ...

        def __call__(self, *args: object, out: object = None) -> Any: ...

        @property
        def __name__(self) -> str: ...

        @property
        def signature(self) -> str:
            """Name, arguments and results, in MLIR's types."""

        @property
        def address(self) -> int:
            """Address of its ``void(uint64_t *slots)`` entry."""

        def count_calls(self, calls: int, callback: Callable[[], object], /) -> None:
            """
            Call back, once and without arguments, before the last of so many calls from now on. What the callback raises is unraisable; it must not hold the function, which would leak.
            """

        def replace_code(self, image: Image, /) -> None:
            """
            Have later calls run the entry of another image, whose code takes and gives the same. The former code lives as long as the function. Raises ArtifactError where there is none.
            """

twinjit\._native\._sql\.__prefix__:
    \from typing import Any
    \from numpy.typing import NDArray
    \import numpy
