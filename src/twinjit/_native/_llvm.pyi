from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn


class Stop:
    """A wish that work end early. Any thread may ask for it. Holds the GIL."""

    def __init__(self, deadline: float = float('inf')) -> None:
        """
        With the time of ``time.monotonic()`` at which it comes true by itself.
        """

    def cancel(self) -> None:
        """Ask for it."""

    @property
    def is_requested(self) -> bool:
        """Whether work is to end."""

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, not less than 0; None without one."""

    def check(self) -> None:
        """
        Raise CompilationCancelledError or CompilationTimeoutError where work is to end.
        """

LLVM_VERSION: str = '22.1.8'

def host_target() -> tuple[str, str, str]:
    """
    Triple, CPU and features (``+a,+b,-c,…``: what it has, what it lacks) of this process. Holds the GIL.
    """

def toolchain() -> list[tuple[str, str, str]]:
    """
    Name, path and build identity of each library that makes code. Reads files; holds the GIL.
    """

def plain_triple() -> str:
    """
    The triple of all machines of this architecture, system and ABI. Holds the GIL.
    """

def instruction_sets(triple: str, cpu: str, features: str) -> list[str]:
    """
    The instruction sets that code for a target may use, sorted, without tuning flags. Holds the GIL.
    """

def why_not_here(triple: str, instruction_sets: Sequence[str]) -> str:
    """
    Why code of a triple that uses these instruction sets cannot run in this process; empty where it can. Holds the GIL.
    """

def emit(bitcode: bytes, entries: Sequence[str], triple: str, cpu: str, features: str, opt_level: int, stop: Stop | None = None) -> tuple[bytes, dict[str, tuple[int, int]], float, float]:
    """
    Optimise bitcode and generate an object file. Returns the object, the slots of each entry's arguments and results, and the seconds spent optimising and generating. Releases the GIL.
    """

class Image:
    """
    Object code linked into this process; unmapped with its last reference.
    """

    @property
    def size(self) -> int:
        """Mapped memory in bytes."""

    @property
    def perf_trouble(self) -> str:
        """What went wrong when perf was told of the code; empty for nothing."""

    @property
    def can_fail(self) -> bool:
        """Whether the code can stop a call, by a failed assertion or allocation."""

    def contains(self, address: int) -> bool:
        """Whether an address lies in this image."""

    def address(self, entry: str) -> int:
        """
        Address of an entry's ``void(uint64_t *slots)`` function; 0 when unknown.
        """

    def exported(self, name: str) -> int:
        """
        Address of what the program defines by a name, as its own code has it; 0 where ``load`` was not told to find it, or there is none.
        """

def load(object: bytes | memoryview, entries: Sequence[str], constants: Sequence[tuple[str, bytes, int]] = (), digest: bytes = b"", given: dict[str, int] = {}, exports: Sequence[str] = (), owners: tuple[object, ...] = ()) -> Image:
    """
    Link an object file into the process, and to copies of constants that it refers to: the symbol of each, its content, and its alignment, a power of 2 up to 4096. Profiles name functions NAME@DIGITS, by the beginning of the digest, where there is one. ``given`` has addresses of symbols, which come before all others; ``exports`` what the program defines and the image is to find; ``owners`` live as long as the image. Releases the GIL.
    """

def malloc_address() -> int:
    """Address of the C library's ``malloc``. Holds the GIL."""

def tell_profilers(perf_map: bool, jit_dump: bool, gdb: bool, jit_dump_base: bytes) -> None:
    """
    Tell perf (by /tmp/perf-PID.map, by a file below a directory) or gdb of all code that is loaded from now on. Holds the GIL.
    """

def code_memory() -> tuple[int, int, int, list[tuple[int, int]]]:
    """
    Of all images and constants of the process: bytes of pages, how many have some, holes between them; and first and last address of each range where they may be. Holds the GIL.
    """

def hold_work(seconds: float) -> None:
    """
    Hold back new compiler work of other threads, and wait for what is under way, not longer than so many seconds. Nothing where this thread has done so already. Releases the GIL.
    """

def resume_work() -> None:
    """Undo ``hold_work`` of this thread. Holds the GIL."""

def begin_import() -> None:
    """
    Hold forks off until ``end_import``. Raises ForkError where one came between an import and its end. Releases the GIL while it waits for a fork.
    """

def end_import() -> None:
    """End what ``begin_import`` began. Holds the GIL."""

def install_crash_handlers(fd: int) -> object:
    """
    Map the page of a descriptor, and have all that ends this process noted there; once in a process. Returns what ``_mlir.note_activity`` takes. Raises OSError.
    """

def read_crash_page(data: bytes) -> tuple[bytes, bytes, int, bool, bool]:
    """
    What is noted on a page: phase, pass, signal, whether a stack had no more room, whether memory had run out.
    """

CRASH_PAGE_BYTES: int = 200

def note_phase(phase: str) -> None:
    """Note that a phase begins, where this is a worker."""

