"""Build LLVM IR with llvmlite, and let it call back into Python.

1. Build a function that applies another one, which it declares only, to each element of an array.
2. Compile it, saying where the declared function is, and what the pointer points to.
3. Call it with an array.
4. Hand it to C: as a function of ctypes.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np
from llvmlite import ir

import twinjit

DOUBLE, INDEX = ir.DoubleType(), ir.IntType(64)


def build() -> ir.Module:
    """Write ``void apply(double *x, uint64_t n)``."""
    module = ir.Module("apply")
    each = ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE]), "each")
    apply = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.PointerType(), INDEX]), "apply")
    array, count = apply.args
    entry, test, body, end = (apply.append_basic_block() for _ in range(4))
    ir.IRBuilder(entry).branch(test)
    builder = ir.IRBuilder(test)
    place = builder.phi(INDEX)
    place.add_incoming(INDEX(0), entry)
    builder.cbranch(builder.icmp_unsigned("<", place, count), body, end)
    builder = ir.IRBuilder(body)
    element = builder.gep(array, [place], source_etype=DOUBLE)
    builder.store(builder.call(each, [builder.load(element, typ=DOUBLE)]), element)
    place.add_incoming(builder.add(place, INDEX(1)), body)
    builder.branch(test)
    ir.IRBuilder(end).ret_void()
    return module


def main() -> None:
    """Apply Python's and libm's functions."""
    module = build()  # 1
    callback = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    signatures = {"apply": "void (double *x, uint64_t n)"}
    for each in (callback(math.sqrt), ctypes.CDLL("libm.so.6").cbrt):
        exe = twinjit.compile(module, signatures=signatures, symbols={"each": each})  # 2
        array = np.array([1.0, 64.0, 729.0])
        exe.apply(array, len(array))  # 3
        print(array, exe.report)
        exe.ctypes("apply")(array.ctypes.data, len(array))  # 4
        print(array)


if __name__ == "__main__":
    main()
