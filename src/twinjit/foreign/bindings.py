"""MLIR's Python bindings as other packages bundle them, such as jaxlib, IREE and torch-mlir.

Each has an MLIR of its own and of another date, so that a program can cross as bytes only. These
are generic text: bytecode has properties by position, and gives a wrong one or none where another
date's operation has more of them, and attributes of dialects that are unknown here it has in the
dialect's own encoding. Text names each property.
"""

from __future__ import annotations

import re
from typing import Any

from twinjit.errors import UnfingerprintableError
from twinjit.foreign.bundle import Bundle, Unknown, Written, distribution_of

__all__ = ["package_of", "write"]

# The dialects in the section of resources, as MLIR indents it.
_SECTION_OF_RESOURCES = re.compile(rb"^ {4}(\w+): \{$", re.MULTILINE)

# Where each package has the native modules of the bindings.
_LIBRARIES = "._mlir_libs"


def package_of(operation: object) -> str | None:
    """The package, such as ``jaxlib.mlir``, of an Operation of MLIR's bindings; else None."""
    package, found, _ = type(operation).__module__.partition(_LIBRARIES)
    return package if found and hasattr(operation, "get_asm") else None


def write(program: object, *, locations: bool) -> Written | None:
    """Write a Module, Operation or OpView as generic text."""
    operation = getattr(program, "operation", program)
    package = package_of(operation)
    if package is None:
        return None
    bundle = _Bundle(package, operation, program)
    return Written(bundle.text(locations=locations), "mlir", bundle)


class _Bundle(Bundle):
    """The bindings that hold one operation, and its context.

    Nothing is asked of the context that would load a dialect into it, but in
    `registers_dialect`, see there.
    """

    def __init__(self, package: str, operation: Any, owner: object) -> None:
        super().__init__(package, distribution_of(package, "_mlir_libs/__init__.py"))
        self._operation = operation
        self._owner = owner  # newer bindings' operations do not keep their module alive
        self._context = operation.context

    def text(self, *, locations: bool) -> bytes:
        # Without aliases (in local scope), as MLIR keeps attributes of unknown dialects as text:
        # there an alias would stand for whatever it means elsewhere. But only the other way of
        # printing has resources.
        text = self._print(self._operation, use_local_scope=True, enable_debug_info=locations)
        return text + self._resources() if b"dense_resource<" in text else text

    def _resources(self) -> bytes:
        """The section that has the bytes of resources; empty where there is none."""
        root = self._operation
        while root.parent is not None:
            root = root.parent.operation
        text = self._print(root)
        # At the start of a line: strings have no line breaks.
        start = text.rfind(b"\n{-#")
        return text[start:] if start >= 0 else b""

    def _print(self, operation: Any, **options: bool) -> bytes:
        try:
            text = operation.get_asm(binary=True, print_generic_op_form=True, **options)
        except Exception as error:  # whatever a package raises
            raise self.failure(error) from error
        return bytes(text)

    def domain(self, unknown: Unknown) -> str:
        domain = super().domain(unknown)
        if unknown.dialects:
            self._check_resources()
        return domain

    def _check_resources(self) -> None:
        """Refuse resources of dialects unknown here, for which attributes have only a key."""
        for name in _SECTION_OF_RESOURCES.findall(self._resources()):
            if name != b"builtin":
                raise UnfingerprintableError(
                    f"a resource of dialect '{name.decode()}' of {self} cannot be read"
                )

    def registers_operation(self, name: str) -> bool:
        return bool(self._context.is_registered_operation(name))

    def registers_dialect(self, namespace: str) -> bool:
        """Whether a dialect is registered in the context; if in doubt, it is.

        Only newer bindings can say which dialects are loaded. Others are asked for the dialect,
        which loads it if the program's text of it dates from before it was registered.
        """
        if not self._context.allow_unregistered_dialects:
            return True
        if hasattr(self._context, "is_dialect_loaded"):
            return bool(self._context.is_dialect_loaded(namespace))
        try:
            self._context.get_dialect_descriptor(namespace)
        except ValueError:
            return False
        return True
