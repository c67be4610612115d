# What nanobind's stub generator cannot see: Function is no nanobind type.

twinjit\._native\._llvm\.Function$:
    \from collections.abc import Mapping, Sequence
    \from typing import Any
    class Function:
        \doc
        def __init__(self, image: Image, name: str, arguments: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]], slots: tuple[int, int] | None) -> None: ...

        def __call__(self, *args: object, out: object = None) -> Any: ...

        @property
        def __name__(self) -> str: ...

        @property
        def signature(self) -> str:
            """Name, arguments and results, in MLIR's types."""

        @property
        def address(self) -> int:
            """Address of its ``void(uint64_t *slots)`` entry."""
