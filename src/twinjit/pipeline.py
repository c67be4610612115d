"""Named pass pipelines, and the choice among them by the dialects a program uses.

A pipeline is text in MLIR's own syntax, made of upstream's passes and of Twinjit's (``twinjit-…``,
described in ``native/ir/passes/``). Its canonical text is a part of the key, so that editing one
here makes the artifacts of the old text misses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from twinjit.errors import PipelineError

__all__ = [
    "AUTO",
    "CHOICE_VERSION",
    "NAMED_PIPELINES",
    "Pipeline",
    "choose_pipeline",
    "naming_pipelines",
]

AUTO = "auto"
"""Stands for "the named pipeline that the program's dialects ask for"."""

CHOICE_VERSION = "1"
"""Version of the rule in `choose_pipeline`; part of what an automatic choice is looked up by."""


@dataclass(frozen=True)
class Pipeline:
    """A pass pipeline over ``builtin.module`` and what it is for.

    Attributes
    ----------
    name
        How users and reports call it.
    text
        In MLIR's syntax.
    purpose
        One line for listings.
    """

    name: str
    text: str
    purpose: str


def _join(*stages: str) -> str:
    return ",".join(stages)


# TOSA (and elementwise arithmetic on whole tensors) to linalg; does nothing to what already is.
_TO_LINALG = _join(
    "func.func(tosa-optional-decompositions,tosa-infer-shapes,tosa-make-broadcastable,"
    "tosa-to-linalg-named,canonicalize,tosa-layerwise-constant-fold,tosa-make-broadcastable,"
    "tosa-to-linalg)",
    "tosa-to-arith",
    "tosa-to-tensor",
    "tosa-to-scf",
    "func.func(convert-elementwise-to-linalg)",
)

# One loop nest for a chain of elementwise operations. Matrix products stay named until the chains
# are fused: as generic operations they would swallow their neighbours.
_FUSE = _join(
    "canonicalize",
    "cse",
    "linalg-fuse-elementwise-ops",
    "linalg-fold-unit-extent-dims",
    "canonicalize",
    "linalg-fuse-elementwise-ops",
    "canonicalize",
    "cse",
)

# Dynamic sizes and indices that do not fit stop the call; without this they would read and write
# out of bounds. What is known statically costs nothing: it folds away.
_CHECK = _join("generate-runtime-verification", "canonicalize", "cse")

# Tensors to buffers. twinjit-tensor-abi settles ownership first; small temporaries go on the
# stack.
# A loop may carry a tensor that no iteration updates in place: each iteration then has its own.
_BUFFERISE = _join(
    "twinjit-tensor-abi",
    "eliminate-empty-tensors",
    "empty-tensor-to-alloc-tensor",
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "allow-return-allocs-from-loops=true "
    "function-boundary-type-conversion=identity-layout-map buffer-alignment=64}",
    "func.func(buffer-hoisting,buffer-loop-hoisting,"
    "promote-buffers-to-stack{max-alloc-size-in-bytes=16384 max-rank-of-allocated-memref=4})",
    "buffer-deallocation-pipeline",
    "convert-bufferization-to-memref",
    "canonicalize",
    "cse",
)

_LOOPS = _join(
    "twinjit-copies-to-loops",
    "linalg-generalize-named-ops",
    "twinjit-vectorisable-loops",
    "convert-linalg-to-loops",
)

# Everything below linalg, to the LLVM dialect.
_TO_LLVM = _join(
    "func.func(convert-vector-to-scf{full-unroll=true})",
    "fold-memref-alias-ops",
    "expand-strided-metadata",
    "lower-affine",
    "convert-complex-to-standard",
    "func.func(arith-expand)",
    "convert-math-to-funcs",
    "convert-scf-to-cf",
    "twinjit-assertions",
    "canonicalize",
    "cse",
    "twinjit-bool-buffers",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-complex-to-llvm",
    "convert-ub-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "canonicalize",
    "cse",
    "reconcile-unrealized-casts",
)


def _pipeline(name: str, purpose: str, *stages: str) -> tuple[str, Pipeline]:
    return name, Pipeline(name, f"builtin.module({_join(*stages)})", purpose)


NAMED_PIPELINES = MappingProxyType(
    dict(
        [
            _pipeline(
                "llvm",
                "programs already in the LLVM dialect: no pass but cast reconciliation",
                "reconcile-unrealized-casts",
            ),
            _pipeline(
                "std",
                "func, arith, math, complex, index, scf, cf, affine, memref and vector programs",
                _TO_LLVM,
            ),
            _pipeline(
                "linalg",
                "linalg, tensor and TOSA on tensors: fused, bufferised, vectorisable loops",
                _TO_LINALG,
                _FUSE,
                _CHECK,
                _BUFFERISE,
                _LOOPS,
                _TO_LLVM,
            ),
            _pipeline(
                "linalg-buffers",
                "linalg on memrefs alone, whose allocations the program frees itself",
                _LOOPS,
                _TO_LLVM,
            ),
        ]
    )
)
"""The pipelines that come with Twinjit, by name."""

_LLVM = frozenset({"builtin", "llvm"})
_STD = _LLVM | {
    "affine",
    "arith",
    "cf",
    "complex",
    "func",
    "index",
    "math",
    "memref",
    "scf",
    "ub",
    "vector",
}
_LINALG = _STD | {"bufferization", "linalg", "tensor", "tosa"}


def choose_pipeline(dialects: frozenset[str], *, uses_tensors: bool) -> Pipeline:
    """Return the named pipeline for a program.

    Parameters
    ----------
    dialects
        Namespaces of the dialects that occur in it.
    uses_tensors
        Whether any of its values is a tensor.

    Raises
    ------
    PipelineError
        If no named pipeline takes one of the dialects; the message names them.
    """
    if dialects <= _LLVM:
        return NAMED_PIPELINES["llvm"]
    if uses_tensors and dialects <= _LINALG:
        return NAMED_PIPELINES["linalg"]
    if dialects <= _STD:
        return NAMED_PIPELINES["std"]
    if dialects <= _LINALG:
        return NAMED_PIPELINES["linalg-buffers"]
    unknown = ", ".join(sorted(dialects - _LINALG))
    raise PipelineError(
        f"no named pipeline takes the dialects {unknown}: give one as pipeline='builtin.module(…)'"
    )


def naming_pipelines(error: PipelineError, given: str, names: Iterable[str]) -> PipelineError:
    """Name the pipelines that there are, if a text that does not parse may be meant for one.

    Parameters
    ----------
    error
        What was raised when MLIR read it.
    given
        The text.
    names
        Which names there are.
    """
    if not given.replace("-", "").isalnum():
        return error
    return PipelineError(
        f"{given!r} is none of the named pipelines ({', '.join(names)}), and otherwise "
        f"{error.message}",
        diagnostics=error.diagnostics,
    )
