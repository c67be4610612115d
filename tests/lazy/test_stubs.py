"""Calls of compiled code through stubs, whatever they pass."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest

from tests.lazy.parts import Parts
from tests.threads import at_once
from twinjit._native import _llvm
from twinjit.errors import CompilationError, UnsupportedProgramError

I64 = ctypes.c_int64
CHAIN = """
define i64 @first(i64 %x) { %y = call i64 @second(i64 %x) %z = add i64 %y, 1 ret i64 %z }
define internal i64 @second(i64 %x) { %y = call i64 @third(i64 %x) %z = mul i64 %y, 3 ret i64 %z }
define i64 @third(i64 %x) { %y = sub i64 %x, 5 ret i64 %y }
define i64 @unused(i64 %x) { ret i64 %x }
"""


def test_functions_are_compiled_when_they_are_called() -> None:
    parts = Parts(CHAIN)
    call = parts.native("first", I64, I64)
    assert not parts.compiled
    assert call(10) == 16
    assert call(20) == 46
    assert parts.compiled == {"first": 1, "second": 1, "third": 1}


def test_python_calls_lead_to_lazy_functions() -> None:
    parts = Parts(CHAIN)
    assert parts.function("first", ["i64"], ["i64"])(10) == 16


def test_swapped_cells_lead_elsewhere() -> None:
    parts = Parts(CHAIN)
    call = parts.native("first", I64, I64)
    assert call(10) == 16
    third = parts.indices["third"]
    before = parts.cells.swap(third, parts.address("unused"))
    assert call(10) == 31
    assert parts.cells.swap(third, before) == parts.address("unused")
    assert call(10) == 16
    assert parts.compiled["third"] == 1


@pytest.mark.parametrize(("lanes", "features"), [(8, "+avx2"), (16, "+avx512f")])
def test_vectors_arrive_whole_at_the_first_call(lanes: int, features: str) -> None:
    if f"{features}," not in _llvm.host_target()[2] + ",":
        pytest.skip(f"this machine has no {features}")
    vector = f"<{lanes} x float>"
    names = [f"%v{i}" for i in range(8)]
    parameters = ", ".join(f"{vector} {name}" for name in names)
    loads = "\n".join(
        f"%p{i} = getelementptr {vector}, ptr %p, i64 {i}\n"
        f"{name} = load {vector}, ptr %p{i}, align 4"
        for i, name in enumerate(names)
    )
    sums, total = "", names[0]
    for i, name in enumerate(names[1:]):
        sums += f"%d{i} = fadd {vector} {total}, {total}\n%s{i} = fadd {vector} %d{i}, {name}\n"
        total = f"%s{i}"
    parts = Parts(f"""
