"""Parts of a module, compiled when they are called, by the native core alone."""

from __future__ import annotations

import ctypes
import threading
from collections import Counter

from twinjit._native import _llvm

FUNCTION = _llvm.FUNCTION


class Parts:
    """Compiles each function of a module when its cell is asked for.

    `compiled` counts how often; `failing` has what to raise instead, by name.
    """

    def __init__(self, text: str, outside: dict[str, int] | None = None) -> None:
        self.split = _llvm.split(text.encode(), "test.ll")
        self.names = [name for name, _, is_defined, _ in self.split.functions() if is_defined]
        self.cells = _llvm.Cells(self.resolve)
        self.indices = {name: self.cells.add() for name in self.names}
        self.outside = outside or {}
        self.compiled: Counter[str] = Counter()
        self.failing: dict[str, BaseException] = {}
        self.images: dict[str, _llvm.Image] = {}
        self.stubs: dict[str, _llvm.Image] = {}
        self.slots: dict[str, tuple[int, int]] = {}
        self.data: dict[str, int] | None = None
        self._locks = {name: threading.Lock() for name in self.names}

    def resolve(self, index: int) -> int:
        name = self.names[index]
        if name in self.failing:
            raise self.failing[name]
        with self._locks[name]:
            if not self.cells.target(index):
                self.images[name] = self.load(name)
                self.compiled[name] += 1
                self.cells.swap(index, self.images[name].exported(FUNCTION))
        return self.cells.target(index)

    def load(self, name: str) -> _llvm.Image:
        bitcode, links = self.split.extract(name, [])
        try:
            code, slots, _, _ = _llvm.emit(bitcode, [FUNCTION], *_llvm.host_target(), 2)
            self.slots[name] = slots[FUNCTION]
            entries = [FUNCTION]
        except Exception:  # a type that slots do not have
            code, entries = _llvm.emit(bitcode, [], *_llvm.host_target(), 2)[0], []
        return _llvm.load(code, entries, given=self.given(links), exports=[FUNCTION])

    def given(self, links: list[tuple[str, str, str]]) -> dict[str, int]:
        find = {"cell": self.cell, "address": self.address, "data": self.address_of_data}
        return {**self.outside, **{symbol: find[kind](name) for symbol, kind, name in links}}

    def cell(self, name: str) -> int:
        return self.cells.address(self.indices[name])

    def address(self, name: str) -> int:
        """Of the public stub."""
        if name not in self.stubs:
            bitcode, links = self.split.public_stub(name)
            code = _llvm.emit(bitcode, [], *_llvm.host_target(), 2)[0]
            given = self.given(links)
            self.stubs[name] = _llvm.load(code, [], given=given, exports=[FUNCTION])
        return self.stubs[name].exported(FUNCTION)

    def address_of_data(self, name: str) -> int:
        if self.data is None:
            bitcode, links, symbols = self.split.data([])
            code = _llvm.emit(bitcode, [], *_llvm.host_target(), 0)[0]
            given = self.given(links)
            self.image = _llvm.load(code, [], given=given, exports=list(symbols.values()))
            self.data = {name: self.image.exported(each) for name, each in symbols.items()}
        return self.data[name]

    def native(self, name: str, result: object, *arguments: object):
        """Give a function as native code has it: by the address of its public stub."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))

    def function(self, name: str, arguments: list[str], results: list[str]) -> _llvm.Function:
        """Give a function as Python calls it."""
        self.resolve(self.indices[name])

        def value(dtype: str) -> dict[str, object]:
            kind = "pointer" if dtype == "ptr" else "scalar"
            return {
                "kind": kind,
                "dtype": dtype,
                "shape": [],
                "strides": None,
                "offset": None,
                "text": dtype,
                "read_only": False,
            }

        return _llvm.Function(
            self.images[name],
            name,
            list(map(value, arguments)),
            list(map(value, results)),
            self.slots[name],
            self,
            FUNCTION,
        )
