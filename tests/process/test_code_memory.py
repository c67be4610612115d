"""Memory of linked code in children, and where the system gives no more of it."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
from random import Random

import pytest

import twinjit
from tests.images import addresses, load, object_code, program, protection
from tests.process.test_forks import fork, status_of, threads
from twinjit._native import _llvm
from twinjit.executable import LoadedCode

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def run(script: str, *arguments: str) -> str:
    """Run a script in a new process and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.strip()


def compiled(number: int) -> twinjit.Executable:
    compiler = twinjit.Compiler(cache=False, shared=False, opt_level=1)
    return compiler.compile(program(number))


def test_child_frees_and_links_by_itself():
    inherited = [compiled(number) for number in range(4)]
    assert [each.next() for each in inherited] == [0, 1, 2, 3]
    where = addresses(inherited[0])

    def work() -> None:
        assert [each.next() for each in inherited] == [1, 2, 3, 4]
        inherited.pop(0)
        gc.collect()
        assert protection(where["code"]) == "---"
        images = [load() for _ in range(500)]
        assert len({image.address("next") for image in images}) == 500
        assert compiled(9).next() == 9
        assert inherited[0].next() == 3

    assert status_of(fork(work)) == 0
    assert protection(where["code"]) == "r-x"
    assert [each.next() for each in inherited] == [1, 2, 3, 4]  # variables are each process's own


def test_children_are_whole_whatever_threads_link_and_free():
    artifact = compiled(3)._code.artifact

    def come_and_go(seed: int) -> None:
        random, kept = Random(seed), []
        for _ in range(20):
            kept.append(LoadedCode(artifact, is_stored=False))
            if random.random() < 0.5:
                kept.pop(random.randrange(len(kept)))
        assert {code.function("next")() for code in kept} <= {3}

    with threads(come_and_go, 3):
        for number in range(30):
            assert status_of(fork(lambda: come_and_go(-number))) == 0  # noqa: B023
    come_and_go(1)


def test_no_address_space_is_one_clear_error(tmp_path):
    script = """
    import re, resource, sys, warnings
    import twinjit
    from tests.images import load, program
    large = program(variables=1 << 27)  # 1 GiB
    compiler = twinjit.Compiler(cache=sys.argv[1], shared=False)
    compiler.compile(large)
    compiler.clear_memory()
    small = load()
    size = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (400 << 20), most))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            compiler.compile(large)
        except twinjit.errors.ArtifactUnavailableError as error:
            print(error)
    print(*(each.category.__name__ for each in told))
    print(load().size == small.size)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    print(compiler.compile(large).report.tier)
    """
    error, warned, loads, tier = run(script, str(tmp_path)).splitlines()
    assert error.startswith("no memory for code: Cannot allocate memory; let go of")
    assert warned == "CacheWarning"
    assert loads == "True"
    assert tier == "disk"  # the entry is whole, and stays


def test_small_limit_leaves_small_images(tmp_path):
    script = """
    import re, resource, sys
    from tests.images import FUNCTIONS
    from twinjit._native import _llvm
    code = open(sys.argv[1], "rb").read()
    size = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20), -1))  # not a whole arena
    images = [_llvm.load(code, FUNCTIONS) for _ in range(100)]
    print(len({image.address("next") for image in images}), len(_llvm.code_memory()[3]))
    images.clear()
    print(_llvm.code_memory()[0], len(_llvm.code_memory()[3]))
    """
    path = tmp_path / "object"
    path.write_bytes(object_code())
    assert run(script, str(path)).splitlines() == ["100 100", "0 0"]


def test_no_more_mappings_are_one_clear_error():
    script = """
    import ctypes, mmap
    import twinjit
    from tests.images import load, maps, object_code
    object_code()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    limit = int(open("/proc/sys/vm/max_map_count").read())
    size = (limit + 10) * 4096
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
    begin = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, flags, -1, 0)
    for page in range(0, limit + 10, 2):
        address = ctypes.c_void_p(begin + page * 4096)
        if libc.mprotect(address, ctypes.c_size_t(4096), 0) != 0:
            break
    try:
        load()
    except twinjit.errors.ArtifactUnavailableError as error:
        print(error)
    libc.munmap(ctypes.c_void_p(begin), ctypes.c_size_t(size))
    print(load().size)
    """
    error, size = run(script).splitlines()
    assert error.startswith("no memory for code: Cannot allocate memory; let go of")
    assert size == str(3 * 4096)


def test_freed_images_do_not_stay_in_memory():
    before = _llvm.code_memory()[0]
    images = [load() for _ in range(100)]
    assert _llvm.code_memory()[0] == before + sum(image.size for image in images)
    images.clear()
    assert _llvm.code_memory()[0] == before


def test_refused_pages_reserve_nothing():
    """Address space is there, but no memory to write to."""
    script = """
    import re, resource
    import twinjit
    from tests.images import load, maps, object_code
    variables = 3 << 17  # 3 MiB, which share an arena
    object_code(variables)
    size = int(re.search(r"VmData:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    load()
    before = maps()
    resource.setrlimit(resource.RLIMIT_DATA, (size + (2 << 20), most))
    errors = set()
    for _ in range(50):
        try:
            load(variables)
        except twinjit.errors.ArtifactUnavailableError as error:
            errors.add(str(error))
    print(*errors, sep="|")
    print(len(twinjit._native._llvm.code_memory()[3]), maps() - before < 5)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    print(load(variables).size > 3 << 20)
    """
    error, left, loads = run(script).splitlines()
    assert error.startswith("no memory for code: Cannot allocate memory; let go of")
    assert "ulimit -v or -d" in error
    assert (left, loads) == ("1 True", "True")


def test_variables_begin_anew_in_locked_memory():
    """The kernel does not empty pages then."""
    script = """
    import ctypes
    from tests.images import program
    from twinjit import Compiler
    from twinjit.executable import LoadedCode
    artifact = Compiler(cache=False, shared=False, opt_level=1).compile(program(7))._code.artifact
    if ctypes.CDLL(None).mlockall(3) != 0:  # now and later
        print("no right")
        raise SystemExit
    codes = [LoadedCode(artifact, is_stored=False) for _ in range(6_000)]
    assert {each.function("next")() for each in codes} == {7}
    codes[::2] = [None] * 3_000  # more holes than there may be
    codes = [codes, [LoadedCode(artifact, is_stored=False) for _ in range(4_000)]]
    print({each.function("next")() for each in codes[1]})
    """
    told = run(script).splitlines()
    if told == ["no right"]:
        pytest.skip("no right to lock memory")
    assert told == ["{7}"]
