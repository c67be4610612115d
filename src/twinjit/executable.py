"""Code that is loaded into this process, and its functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from twinjit import machine
from twinjit._native import _llvm
from twinjit.artifact import Artifact
from twinjit.constants import NO_CONSTANTS, Constants, LiftedConstant
from twinjit.errors import (
    ArtifactError,
    EntryNotFoundError,
    ExecutorError,
    ObservationWarning,
    SignatureError,
)
from twinjit.forks import held_off
from twinjit.key import Key
from twinjit.prototypes import NO_PROTOTYPES, Prototypes
from twinjit.report import Report
from twinjit.signature import Signature
from twinjit.symbols import NO_SYMBOLS, Symbols
from twinjit.warn import warn_of

__all__ = ["ARTIFACT_OBJECTS", "Executable", "LoadedCode", "code_of", "imported_by"]

# Bytes of objects beside what is linked and an artifact's sections, measured: what is read from the
# sections, the code itself, and each function with its signature.
ARTIFACT_OBJECTS = 6000
_CODE_OBJECTS = 6000
_FUNCTION_OBJECTS = 4000

# What MLIR's lowerings allocate with has no way to fail; LLVM IR means the C library's.
_GIVEN_TO_LLVM = {"malloc": _llvm.malloc_address()}


class LoadedCode:
    """An artifact linked into the process, shared by every `Executable` that came from it.

    Functions are made when first asked for. Memory is unmapped when nothing holds this object or a
    function of it.

    Parameters
    ----------
    artifact
        What to link.
    constants
        The program's large constants, where the code looks for them outside of its object. They are
        copied.
    symbols
        What it may refer to beside the process's symbols, before these. Their owners live as long
        as the code.
    is_stored
        Whether a store holds it.

    Attributes
    ----------
    pipeline : str
        Name of the pipeline that it was compiled with, or its text where it has no name.
    imported : int
        Functions of libraries that became part of it.
    opt_level : int
        LLVM's optimisation level that it was compiled at.
    content : bytes
        The digest of the key, and of the constants where there are any.
    identity : bytes
        The same, and the digest of the symbols where there are any.

    Raises
    ------
    ArtifactError
        If the artifact cannot be linked, lacks what a call needs, is for other constants, or (an
        `ArtifactMachineError`) for another machine.
    UnresolvedSymbolError
        If nothing in this process defines a function that the code calls.
    """

    def __init__(
        self,
        artifact: Artifact,
        constants: Constants = NO_CONSTANTS,
        symbols: Symbols = NO_SYMBOLS,
        *,
        is_stored: bool,
    ) -> None:
        machine.check_runs_here(artifact)
        self.artifact = artifact
        self.is_stored = is_stored
        self.pipeline = _pipeline_of(artifact)
        self.imported = imported_by(artifact)
        self.opt_level = _level_of(artifact)
        signatures = [Signature.from_json(data) for data in artifact.signatures]
        self.signatures: Mapping[str, Signature] = {each.name: each for each in signatures}
        object_code = artifact.object_code
        self.object_bytes = len(object_code)
        self.content = artifact.key_digest + constants.digest
        self.identity = self.content + symbols.digest
        self._image = _llvm.load(
            object_code,
            [each.name for each in signatures if each.slots],
            constants.bind(LiftedConstant.all_of(artifact)),
            artifact.key_digest,
            _given(artifact, symbols),
            list(self.signatures),
            symbols.owners,
        )
        if trouble := self._image.perf_trouble:
            warn_of(ObservationWarning, f"perf is not told of code from now on: {trouble}")
        self._functions: dict[str, _llvm.Function] = {}

    @property
    def size(self) -> int:
        """Bytes that this code takes: as pages, as an artifact, and as objects."""
        return self.pages + self.artifact.size + self.objects

    @property
    def objects(self) -> int:
        """Bytes of objects, about, once all functions were asked for."""
        functions = _FUNCTION_OBJECTS * len(self.signatures)
        return ARTIFACT_OBJECTS + _CODE_OBJECTS + functions

    @property
    def pages(self) -> int:
        """Bytes of the pages that it was linked into."""
        return self._image.size

    def function(self, name: str) -> _llvm.Function:
        """Return an entry point.

        Raises
        ------
        EntryNotFoundError
            If there is none of that name.
        SignatureError
            If there is, but Python cannot call it.
        """
        found = self._functions.get(name)
        if found is not None:
            return found
        # Threads that ask at once each make one; the first that is kept, all get.
        return self._functions.setdefault(name, self.make_function(self.signature(name)))

    def signature(self, name: str) -> Signature:
        """Return that of an entry point.

        Raises
        ------
        EntryNotFoundError
            If there is none of that name.
        """
        signature = self.signatures.get(name)
        if signature is None:
            known = ", ".join(self.signatures) or "none at all"
            raise EntryNotFoundError(f"the program has no public function {name!r}; it has {known}")
        return signature

    def make_function(self, signature: Signature) -> _llvm.Function:
        """Return an entry point that nobody else has, by its signature or a refined one.

        Raises
        ------
        SignatureError
            If Python cannot call it.
        """
        if signature.uncallable:
            raise SignatureError(
                f"{signature.name!r} cannot be called from Python: {signature.uncallable}"
            )
        return signature.bind(self._image)

    def address(self, name: str) -> int:
        """Return where C can call an entry point; see `Executable.address`."""
        signature = self.signature(name)
        if signature.convention:
            raise SignatureError(
                f"{name!r} has LLVM's calling convention {signature.convention}, which C does not "
                "know; have the program define a function that calls it"
            )
        address = self._image.exported(name)
        if not address:
            raise SignatureError(f"the code has no function {name!r} but for Python")
        return address

    def give_to(self, function: _llvm.Function) -> None:
        """Have a function of code with the same signatures run this code from its next call on.

        Raises
        ------
        ArtifactError
            If there is none of its name here.
        """
        function.replace_code(self._image)


class Executable:
    """A compiled program, ready to run.

    Its functions are attributes (``exe.main(x)``) and items (``exe["main"](x)``); a function whose
    name is one of this class's own attributes is an item only. Executables of one artifact share
    their functions, and are equal.

    Attributes
    ----------
    key : Key
        What the code was compiled from and how.
    report : Report
        Where this executable came from and what that cost.
    signatures : Mapping of str to Signature
        By function name, in the program's order.
    """

    __slots__ = ("__weakref__", "_loaded", "_own_functions", "_prototypes", "_refined", "_report")

    def __init__(
        self, code: LoadedCode, report: Report, prototypes: Prototypes = NO_PROTOTYPES
    ) -> None:
        self._loaded = code
        self._report = report
        self._prototypes = prototypes
        self._refined = prototypes.refine(code.signatures)  # in place of the code's own
        self._own_functions: dict[str, _llvm.Function] = {}  # that have such

    @property
    def report(self) -> Report:
        """Where this executable came from and what that cost."""
        return self._report

    @property
    def key(self) -> Key:
        """What the code was compiled from and how."""
        return self._code.artifact.key

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """The functions' signatures by name."""
        own = self._code.signatures
        return {**own, **self._refined} if self._refined else own

    @property
    def object_code(self) -> bytes:
        """The relocatable object file, as compiled."""
        return bytes(self._code.artifact.object_code)

    def __getitem__(self, name: str) -> _llvm.Function:
        return self._function(name)

    def __getattr__(self, name: str) -> _llvm.Function:
        if name.startswith("__"):  # protocol probes, such as copy's and NumPy's
            raise AttributeError(name)
        return self._function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._code.signatures)

    def __len__(self) -> int:
        return len(self._code.signatures)

    def __contains__(self, name: object) -> bool:
        return name in self._code.signatures

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._code.signatures]

    def __reduce__(self) -> NoReturn:
        raise ExecutorError(
            "an Executable is code in this process, and can neither be copied nor sent to another: "
            "have that compile the program, whose code it finds in a store that both use"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Executable)
            and self._code is other._code
            and self._prototypes == other._prototypes
        )

    def __hash__(self) -> int:
        return hash(id(self._code))

    @property
    def _code(self) -> LoadedCode:
        """The code that new calls run."""
        return self._loaded

    def address(self, name: str) -> int:
        """Return the address of a function, for C to call as the program defines it.

        It is good for as long as this executable, or one of its functions, is held.

        Raises
        ------
        EntryNotFoundError
            If there is no function of that name.
        SignatureError
            If it has another calling convention than C's.
        """
        return self._code.address(name)

    def ctypes(self, name: str) -> Any:
        """Return a function of ctypes, by the type given in `signatures` or else the program's.

        It keeps the code alive; pointers made from it do not.

        Raises
        ------
        EntryNotFoundError, SignatureError
            As `address` does; SignatureError also if ctypes has no type for a value, or a structure
            is passed by value.
        """
        with held_off():
            from twinjit.c_types import prototype_of
        code = self._code
        if any(each.is_by_value for each in code.signature(name).arguments):
            raise SignatureError(
                f"ctypes cannot call {name!r}: it takes structures by value (byval); call it as "
                "Python does, with pointers to them, or by its address"
            )
        given = self._prototypes.prototype(name)
        kind: Any = given.kind if given else None
        if kind is None:
            kind = prototype_of(self._refined.get(name) or code.signature(name))
        function = kind(code.address(name))
        function.twinjit_code = code  # ctypes' functions have room for it
        return function

    def _function(self, name: str) -> _llvm.Function:
        if name not in self._refined:
            return self._code.function(name)
        known = self._own_functions.get(name)
        if known is None:
            made = self._code.make_function(self._refined[name])
            known = self._own_functions.setdefault(name, made)
        return known

    def __repr__(self) -> str:
        functions = "; ".join(map(str, self.signatures.values()))
        return f"<twinjit.Executable {functions} [{self.report.tier}]>"


def code_of(executable: Executable) -> LoadedCode:
    """Return the code that an executable runs."""
    return executable._code


def _given(artifact: Artifact, symbols: Symbols) -> dict[str, int]:
    if artifact.report.get("language") != "llvm":
        return symbols.addresses
    return {**_GIVEN_TO_LLVM, **symbols.addresses}


def _pipeline_of(artifact: Artifact) -> str:
    name = artifact.report.get("pipeline")
    if not isinstance(name, str):
        raise ArtifactError("the artifact's report does not name its pipeline")
    return name


def _level_of(artifact: Artifact) -> int:
    level = artifact.report.get("opt_level")
    if level is None:  # of an earlier release
        level = next((int(text) for name, text in artifact.key.parts if name == "opt-level"), None)
    if type(level) is not int:
        raise ArtifactError("the artifact's report does not tell its level of optimisation")
    return level


def imported_by(artifact: Artifact) -> int:
    """Count the functions of libraries that became part of an artifact.

    Raises
    ------
    ArtifactError
        If it does not tell.
    """
    count = artifact.report.get("imported", 0)
    if type(count) is not int:
        raise ArtifactError("the artifact's report does not count what was imported")
    return count