define void @outer(ptr %p) {{
  {loads}
  %r = call {vector} @inner({parameters})
  store {vector} %r, ptr %p, align 4
  ret void
}}
define {vector} @inner({parameters}) {{ {sums} ret {vector} {total} }}
""")
    given = np.arange(8 * lanes, dtype=np.float32).reshape(8, lanes)
    memory = given.copy()
    parts.native("outer", None, ctypes.c_void_p)(memory.ctypes.data)
    expected = given[0]
    for row in given[1:]:
        expected = 2 * expected + row
    assert memory[0].tolist() == expected.tolist()
    assert parts.compiled == {"outer": 1, "inner": 1}


STRUCTS = """
%big = type { i64, i64, i64, i64 }
define i64 @outer(i64 %x) {
  %in = alloca %big
  %out = alloca %big
  store %big { i64 1, i64 2, i64 3, i64 4 }, ptr %in
  call void @inner(ptr sret(%big) align 8 %out, ptr byval(%big) align 8 %in, i64 %x)
  %a = load i64, ptr %in
  %p = getelementptr %big, ptr %out, i64 0, i32 3
  %b = load i64, ptr %p
  %r = add i64 %a, %b
  ret i64 %r
}
define void @inner(ptr sret(%big) align 8 %out, ptr byval(%big) align 8 %in, i64 %x) {
  %p = getelementptr %big, ptr %in, i64 0, i32 3
  %d = load i64, ptr %p
  store i64 99, ptr %in
  %s = mul i64 %d, %x
  %q = getelementptr %big, ptr %out, i64 0, i32 3
  store i64 %s, ptr %q
  ret void
}
"""


def test_structs_in_memory_are_passed_on() -> None:
    parts = Parts(STRUCTS)
    call = parts.native("outer", I64, I64)
    assert [call(10), call(11)] == [41, 45]


def test_a_struct_in_memory_is_zero_where_its_function_cannot_be_compiled(monkeypatch) -> None:
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    parts = Parts(STRUCTS)
    parts.failing["inner"] = RuntimeError("no")
    assert parts.native("outer", I64, I64)(10) == 1
    assert str(_llvm.take_native_error()) == "no"


def test_more_arguments_than_registers() -> None:
    names = [f"%a{i}" for i in range(20)]
    parameters = ", ".join(f"i64 {name}" for name in names)
    sums, total = "", names[0]
    for i, name in enumerate(names[1:]):
        sums += f"%d{i} = mul i64 {total}, 3\n%s{i} = add i64 %d{i}, {name}\n"
        total = f"%s{i}"
    numbers = ", ".join(f"i64 {i}" for i in range(20))
    parts = Parts(f"""
define i64 @outer() {{ %r = call fastcc i64 @inner({numbers}) ret i64 %r }}
define fastcc i64 @inner({parameters}) {{ {sums} ret i64 {total} }}
""")
    expected = 0
    for i in range(20):
        expected = 3 * expected + i
    assert parts.native("outer", I64)() == expected


def test_functions_with_variable_arguments() -> None:
    parts = Parts("""
declare void @llvm.va_start(ptr)
declare void @llvm.va_end(ptr)
define double @outer(double %x) {
  %r = call double (i64, ...) @inner(i64 8, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7,
                                     double %x)
  ret double %r
}
define double @inner(i64 %n, ...) {
  %list = alloca [3 x i64], align 16
  call void @llvm.va_start(ptr %list)
  %last = va_arg ptr %list, i64
  %x = va_arg ptr %list, double
  call void @llvm.va_end(ptr %list)
  %f = sitofp i64 %last to double
  %r = fadd double %f, %x
  ret double %r
}
""")
    call = parts.native("outer", ctypes.c_double, ctypes.c_double)
    assert [call(1.5), call(2.5)] == [2.5, 3.5]


def test_deep_recursion_takes_no_stack() -> None:
    parts = Parts("""
