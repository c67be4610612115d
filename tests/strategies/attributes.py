"""Random attributes and types of MLIR as trees, and each tree with one thing changed.

A tree is text, or a `Node`. Two trees are the same attribute exactly if they are equal, so long as
they come from here: every leaf is written in one way only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

Tree = "str | Node"


@dataclass(frozen=True)
class Node:
    """`form` around the children, all of one `kind`, which `separator` joins."""

    form: str
    children: tuple[Tree, ...]
    kind: str = "attribute"
    separator: str = ", "
    fixed: bool = False  # the number of children may not change


NUMBERS = ("i1", "i8", "i32", "i64", "si8", "ui32", "index", "f16", "bf16", "f32", "f64")
SIMPLE_TYPES = (
    *NUMBERS, "i128", "none", "f8E4M3FN", "complex<f32>", "!llvm.ptr", "!llvm.ptr<3>",
    '!t.type<"x">', "!t.type<@a>", '!u.type<"x">', "vector<4xi32>", "vector<[4]xi32>",
    "vector<[4]x4xf32>", "vector<4x[4]xf32>", "tensor<*xf32>", "memref<*xf32>", "memref<*xf32, 1>",
    "tensor<2x?xf32>", "tensor<?x2xf32>", "tensor<2x2xf32>", 'tensor<2x2xf32, "e">',
    "tensor<4xi1>", "memref<4x4xf32>", "memref<4x4xf32, strided<[4, 1], offset: ?>>",
    "memref<4x4xf32, strided<[?, 1]>>", "memref<4x4xf32, 1 : i32>", "memref<4x4xf32, 1>",
    "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>",
    '!llvm.struct<"r1", (struct<"r1">, i32)>', '!llvm.struct<"r2", (struct<"r2">, i64)>',
    '!llvm.struct<"o", opaque>', "!llvm.struct<(i8, i32)>", "!llvm.struct<packed (i8, i32)>",
    "!llvm.array<2 x i8>", "!llvm.func<void (i32, ...)>", "!llvm.func<void (i32)>",
    "!shape.shape", "!emitc.opaque<\"int\">", "!emitc.ptr<i32>", "!quant.any<i8:f32>",
)  # fmt: skip
LEAVES = (
    "unit", "true", "false", "0 : i32", "1 : i32", "-1 : i32", "1 : i64", "1 : si32", "1 : index",
    f"{2**64} : i128", f"{2**64 + 1} : i128", "0.0 : f32", "-0.0 : f32", "0x7FC00000 : f32",
    "0x7FC00001 : f32", "0x7F800001 : f32", "1.0 : f64", "1.0 : bf16", '""', '"a"', '"ab"', '"b"',
    r'"a\00"', r'"\00a"', r'"a\22b"', '"a" : i32', "@a", "@b", "@a::@b", '@"a::@b"',
    "dense<[1, 2]> : tensor<2xi32>", "dense<[2, 1]> : tensor<2xi32>", "dense<1> : tensor<2xi32>",
    "dense<[1, 2]> : vector<2xi32>", "dense<[[1, 2]]> : tensor<1x2xi32>",
    "dense<[true, false]> : tensor<2xi1>", "dense<> : tensor<0xi32>", "dense<> : tensor<0xi64>",
    "dense<[0.0, -0.0]> : tensor<2xf32>", "dense<[-0.0, 0.0]> : tensor<2xf32>",
    'dense<["a", "bc"]> : tensor<2x!t.s>', 'dense<["ab", "c"]> : tensor<2x!t.s>',
    "dense<(1.0, 2.0)> : tensor<complex<f32>>", "dense<(2.0, 1.0)> : tensor<complex<f32>>",
    "sparse<[[0]], [1]> : tensor<4xi32>", "sparse<[[1]], [1]> : tensor<4xi32>",
    "sparse<[[0], [1]], [1, 2]> : tensor<4xi32>", "array<i8: 1, 2>", "array<i16: 513>",
    "array<i32>", "array<i64>", "array<i32: 1, 2>", "array<f32: 0.0>", "array<f32: -0.0>",
    "array<i1: true>", "affine_map<(d0, d1) -> (d0)>", "affine_map<(d0, d1) -> (d1)>",
    "affine_map<(d0) -> (d0)>", "affine_map<(d0)[s0] -> (d0 + s0)>",
    "affine_map<(d0)[s0] -> (d0 mod s0)>", "affine_map<() -> (0)>", "affine_map<() -> ()>",
    "affine_set<(d0) : (d0 >= 0)>", "affine_set<(d0) : (d0 == 0)>", "strided<[1], offset: 2>",
    "strided<[2, 1]>", '#t.attr<"x">', '#t.attr<"y">', "#u.attr<x>", "#arith.fastmath<nnan>",
    "#arith.fastmath<ninf,nsz>", "#arith.overflow<nsw>", "#llvm.linkage<internal>",
    '#dlti.dl_entry<"k", 1 : i32>', "#vector.kind<add>", "#gpu.address_space<global>",
    'loc("f":1:2)', 'loc("f":1:3)', 'loc("g")', "loc(unknown)", 'loc("n"("f":1:2))',
    'loc(fused["a", "b"])', 'loc(fused["b", "a"])', 'loc(callsite("a" at "b"))',
)  # fmt: skip


def random_type(rng: Random, depth: int = 2) -> Tree:
    if depth == 0 or rng.random() < 0.6:
        return rng.choice(SIMPLE_TYPES)
    form, count = rng.choice([("tuple<{}>", None), ("({}) -> ()", None), ("() -> ({})", None)])
    children = tuple(random_type(rng, depth - 1) for _ in range(count or rng.randrange(4)))
    return Node(form, children, "type")


def random_attribute(rng: Random, depth: int = 3) -> Tree:
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(LEAVES)
    makers: list[Callable[[Random, int], Tree]] = [_array, _array, _dictionary, _hidden, _identity]
    makers.append(lambda rng, depth: random_type(rng, depth))
    return rng.choice(makers)(rng, depth - 1)


def _array(rng: Random, depth: int) -> Tree:
    return Node("[{}]", tuple(random_attribute(rng, depth) for _ in range(rng.randrange(4))))


def _dictionary(rng: Random, depth: int) -> Tree:
    names = rng.sample(["a", "b", "c", "x.y"], rng.randrange(4))
    entries = [
        Node(f"{name} = {{}}", (random_attribute(rng, depth),), fixed=True) for name in names
    ]
    return Node("{{{}}}", tuple(entries), "entry", fixed=True)


def _hidden(rng: Random, depth: int) -> Tree:
    """In an attribute whose dialect does not tell MLIR's walkers what it holds."""
    return Node('#dlti.map<"k" = {}>', (random_attribute(rng, depth),), fixed=True)


