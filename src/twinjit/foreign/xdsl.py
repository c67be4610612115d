"""Programs that xDSL holds, in Python objects."""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Collection, Sequence
from typing import Any

from twinjit.errors import UnsupportedProgramError
from twinjit.foreign.bundle import Bundle, Written, distribution_of
from twinjit.forks import held_off

__all__ = ["write"]

_HEX_WIDTHS = (8, 16, 32, 64)  # of floats whose bits MLIR reads as a hexadecimal number


def write(program: Any, *, locations: bool) -> Written | None:
    """Write an operation as generic text."""
    kinds = {each.__module__ for each in type(program).__mro__ if each.__qualname__ == "Operation"}
    if not any(module.partition(".")[0] == "xdsl" for module in kinds):
        return None
    bundle = _Bundle()
    try:
        return Written(bundle.text(program, locations=locations), "mlir", bundle)
    except UnsupportedProgramError:
        raise
    except Exception as error:  # whatever a dialect's printer raises
        raise bundle.failure(error) from error


class _Bundle(Bundle):
    """XDSL, and what it had registered of a program, found out by printing that."""

    def __init__(self) -> None:
        super().__init__("xdsl", distribution_of("xdsl"))
        self._operations: set[str] = set()
        self._dialects: Collection[str] = ()

    def text(self, program: Any, *, locations: bool) -> bytes:
        builtin = importlib.import_module("xdsl.dialects.builtin")
        operations = list(program.walk())
        known = [each for each in operations if not isinstance(each, builtin.UnregisteredOp)]
        self._operations = {each.name for each in known}
        if len(known) != len(operations):
            # To print an unregistered operation, xDSL changes it for a moment.
            _check_closed(program, operations)
            program = program.clone()
        stream = io.StringIO()
        printer = _printer_class()(stream, print_generic_format=True, print_debuginfo=locations)
        printer.print_op(program)
        # The context that has the bytes of resources is out of reach; parsing keeps those of the
        # builtin dialect in the dialect itself.
        printer.print_metadata([builtin.Builtin])
        self._dialects = printer.dialects
        return stream.getvalue().encode()

    def registers_operation(self, name: str) -> bool:
        return name in self._operations

    def registers_dialect(self, namespace: str) -> bool:
        return namespace in self._dialects


def _check_closed(program: Any, operations: Sequence[Any]) -> None:
    """Refuse what a clone would add uses to."""
    inside = {id(each) for each in operations}
    for each in operations:
        for region in each.regions:
            inside.update(id(block) for block in region.blocks)
    if any(id(operand.owner) not in inside for each in operations for operand in each.operands):
        raise UnsupportedProgramError(
            f"{program.name} uses values from outside of it; hand over the function or module that "
            "it is in"
        )


@functools.cache
def _printer_class() -> Any:
    """Make a printer that loses nothing, and notes what is registered."""
    with held_off():
        base: Any = importlib.import_module("xdsl.printer").Printer
        builtin = importlib.import_module("xdsl.dialects.builtin")

    class Printer(base):  # type: ignore[misc]  # the base is known when the program is
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.dialects: set[str] = set()

        def print_attribute(self, attribute: Any) -> None:
            if isinstance(attribute, builtin.DenseIntOrFPElementsAttr):
                self._print_dense(attribute)
                return
            if not isinstance(attribute, builtin.BuiltinAttribute):
                self.dialects.add(attribute.name.partition(".")[0])
            super().print_attribute(attribute)

        def print_float(self, value: float, type: Any) -> None:  # noqa: A002  # as in the base
            """As bits: xDSL prints some numbers in a way that MLIR does not read."""
            if type.bitwidth not in _HEX_WIDTHS:
                super().print_float(value, type)
                return
            self.print_string(f"0x{type.pack((value,))[::-1].hex()}")

        def _print_dense(self, attribute: Any) -> None:
            """As a list: to xDSL zeros of both signs are one number, repeated.

            Nor are its bytes MLIR's for every type.
            """
            values = attribute.get_values()
            with self.delimited("dense<", ">"):
                self._print_nested(values, attribute.get_shape(), attribute.get_element_type())
            self.print_string(" : ")
            self.print_attribute(attribute.get_type())

        def _print_nested(self, values: Sequence[Any], shape: Sequence[int], element: Any) -> None:
            if not shape:
                self._print_element(values[0], element)
                return
            size = len(values) // shape[0] if shape[0] else 0
            parts = [values[i * size : (i + 1) * size] for i in range(shape[0])]
            with self.in_square_brackets():
                self.print_list(parts, lambda part: self._print_nested(part, shape[1:], element))

        def _print_element(self, value: Any, element: Any) -> None:
            if isinstance(value, tuple):
                self.print_complex(value, element)
            elif isinstance(element, builtin.IntegerType | builtin.IndexType):
                self.print_int(value, element)
            else:
                self.print_float(value, element)

    return Printer
