"""Memory of linked code: few mappings, protected, given back, and whole whatever comes and goes."""

from __future__ import annotations

import gc
import threading
from random import Random

import numpy as np
import pytest

import twinjit
from tests.images import addresses, load, maps, object_code, program, protection
from tests.nightly import rounds
from twinjit import Policy, Settings
from twinjit._native import _llvm
from twinjit.executable import LoadedCode

HOLES = 4096  # FreePages::kMaxHoles


@pytest.fixture(autouse=True)
def without_garbage():
    gc.collect()  # images that other tests let go of


def in_use() -> int:
    return _llvm.code_memory()[0]


def holes() -> int:
    return _llvm.code_memory()[2]


def arenas() -> int:
    return len(_llvm.code_memory()[3])


def compiler(**settings: int) -> twinjit.Compiler:
    return twinjit.Compiler(
        cache=False, shared=False, opt_level=1, settings=Settings.load(**settings)
    )


def test_pages_are_protected_by_what_they_hold():
    executable = compiler().compile(program(5))
    where = addresses(executable)
    assert {name: protection(where[name]) for name in where} == {
        "code": "r-x",
        "table": "r--",
        "variables": "rw-",
    }
    assert [executable.next() for _ in range(3)] == [5, 6, 7]
    assert [executable.entry(i) for i in range(4)] == [5, 11, 22, 33]


def test_images_of_which_many_live_share_mappings():
    load()
    before, count = maps(), rounds(3_000, 30_000)
    images = [load() for _ in range(count)]
    assert len({image.address("next") for image in images}) == count
    assert maps() - before < count / 50
    images.clear()
    assert maps() - before < 10


def test_more_images_live_than_a_process_may_have_mappings():
    text = "func.func @f(%x: i64) -> i64 { return %x : i64 }"
    code = compiler().compile(text).object_code
    before, count = maps(), rounds(30_000, 100_000)
    images = [_llvm.load(code, ["f"]) for _ in range(count)]
    assert len({image.address("f") for image in images}) == count
    assert maps() - before < 100


def test_memory_goes_with_the_last_reference():
    unused = in_use()
    executable = compiler().compile(program())
    where = addresses(executable)
    function = executable.next
    size = in_use() - unused
    assert size >= 3 * 4096
    del executable
    gc.collect()
    assert in_use() - unused == size
    assert function() == 1
    del function
    gc.collect()
    assert in_use() == unused
    assert [protection(address) for address in where.values()] == ["---"] * 3


def test_evicted_code_stays_while_someone_holds_it():
    small = compiler(memory_max_bytes=100_000)
    held = small.compile(program(1000))
    where = addresses(held)
    of_others = small.memory().code_held
    for number in range(20):
        assert small.compile(program(number)).next() == number
    assert small.memory().code_held == of_others + held._code.pages
    assert held.next() == 1000
    del held
    gc.collect()
    assert small.memory().code_held == of_others
    assert [protection(address) for address in where.values()] == ["---"] * 3


def test_what_is_counted_is_what_is_mapped():
    one = compiler()
    unused = in_use()
    kept = [one.compile(program(number)) for number in range(20)]
    assert sum(each._code.pages for each in kept) == in_use() - unused == one.memory().code
    assert one.stats()["code_bytes"] > in_use() - unused
    other = compiler()
    other.compile(program())
    assert one.memory().code_elsewhere >= other.memory().code == 3 * 4096


def test_holes_in_mappings_are_bounded_and_heal():
    load()
    before, holes_before = maps(), holes()
    images: list[_llvm.Image | None] = [load() for _ in range(3 * HOLES)]
    images[::2] = [None] * len(images[::2])
    assert holes() <= HOLES
    assert maps() - before <= 2 * HOLES + 50
    half = in_use()
    for index in range(0, len(images), 2):
        images[index] = load()
    assert in_use() > half
    assert holes() < holes_before + 50
    Random(1).shuffle(images)
    while images:
        images.pop()
    assert maps() - before < 20
    assert holes() < holes_before + 10


def test_variables_begin_anew_in_pages_that_others_had():
    artifact = compiler().compile(program(7))._code.artifact

    def calls() -> list[int]:
        code = LoadedCode(artifact, is_stored=False)
        return [code.function("next")() for _ in range(3)]

    assert calls() == calls() == [7, 8, 9]
    # Also where freed pages keep their protection, as there are too many holes already.
    images: list[_llvm.Image | None] = [load() for _ in range(3 * HOLES)]
    images[::2] = [None] * len(images[::2])
    kept = [LoadedCode(artifact, is_stored=False) for _ in range(2 * HOLES)]
    assert {each.function("next")() for each in kept} == {7}


def test_large_image_has_an_arena_of_its_own():
    load()
    before = arenas()
    image = load(variables=1 << 22)  # 32 MiB, untouched
    assert image.size > 32 << 20
    assert arenas() == before + 1
    assert image.contains(image.address("next"))
    del image
    assert arenas() == before


def test_image_contains_its_own_memory_alone():
    first, second, third = load(), load(), load()
    for image in (first, second, third):
        others = {first, second, third} - {image}
        assert image.contains(image.address("next"))
        assert not any(other.contains(image.address("next")) for other in others)


def test_lifted_constants_share_mappings():
    lifting = twinjit.Compiler(cache=False, shared=False, policy=Policy(constants="lift"))
    values = [np.arange(number, number + 2048, dtype=np.int32) for number in range(200)]

    def executable(array: np.ndarray) -> twinjit.Executable:
        data = array.tobytes().hex().upper()
        return lifting.compile(
            "func.func @f(%i: index) -> i32 { "
            f'%c = arith.constant dense<"0x{data}"> : tensor<2048xi32> '
            "%v = tensor.extract %c[%i] : tensor<2048xi32> return %v : i32 }"
        )

    executable(values[0])
    before = maps()
    kept = [executable(each) for each in values]
    assert maps() - before < 20
    assert [each.f(0) for each in kept] == list(range(200))
    assert lifting.stats()["compiled"] == 1


def test_threads_load_call_and_let_go():
    unused, failures = in_use(), []
    artifact = compiler().compile(program(3))._code.artifact
    barrier = threading.Barrier(4)

    def work(seed: int) -> None:
        random, kept = Random(seed), []
        barrier.wait()
        for _ in range(rounds(300, 6_000)):
            code = LoadedCode(artifact, is_stored=False)
            kept.append(code)
            if code.function("next")() != 3 or code.function("next")() != 4:
                failures.append(seed)
            if random.random() < 0.7:
                kept.pop(random.randrange(len(kept)))

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    gc.collect()
    assert in_use() == unused


def test_failed_links_leave_nothing():
    code = object_code()
    load()
    unused, before = in_use(), maps()
    for _ in range(200):
        with pytest.raises(twinjit.errors.ArtifactError):
            _llvm.load(code, ["missing"])
        with pytest.raises(twinjit.errors.UnresolvedSymbolError):
            compiler().compile("func.func private @nowhere() func.func @f() { "
                               "call @nowhere() : () -> () return }")  # fmt: skip
    assert in_use() == unused
    assert maps() - before < 10