define i64 @even(i64 %n, i64 %sum) {
  %is_end = icmp eq i64 %n, 0
  br i1 %is_end, label %end, label %go
go:
  %m = sub i64 %n, 1
  %s = add i64 %sum, 2
  %r = musttail call i64 @odd(i64 %m, i64 %s)
  ret i64 %r
end:
  ret i64 %sum
}
define i64 @odd(i64 %n, i64 %sum) {
  %m = sub i64 %n, 1
  %s = add i64 %sum, 1
  %r = musttail call i64 @even(i64 %m, i64 %s)
  ret i64 %r
}
""")
    assert parts.native("even", I64, I64, I64)(10_000_000, 0) == 15_000_000


VARIABLES = """
@counter = internal global i64 5
@table = internal constant [2 x ptr] [ptr @bump, ptr @other]
@text = private unnamed_addr constant [3 x i8] c"ab\\00"
define i64 @bump(i64 %x) {
  %c = load i64, ptr @counter
  %d = add i64 %c, %x
  store i64 %d, ptr @counter
  ret i64 %d
}
define internal i64 @other(i64 %x) { %c = load i64, ptr @counter %r = sub i64 %c, %x ret i64 %r }
define i64 @through(i64 %which, i64 %x) {
  %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %which
  %f = load ptr, ptr %p
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
define i64 @letter() { %c = load i8, ptr getelementptr (i8, ptr @text, i64 1)
  %r = zext i8 %c to i64 ret i64 %r }
define ptr @address() { ret ptr @bump }
define i1 @is_bump(ptr %p) { %r = icmp eq ptr %p, @bump ret i1 %r }
"""


def test_functions_share_variables() -> None:
    parts = Parts(VARIABLES)
    assert parts.native("bump", I64, I64)(1) == 6
    through = parts.native("through", I64, I64, I64)
    assert [through(0, 10), through(1, 1), through(0, 10)] == [16, 15, 26]
    assert parts.compiled == {"bump": 1, "other": 1, "through": 1}
    assert parts.native("letter", I64)() == ord("b")


def test_a_function_has_one_address() -> None:
    parts = Parts(VARIABLES)
    address = parts.native("address", ctypes.c_void_p)()
    assert address == parts.address("bump")
    assert parts.native("is_bump", ctypes.c_bool, ctypes.c_void_p)(address)
    assert not parts.compiled["bump"]


def test_functions_that_are_equal_but_for_names_have_equal_parts() -> None:
    split = _llvm.split(CHAIN.replace("@third", "@last").encode(), "b.ll")
    ours = _llvm.split(CHAIN.encode(), "a.ll")
    assert ours.extract("second", [])[0] == split.extract("second", [])[0]
    assert ours.extract("third", [])[0] == split.extract("last", [])[0]
    assert ours.extract("third", [])[0] != split.extract("second", [])[0]


@pytest.mark.parametrize(
    "linkage", ["internal", "", "hidden", "protected", "linkonce_odr", "weak", "dso_local"]
)
def test_functions_to_be_inlined_go_along(linkage: str) -> None:
    parts = Parts(f"""
define {linkage.replace("internal", "")} i64 @outer(i64 %x) {{
  %r = call i64 @inner(i64 %x)
  ret i64 %r
}}
define {linkage} i64 @inner(i64 %x) alwaysinline {{ %r = add i64 %x, 1 ret i64 %r }}
""")
    assert parts.native("outer", I64, I64)(1) == 2
    assert parts.compiled == {"outer": 1}


def test_what_cannot_be_split_is_refused() -> None:
    split = _llvm.split(
        b"@f = ifunc void (), ptr @g define ptr @g() { ret ptr null } "
        b"define void @h() { call void @f() ret void }",
        "test.ll",
    )
    with pytest.raises(UnsupportedProgramError, match="indirect function 'f'"):
        split.extract("h", [])


_RUN = "{i32, ptr, ptr}"
_INIT = "{i32 1, ptr @f, ptr null}"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("@v = internal thread_local global i64 1", CompilationError, "'v' is thread-local"),
        (
            f"@llvm.global_ctors = appending global [1 x {_RUN}] [{_RUN} {_INIT}]",
            CompilationError,
            "constructors",
        ),
        ('module asm "nop"', UnsupportedProgramError, "module assembly"),
    ],
)
def test_what_belongs_to_no_function_is_refused(text: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        _llvm.split(f"{text}\ndefine void @f() {{ ret void }}".encode(), "test.ll")


def test_threads_that_race_compile_nothing_twice() -> None:
    count = 100
    functions = "\n".join(
        f"define i64 @f{i}(i64 %x) {{ %y = call i64 @f{(i + 1) // 2 + i // 2 + 1}(i64 %x) "
        f"%z = add i64 %y, {i} ret i64 %z }}"
        for i in range(count - 1)
    )
    last = f"define i64 @f{count - 1}(i64 %x) {{ ret i64 %x }}"
    parts = Parts(functions + last)
    calls = [parts.native(f"f{i}", I64, I64) for i in range(count)]

    def work(seed: int) -> None:
        for i in random.Random(seed).sample(range(count), count):
            assert calls[i](7) == 7 + sum(range(i, count - 1))

    at_once(work)
    assert parts.compiled == dict.fromkeys(parts.names, 1)