def end_out_of_memory() -> NoReturn:
    """Note that memory has run out, and end the process at once."""

def overflow_deep_stack(bytes: int) -> None:
    """
    Use up the stack that LLVM's readers run on, to try what is told of it: no input is known that does.
    """

def program_name(symbol: str) -> str:
    """
    What a program calls the function of a symbol in its object. Holds the GIL.
    """

def compare_objects(a: bytes | memoryview, b: bytes | memoryview) -> tuple[str, str, str, int] | None:
    """
    Where two object files differ first, code and data before all else: 'machine', 'sections', 'content', 'relocations', 'symbols' or 'layout'; the section and the symbol of the function, or empty; and the offset in the section. None where all bytes are equal. Releases the GIL.
    """

def disassemble(object: bytes | memoryview, triple: str, cpu: str, features: str, section: str, function: str, offset: int, lines: int) -> list[str]:
    """
    At most so many lines around an offset in a section: instructions of the function of a symbol, or bytes where there is none such. Releases the GIL.
    """

class Function:
    """
    A compiled function, callable from any thread: ``f(*args, out=None)``.

    Parameters
    ----------
    image
        The ``Image`` that has the code; kept alive.
    name
        An entry given to ``load``, or what to call it in messages.
    arguments, results
        Sequences of mappings with the keys that ``Program.signatures()`` gives: ``kind``, ``dtype``,
        ``shape``, ``strides``, ``offset``, ``text``, ``read_only``.
    slots
        What ``emit`` returned for the entry: the slots that its arguments and results take.
    keeps
        Kept alive as well: what the image is linked to.
    entry
        The entry given to ``load``, where that is not ``name``.

    Raises
    ------
    ArtifactError
        The description is malformed, or not that of the code.

    A tensor result whose shape is static is an out-parameter, which the code takes as a row-major
    memref after its arguments, unless ``slots`` says that it is returned like every other result.
    """
    def __init__(self, image: Image, name: str, arguments: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]], slots: tuple[int, int] | None, keeps: object = None, entry: str | None = None) -> None: ...

    def __call__(self, *args: object, out: object = None) -> Any: ...

    @property
    def __name__(self) -> str: ...

    @property
    def signature(self) -> str:
        """Name, arguments and results, in MLIR's types."""

    @property
    def address(self) -> int:
        """Address of its ``void(uint64_t *slots)`` entry."""

    def count_calls(self, calls: int, callback: Callable[[], object], /) -> None:
        """
        Call back, once and without arguments, before the last of so many calls from now on. What the callback raises is unraisable; it must not hold the function, which would leak.
        """

    def replace_code(self, image: Image, /) -> None:
        """
        Have later calls run the entry of another image, whose code takes and gives the same. The former code lives as long as the function. Raises ArtifactError where there is none.
        """

def check_convention(name: str, arguments: Sequence[object], results: Sequence[object], slots: tuple[int, int] | None) -> str:
    """
    Why ``Function`` would refuse a description (its parameters are the same); empty where it would not. Holds the GIL.
    """

class Module:
    """
    An LLVM module in a context of its own. Any number of threads may use it; they take turns.
    """

    def fingerprint(self, policy: str, domain: str = '') -> bytes:
        """
        32 bytes, under the canonical text of a policy. Fingerprints of different domains differ. Releases the GIL.
        """

    def equivalent(self, other: Module, policy: str) -> bool:
        """
        Whether both are the same program under a policy; trusts no hash. Releases the GIL.
        """

    def outline(self, policy: str) -> list[tuple[int, str, str, str, str, bytes, tuple[tuple[str, bytes, str, tuple[int, ...]], ...], tuple[tuple[int, str], ...]]]:
        """
        What counts under a policy, as plain tuples of ``Record`` and ``Field``. Releases the GIL while it reads the module.
        """

    def constants(self, policy: str) -> list[tuple[str, bytes]]:
        """
        Type and bytes of the large constants that a policy takes for parameters, in canonical order. Releases the GIL.
        """

    def normalise(self, policy: str) -> list[tuple[str, str, int, int]]:
        """
        Bring the module to the form that it shares with all that are the same under a policy, to be compiled. Returns the large constants that became external variables, in canonical order: name, type, size and alignment in bytes. Releases the GIL.
        """

    def signatures(self) -> list[dict[str, object]]:
        """
        Parameters and results of the functions that a normalised module defines for others. Releases the GIL.
        """

    def declarations(self) -> list[str]:
        """
        Names of the functions and variables that the module uses and leaves to others to define, as far as they are UTF-8. Releases the GIL.
        """

    def bitcode(self) -> bytes:
        """The module as bitcode of this LLVM. Releases the GIL."""

    def __str__(self) -> str:
        """The module as LLVM prints it. Releases the GIL."""

def parse_module(source: bytes, name: str) -> Module:
    """Parse and verify LLVM IR text or bitcode. Releases the GIL."""

FUNCTION: str = 'lazy function'

