import twinjit._native._llvm
import twinjit.errors


def note_activity(page: object) -> None:
    """
    Note phases and passes on the page of a worker, given what ``_llvm.install_crash_handlers`` returned. Holds the GIL.
    """

def fingerprint(program: object, policy: str, domain: str = "", stop: twinjit._native._llvm.Stop | None = None) -> bytes:
    """
    Fingerprint (32 bytes) of a Program, or of a live module or operation, given its ``_CAPIPtr``, under a policy in canonical text. Releases the GIL unless the operation's context is a live one with multithreading disabled.
    """

def equivalent(a: object, b: object, policy: str) -> bool:
    """
    Whether two programs, as ``fingerprint`` takes them, are the same under a policy. Releases the GIL as that does.
    """

def constants(program: object, policy: str, stop: twinjit._native._llvm.Stop | None = None) -> list[tuple[str, bytes]]:
    """
    Types and contents of the large constants that do not count under a policy, in canonical order, of a program as ``fingerprint`` takes it. Releases the GIL as that does.
    """

def outline(program: object, policy: str) -> list[tuple[int, str, str, str, str, bytes, tuple[tuple[str, bytes, str, tuple[int, ...]], ...], tuple[tuple[int, str], ...]]]:
    """
    What counts in a program under a policy, as plain tuples of ``Record`` and ``Field``. Releases the GIL as ``fingerprint`` does while it reads the program.
    """

def upstream_hash(program: object) -> int:
    """
    MLIR's own hash of each operation, combined, to measure against. Holds the GIL.
    """

def upstream_equivalent(a: object, b: object) -> bool:
    """
    MLIR's own comparison of two operations of one context, to test against. Holds the GIL.
    """

def run_passes(capsule: object, pipeline: str, stop: twinjit._native._llvm.Stop) -> tuple[twinjit.errors.Diagnostic, ...]:
    """
    Run a pass pipeline over a live module, given its ``_CAPIPtr``, and return what the passes said. Releases the GIL but for the beginning.
    """

def identify_pipeline(text: str) -> tuple[str, bool, str, dict[str, str]]:
    """
    Canonical text of a pass pipeline; whether it names registered pipelines, so that the text itself counts too; the pass in it that reads files, if any; and the build identities, by path, of the libraries its passes come from, other than MLIR's and ours. Holds the GIL.
    """

def pool_stats() -> dict[str, int]:
    """
    Private contexts: how many are ``idle`` and ``leased``; ``idle_bytes`` of memory in the former, and ``leased_bytes`` that the latter had when they were taken, as measured; and since the process began, how many were ``made``, and how many were not kept since they were used often (``recycled_by_uses``), had grown (``recycled_by_growth``), were ``tainted`` by a program's names, or were ``surplus``. Holds the GIL.
    """

def release_contexts(gives_back: bool = True) -> None:
    """
    Drop the idle private contexts, and return freed memory to the system unless told not to. Releases the GIL.
    """

def parse(source: bytes, name: str, allow_unregistered: bool = False, stop: twinjit._native._llvm.Stop | None = None) -> Program:
    """Parse and verify MLIR text or bytecode. Releases the GIL."""

def parse_foreign(source: bytes, name: str, stop: twinjit._native._llvm.Stop | None = None) -> Program:
    """
    Parse and verify generic MLIR text that another build of MLIR printed, taking unregistered operations, and keeping properties that operations here do not have. Releases the GIL.
    """

def transfer(capsule: object, stop: twinjit._native._llvm.Stop | None = None) -> Program:
    """
    Copy a live module or operation into a private context. Releases the GIL as ``fingerprint`` does.
    """

def write(capsule: object) -> bytes:
    """
    Write a live module or operation as bytecode for ``read_written``, with all locations. Releases the GIL as ``fingerprint`` does.
    """

def read_written(bytecode: bytes) -> Program:
    """
    Read, in this process or another, what ``write`` wrote. Releases the GIL.
    """

class Program:
    """A program in a private context, used by one thread at a time."""

    def dialects(self) -> list[str]:
        """Namespaces of the dialects that occur, sorted."""

    def unknown(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """
        What no dialect here knows: names of operations; namespaces of attributes and types; properties, as ``operation property``, that ``parse_foreign`` has kept; and those attributes and types that refer to something their text does not hold. Releases the GIL.
        """

    def uses_tensors(self) -> bool:
        """Whether any value is a tensor."""

    def signatures(self) -> list[dict[str, object]]:
        """Parameters and results of the functions that callers may enter."""

    def declarations(self) -> list[str]:
        """
        Symbols of the functions that the program calls and leaves to others to define. Releases the GIL.
        """

    def normalise(self, policy: str, stop: twinjit._native._llvm.Stop | None = None) -> list[tuple[str, str, int, int, str]]:
        """
        Bring the program to the form that it shares with all that are the same under a policy. Returns the large constants that became external variables, in canonical order: the variable's name, the elements' type, size and alignment in bytes, and the function they are in. Releases the GIL.
        """

    def bytecode(self, policy: str) -> bytes:
        """
        The program as bytecode. It loses the locations that do not count under a policy. Releases the GIL.
        """

    def lower(self, pipeline: str, trusted: bool, stop: twinjit._native._llvm.Stop | None = None) -> tuple[bytes, float, float]:
        """
        Run a pass pipeline and translate to bitcode; consumes the program, and unless the pipeline is trusted to leave nothing behind, its context. Returns the bitcode and the seconds spent in passes and in translation. Releases the GIL.
        """
