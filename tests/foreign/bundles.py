"""Programs in the hands of other packages. Each is imported only where a test asks for it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

# Packages with MLIR's Python bindings. IREE's are tested in processes of their own: they cannot be
# loaded beside those of mlir.ir, as both bring a libnanobind-mlir.so.
BINDINGS = ("jaxlib.mlir.ir", "torch_mlir.ir")

# Dialects that a package has, but registers on demand.
_MORE_DIALECTS = {
    "jaxlib.mlir": ("_chlo", "_sdy", "_stablehlo"),
    "torch_mlir": ("_torchMlir", "_stablehlo"),
}


def bindings(name: str) -> ModuleType:
    """Import a package's bindings, or skip the test."""
    pytest.importorskip(name.partition(".")[0], reason=f"{name} is not installed")
    return importlib.import_module(name)


def new_context(ir: ModuleType, *, allow_unregistered: bool = True) -> Any:
    """Make a context with all dialects that the package has."""
    context = ir.Context()
    if ir.__name__.startswith("jaxlib"):
        extension = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
        registry = ir.DialectRegistry()
        extension.register_dialects(registry)
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
    package = ir.__name__.removesuffix(".ir")
    for name in _MORE_DIALECTS.get(package, ()):
        importlib.import_module(f"{package}._mlir_libs.{name}").register_dialect(context)
    context.allow_unregistered_dialects = allow_unregistered
    return context


def parse(ir: ModuleType, text: str, *, allow_unregistered: bool = True) -> Any:
    """Parse in a new context."""
    return ir.Module.parse(text, new_context(ir, allow_unregistered=allow_unregistered))


def parse_xdsl(text: str) -> Any:
    """Parse in a new xDSL context with all of its dialects."""
    pytest.importorskip("xdsl", reason="xdsl is not installed")
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser

    context = Context(allow_unregistered=True)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return Parser(context, text).parse_module()
