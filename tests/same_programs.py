"""Programs that are the same under a policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests import strategies
from twinjit import Policy

RENAME = Policy(private_symbols="rename")
ANY_ORDER = Policy(symbol_order="ignore")
NO_ATTRIBUTES = Policy(discardable="ignore")
COMMUTATIVE = Policy(commutative="ignore")
LIFT = Policy(constants="lift", lift_bytes=16)
LOOSEST = replace(strategies.LOOSEST, lift_bytes=16)

BRANCHES = """
  func.func @f(%x: i64, %c: i1) -> i64 {
    cf.cond_br %c, ^a(%x : i64), ^b
  ^a(%p: i64):
    %q = arith.muli %p, %p : i64
    return %q : i64
  ^b:
    %k = arith.constant 3 : i64
    %r = arith.addi %x, %k : i64
    cf.br ^a(%r : i64)
  ^dead:
    cf.br ^end
  ^end:
    return %x : i64
  }"""
RELISTED = """
  func.func @f(%arg: i64, %when: i1) -> i64 {
    cf.cond_br %when, ^second(%arg : i64), ^first
  ^last:
    return %arg : i64
  ^unreached:
    cf.br ^last
  ^first:
    %three = arith.constant 3 : i64
    %sum = arith.addi %arg, %three : i64
    cf.br ^second(%sum : i64)
  ^second(%value: i64):
    %square = arith.muli %value, %value : i64
    return %square : i64
  }"""

CALLS = """
  func.func @f(%x: i64) -> i64 {
    %a = call @twice(%x) : (i64) -> i64
    %b = call @square(%a) : (i64) -> i64
    return %b : i64
  }
  func.func private @twice(%x: i64) -> i64 attributes {no_inline} {
    %a = arith.addi %x, %x : i64
    return %a : i64
  }
  func.func private @square(%x: i64) -> i64 attributes {no_inline} {
    %a = arith.muli %x, %x : i64
    return %a : i64
  }"""
EXCHANGED = CALLS.replace("twice", "third").replace("square", "twice").replace("third", "square")
TABLE = """
  memref.global "private" constant @{name} : memref<4xi64> = dense<[1, 2, 3, 4]>
  func.func @f(%i: index) -> i64 {{
    %t = memref.get_global @{name} : memref<4xi64>
    %x = memref.load %t[%i] : memref<4xi64>
    return %x : i64
  }}"""
LLVM_CALLS = """
  llvm.func internal @{a}(%x: i64) -> i64 {{
    %a = llvm.add %x, %x : i64
    llvm.return %a : i64
  }}
  llvm.mlir.global internal constant @{b}(7 : i64) : i64
  llvm.func @f(%x: i64) -> i64 {{
    %a = llvm.call @{a}(%x) : (i64) -> i64
    %p = llvm.mlir.addressof @{b} : !llvm.ptr
    %k = llvm.load %p : !llvm.ptr -> i64
    %r = llvm.add %a, %k : i64
    llvm.return %r : i64
  }}"""
RECURSIVE_TYPE = """
  llvm.mlir.global internal @{name}() : !llvm.struct<"node", (ptr, struct<"leaf", (i64)>)> {{
    %z = llvm.mlir.zero : !llvm.struct<"node", (ptr, struct<"leaf", (i64)>)>
    llvm.return %z : !llvm.struct<"node", (ptr, struct<"leaf", (i64)>)>
  }}
  llvm.func @f(%x: i64) -> i64 {{
    %p = llvm.mlir.addressof @{name} : !llvm.ptr
    llvm.return %x : i64
  }}"""
ATTRIBUTES = """
  func.func @f(%x: i64 {{{argument}}}) -> i64 {{
    %a = arith.addi %x, %x {{{operation}}} : i64
    return %a : i64
  }}"""
SUMS = """
  func.func @f(%x: i64, %y: i64) -> i64 {{
    %a = arith.muli {first} : i64
    %c = arith.constant 5 : i64
    %b = arith.addi {second} : i64
    return %b : i64
  }}"""
TENSORS = """
  func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {{
    %w = arith.constant dense<{weights}> : tensor<4x4xf32>
    %z = arith.constant dense<0.0> : tensor<2x4xf32>
    %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>)
                       outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
    %r = call @{name}(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %r : tensor<2x4xf32>
  }}
  func.func private @{name}(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {{
    %r = arith.addf %x, %x : tensor<2x4xf32>
    return %r : tensor<2x4xf32>
  }}"""
BUFFERS = """
  func.func private @{name}(%x: memref<8xf32>, %y: memref<8xf32>) {{
    linalg.add ins(%x, %y : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
    return
  }}
  func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {{
    call @{name}(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    return
  }}"""
IDENTITY = (
    "[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]"
)


def reordered(text):
    """Put the last function of a module's text first."""
    head, _, tail = text.rpartition("\n  func.func")
    return f"\n  func.func{tail}{head}"


def resource(key):
    data = np.arange(16, dtype=np.float32).tobytes().hex().upper()
    return f"""
  func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
    %w = arith.constant dense_resource<{key}> : tensor<4x4xf32>
    %r = arith.addf %x, %w : tensor<4x4xf32>
    return %r : tensor<4x4xf32>
  }}
  {{-# dialect_resources: {{ builtin: {{ {key}: "0x04000000{data}" }} }} #-}}"""


# What is not a constant of the code, but printed in the messages of its checks.
PRINTED_RESOURCES = """
  func.func @f(%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {{
    %r = linalg.matmul {{t.a = [dense_resource<{one}> : tensor<2xi32>],
                        t.b = distinct[0]<dense_resource<{other}> : tensor<1xi64>>}}
                       ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>)
                       outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }}
  {{-# dialect_resources: {{ builtin: {{
    {one}: "0x040000000100000002000000", {other}: "0x040000000100000003000000"
  }} }} #-}}"""
TWO_RESOURCES = """
  func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
    %a = arith.constant dense_resource<one> : tensor<4xf32>
    %b = arith.constant dense_resource<{other}> : tensor<4xf32>
    %c = arith.addf %x, %a : tensor<4xf32>
    %d = arith.addf %x, %b : tensor<4xf32>
    return %c, %d : tensor<4xf32>, tensor<4xf32>
  }}
  {{-# dialect_resources: {{ builtin: {{
    one: "0x040000000000803F0000803F0000803F00000040",
    two: "0x040000000000803F0000803F0000803F00000040"
  }} }} #-}}"""


# Policy, pipeline, and two programs that are the same; the default policy for what never counts.
PAIRS = {
    "blocks": (Policy(), "std", BRANCHES, RELISTED),
    "locations": (Policy(), "std", CALLS, "\n\n" + CALLS),
    "attribute-order": (
        Policy(),
        "std",
        ATTRIBUTES.format(argument="t.a = 1, t.b = 2", operation="t.d = 0, t.c"),
        ATTRIBUTES.format(argument="t.b = 2, t.a = 1", operation="t.c, t.d = 0"),
    ),
    "distinct": (
        Policy(),
        "std",
        ATTRIBUTES.format(argument="t.a = distinct[0]<1>", operation="t.b = distinct[1]<1>"),
        ATTRIBUTES.format(argument="t.a = distinct[7]<1>", operation="t.b = distinct[3]<1>"),
    ),
    "resource-keys": (Policy(), "linalg", resource("one"), resource("other")),
    "resource-keys-printed": (
        Policy(),
        "linalg",
        PRINTED_RESOURCES.format(one="a", other="b"),
        PRINTED_RESOURCES.format(one="resource.1", other="resource.0"),
    ),
    "resource-twice": (
        Policy(),
        "linalg",
        TWO_RESOURCES.format(other="one"),
        TWO_RESOURCES.format(other="two"),
    ),
    "renamed": (RENAME, "std", CALLS, EXCHANGED),
    "renamed-clash": (
        RENAME,
        "std",
        CALLS.replace("twice", "local.1") + "\n  func.func @local.7() { return }",
        EXCHANGED.replace("twice", "local.7_") + "\n  func.func @local.7() { return }",
    ),
    "renamed-library": (RENAME, "std", CALLS, CALLS.replace("twice", "exp")),
    "renamed-global": (RENAME, "std", TABLE.format(name="a"), TABLE.format(name="malloc")),
    "renamed-llvm": (
        RENAME,
        "llvm",
        LLVM_CALLS.format(a="a", b="b"),
        LLVM_CALLS.format(a="b", b="a"),
    ),
    "renamed-struct": (
        RENAME,
        "llvm",
        RECURSIVE_TYPE.format(name="a"),
        RECURSIVE_TYPE.format(name="b"),
    ),
    "renamed-tensors": (
        RENAME,
        "linalg",
        TENSORS.format(weights=IDENTITY, name="a"),
        TENSORS.format(weights=IDENTITY, name="b"),
    ),
    "renamed-buffers": (
        RENAME,
        "linalg-buffers",
        BUFFERS.format(name="a"),
        BUFFERS.format(name="b"),
    ),
    "symbol-order": (ANY_ORDER, "std", CALLS, reordered(CALLS)),
    "symbol-order-buffers": (
        ANY_ORDER,
        "linalg-buffers",
        BUFFERS.format(name="a"),
        reordered(BUFFERS.format(name="a")),
    ),
    "symbol-order-renamed": (
        Policy(private_symbols="rename", symbol_order="ignore"),
        "std",
        CALLS,
        reordered(EXCHANGED),
    ),
    "discardable": (
        NO_ATTRIBUTES,
        "std",
        ATTRIBUTES.format(argument="llvm.signext, t.a", operation="t.b"),
        ATTRIBUTES.format(argument="", operation=""),
    ),
    "discardable-named": (
        Policy(discardable=["t.a", "t.b"]),
        "std",
        ATTRIBUTES.format(argument="t.a, t.c", operation="t.b = 2"),
        ATTRIBUTES.format(argument="t.c", operation="t.a"),
    ),
    "commutative": (
        COMMUTATIVE,
        "std",
        SUMS.format(first="%x, %y", second="%a, %c"),
        SUMS.format(first="%y, %x", second="%c, %a"),
    ),
    "module-name": (
        Policy(module_name="ignore"),
        "std",
        f"module @a {{{CALLS}}}",
        f"module @b {{{CALLS}}}",
    ),
    "lifted": (
        LIFT,
        "linalg",
        TENSORS.format(weights=IDENTITY, name="a"),
        TENSORS.format(weights=IDENTITY.replace("1.0", "2.0"), name="a"),
    ),
    "lifted-global": (
        LIFT,
        "std",
        TABLE.format(name="a"),
        TABLE.format(name="a").replace("[1, 2, 3, 4]", "[5, 6, 7, 8]"),
    ),
    "loosest": (
        LOOSEST,
        "linalg",
        f"module @a {{{TENSORS.format(weights=IDENTITY, name='a')}}}",
        "module @b attributes {t.a} {"
        + reordered(TENSORS.format(weights=IDENTITY.replace("1.0", "3.0"), name="b"))
        + "}",
    ),
}  # fmt: skip
