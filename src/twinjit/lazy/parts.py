"""From a lazy function's part of a module to its artifact, and to code in this process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from twinjit import machine
from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.build import BuildOptions
from twinjit.engine import Engine
from twinjit.errors import UnfingerprintableError
from twinjit.key import Key
from twinjit.once import Once
from twinjit.report import Clock, Tier
from twinjit.request import RequestHasher
from twinjit.signature import Signature, Value
from twinjit.source import SourceBytes

__all__ = ["LazyCode", "PartCompiler", "link_privately", "signature_of_type"]

FUNCTION: str = _llvm.FUNCTION
"""What a part calls the function that it is of."""

_DTYPES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_INTEGERS = ("i1", "i8", "i16", "i32", "i64")


@dataclass(frozen=True)
class LazyCode:
    """A function's code, linked to what it refers to.

    Attributes
    ----------
    image
        Where it is.
    signature
        What a call must pass; its name is the part's.
    key_digest
        Of the part.
    tier
        Where the artifact came from.
    object_bytes
        Size of the object code.
    """

    image: _llvm.Image
    signature: Signature
    key_digest: bytes
    tier: Tier
    object_bytes: int

    @property
    def address(self) -> int:
        """Of the function, as compiled code calls it."""
        return self.image.exported(FUNCTION)

    def bind(self, name: str, signature: Signature, keeps: object) -> _llvm.Function:
        """Make the function callable from Python, under its own name.

        Raises
        ------
        ArtifactError
            If the code is not what the signature describes.
        """
        described = replace(signature, name=name, slots=self.signature.slots)
        return _llvm.Function(self.image, *described._native_description(), keeps, FUNCTION)


class PartCompiler:
    """Looks parts up by keys of their own in the tiers of a compiler, and compiles what is new.

    Artifacts are kept as they are, since each module links them to cells of its own.

    Parameters
    ----------
    engine
        Of the compiler.
    """

    def __init__(self, engine: Engine) -> None:
        options = engine.options
        self._options = options
        self._tiers = engine.tiers
        self._index = engine.index
        self._count = engine.count_part
        self._hasher = RequestHasher([("lazy-part", "1"), *options.parts])
        self._once = Once()

    def find(self, bitcode: bytes, type_: str, clock: Clock) -> tuple[Artifact, Tier]:
        """Return the artifact of a part, compiling it if it is new.

        Raises
        ------
        CompilationError
            Or one of its subclasses, for one that cannot be compiled.
        """
        found = self._find(bitcode, type_, clock)
        self._count(found[1])
        return found

    def _find(self, bitcode: bytes, type_: str, clock: Clock) -> tuple[Artifact, Tier]:
        request = self._hasher.of_source(SourceBytes(bitcode, "<lazy function>", "llvm"))
        known = self._index.fetch(request)
        found = self._tiers.find_artifact(known) if known else None
        if found is not None:
            return found
        module = _llvm.parse_module(bitcode, "<lazy function>")
        try:
            fingerprint = module.fingerprint(self._options.policy.text)
        except UnfingerprintableError:
            key = Key((("llvm-part", b""), *self._options.parts))
            return self._build(bitcode, type_, key, clock), "compiled"
        clock.lap("fingerprint")
        key = Key((("llvm-part", fingerprint), *self._options.parts))
        with self._once.turn(key.digest):
            found = self._tiers.find_artifact(key.digest)
            if found is None:
                artifact = self._build(bitcode, type_, key, clock)
                self._tiers.keep_artifact(artifact)
                found = artifact, "compiled"
        self._index.remember(request, key.digest)
        self._index.publish(request, key.digest)
        return found

    def link(self, artifact: Artifact, tier: Tier, given: Mapping[str, int]) -> LazyCode:
        """Link a part's artifact.

        Raises
        ------
        UnresolvedSymbolError
            If nobody defines what it refers to.
        ArtifactError
            If it cannot be linked here.
        """
        machine.check_runs_here(artifact)
        signature = Signature.from_json(artifact.signatures[0])
        entries = [FUNCTION] if signature.slots else []
        object_code = artifact.object_code
        image = _llvm.load(
            object_code, entries, (), artifact.key_digest, dict(given), exports=[FUNCTION]
        )
        return LazyCode(image, signature, artifact.key_digest, tier, len(object_code))

    def _build(self, bitcode: bytes, type_: str, key: Key, clock: Clock) -> Artifact:
        signature = signature_of_type(type_)
        entries = [] if signature.uncallable else [FUNCTION]
        target = self._options.target
        object_code, slots, optimise, codegen = _llvm.emit(
            bitcode,
            entries,
            target.triple,
            target.cpu,
            target.features,
            self._options.opt_level,
        )
        if entries:
            signature = signature.with_convention(slots[FUNCTION])
        clock.split({"optimise": optimise, "codegen": codegen})
        return Artifact.build(
            key=key,
            object_code=object_code,
            signatures=[signature.to_json()],
            report={"pipeline": "llvm", "phases": dict(clock.phases)},
            target=machine.to_section(target),
        )


def link_privately(
    bitcode: bytes, given: Mapping[str, int], exports: Sequence[str], options: BuildOptions
) -> _llvm.Image:
    """Compile and link what belongs to one module alone: its variables, or a public stub.

    Raises
    ------
    CompilationError
        If it cannot be compiled.
    """
    target = options.target
    object_code, *_ = _llvm.emit(bitcode, [], target.triple, target.cpu, target.features, 1)
    return _llvm.load(object_code, [], given=dict(given), exports=list(exports))


def signature_of_type(type_: str) -> Signature:
    """Tell from a function's type what Python passes."""
    matched = re.fullmatch(r"(?:cc \d+ )?(\S+) \(([^()<>{}\[\]]*)\)", type_)
    if not matched:
        return Signature(FUNCTION, uncallable=f"its type is {type_}")
    result, parameters = matched.groups()
    arguments = tuple(_value(each) for each in parameters.split(", ") if each)
    results = () if result == "void" else (_value(result),)
    unknown = next((each for each in (*arguments, *results) if each.kind == "unsupported"), None)
    why = f"Python cannot pass a value of type {unknown.text}" if unknown else ""
    return Signature(FUNCTION, arguments, results, why)


def _value(type_: str) -> Value:
    if type_ == "ptr":
        return Value("pointer", "ptr", type_)
    if type_ in _INTEGERS or type_ in _DTYPES:
        return Value("scalar", _DTYPES.get(type_, type_), type_)
    return Value("unsupported", "", type_)