def _identity(rng: Random, depth: int) -> Tree:
    if rng.random() < 0.5:
        return Node(f"dense_resource<r{rng.randrange(4)}> : tensor<2xi32>{{}}", (), fixed=True)
    content = rng.randrange(2)  # of equal numbers, equal content
    return Node(f"distinct[{rng.randrange(2) * 2 + content}]<{content} : i32>{{}}", (), fixed=True)


def text_of(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    return tree.form.format(tree.separator.join(map(text_of, tree.children)))


def changed(rng: Random, tree: Tree, kind: str = "attribute") -> Tree:
    """The tree with one thing changed; it is never the same."""
    options = list(_changes(rng, tree, kind))
    return rng.choice(options)


def _changes(rng: Random, tree: Tree, kind: str) -> Iterator[Tree]:
    leaves = SIMPLE_TYPES if kind == "type" else LEAVES
    if isinstance(tree, str) or kind != "entry":
        yield rng.choice([leaf for leaf in leaves if leaf != tree])
    if isinstance(tree, str):
        return
    inner = {"type": "type", "entry": "entry"}.get(tree.kind, "attribute")
    for i, child in enumerate(tree.children):
        rest = (tree.children[:i], tree.children[i + 1 :])
        if inner == "entry":
            assert isinstance(child, Node)
            value = changed(rng, child.children[0])
            yield replace(tree, children=(*rest[0], replace(child, children=(value,)), *rest[1]))
            yield replace(tree, children=(*rest[0], *rest[1]))
            continue
        yield replace(tree, children=(*rest[0], changed(rng, child, inner), *rest[1]))
        if not tree.fixed:
            yield replace(tree, children=(*rest[0], *rest[1]))
            yield replace(tree, children=(*rest[0], child, child, *rest[1]))
    if not tree.fixed:
        leaf = rng.choice(SIMPLE_TYPES if inner == "type" else LEAVES)
        yield replace(tree, children=(*tree.children, leaf))