class Cells:
    """
    Through which compiled code calls functions that may not be compiled yet. Holds the GIL.
    """

    def __init__(self, resolver: Callable[[int], int]) -> None:
        """
        With what is asked for the address of the function of a cell, by its index, when it is called and has none. What it raises is raised to the Python code that called, or noted where there is none. It must not refer to the cells.
        """

    def __len__(self) -> int: ...

    def add(self) -> int:
        """Make a cell; return its index."""

    def address(self, index: int) -> int:
        """Address of a cell itself, which code is linked to."""

    def target(self, index: int) -> int:
        """Address of a cell's function; 0 where it has none yet."""

    def swap(self, index: int, target: int) -> int:
        """
        Have callers go to another address from now on, or ask for one where it is 0; return that until now. Threads may be inside the old code for as long as they like.
        """

class Split:
    """
    A module whose functions are compiled one by one. Its parts are bitcode, and links: the symbol, ``"cell"``, ``"address"`` or ``"data"``, and the name in the whole module. Any number of threads may use one; they take turns.
    """

    def functions(self) -> list[tuple[str, str, bool, bool]]:
        """
        Name, type with the calling convention, whether it is defined, and whether it is public, of each function. Releases the GIL.
        """

    def outside(self, name: str) -> list[str]:
        """
        Functions that a function's part needs and the module does not define. Releases the GIL.
        """

    def extract(self, name: str, lazy: Sequence[str]) -> tuple[bytes, list[tuple[str, str, str]]]:
        """
        The part of a function, which it calls ``FUNCTION``. ``lazy``: which of those outside are lazy, too. Releases the GIL.
        """

    def public_stub(self, name: str) -> tuple[bytes, list[tuple[str, str, str]]]:
        """
        The part that has a function's stub alone, called ``FUNCTION``. Releases the GIL.
        """

    def data(self, lazy: Sequence[str]) -> tuple[bytes, list[tuple[str, str, str]], dict[str, str]]:
        """
        The part that has the variables, and the symbols of these by their names. Releases the GIL.
        """

def split(source: bytes, name: str) -> Split:
    """
    Parse LLVM IR text or bitcode to be compiled function by function. Releases the GIL.
    """

def program_symbol(name: str) -> str:
    """
    The symbol of what an MLIR program defines by a name, once lowered. Holds the GIL.
    """

def take_native_error() -> BaseException | None:
    """
    The last error of a lazy function in this thread that no Python code could be told. Holds the GIL.
    """

class BitcodeFiles:
    """Files of bitcode to open a library of. Used by one thread at a time."""

    def __init__(self) -> None: ...

    def add(self, name: str, data: bytes) -> None:
        """Copy the bytes of a file. Holds the GIL."""

    def identity(self) -> bytes:
        """Digest of all bytes, in order. Holds the GIL."""

def summarised_modules(index: bytes) -> list[str]:
    """
    Paths of the modules that a ThinLTO summary index is about, sorted. Releases the GIL.
    """

class Library:
    """
    Bitcode whose functions can become part of programs. Any number of threads may use one. All release the GIL.
    """

    def __init__(self, files: BitcodeFiles, summary: bytes | None, policy: tuple[float, float, float] | None, context_bytes: int) -> None:
        """
        Take files, leaving none there. `policy` has the most instructions, the decay, and the bytes of constants that cost as much as an instruction; None to copy all that is reachable.
        """

    def functions(self) -> list[str]:
        """The functions that are defined for others, sorted."""

    def explain(self, names: list[str]) -> list[tuple[str, int, str | None, float, float, int, int, int, str]]:
        """
        Decisions, nearest first: name; number of the caller's, or -1; file, None where there is none; limit and cost in instructions; instructions; bytes of constants; number of functions and constants that come along; why it is not imported, or empty.
        """

    def digest(self, names: list[str]) -> bytes | None:
        """
        Digest of all that can be imported for these names; None where none is defined.
        """

    def externals(self, names: list[str]) -> list[str]:
        """
        What programs declare that import these names, and the library does not define.
        """

    def import_into(self, bitcode: bytes, names: list[str], triple: str, imported: list[str]) -> tuple[bytes, list[str], list[str]]:
        """
        Import functions into a program that has got what `imported` names of other libraries; return its bitcode, and which functions and variables were imported.
        """

    def open_all(self) -> int:
        """
        Read the symbols of all modules, to measure that; return how many there are.
        """

    def module_digests(self) -> list[tuple[str, bytes]]:
        """
        The library's modules as they are in all contexts that nobody uses now, read in full: names, and digests of what LLVM prints, to see that they do not change.
        """

class ImportComparison:
    """
    Ways to have a library's function in a program, to measure. Used by one thread at a time.
    """

    def __init__(self, library: Library) -> None: ...

    def sample(self, way: str, name: str) -> tuple[float, str]:
        """
        Import a function into an empty program in the way ``ours``, ``reload`` or ``clone``; return the seconds, and the program as text. Releases the GIL.
        """
