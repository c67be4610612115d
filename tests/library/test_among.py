"""Libraries that need one another, and what bitcode can hold beside code."""

from __future__ import annotations

import ctypes
import json

import pytest

from tests.library.samples import caller, library
from twinjit import ImportPolicy, Library
from twinjit.errors import ConfigError, LibraryError

DOWN = b"""
declare i64 @up(i64)
define i64 @down(i64 %n) {
  %is_end = icmp sle i64 %n, 0
  br i1 %is_end, label %end, label %more
end:
  ret i64 7
more:
  %less = sub i64 %n, 1
  %r = call i64 @up(i64 %less)
  ret i64 %r
}
"""
UP = b"""
declare i64 @down(i64)
define i64 @up(i64 %n) {
  %r = call i64 @down(i64 %n)
  %s = add i64 %r, 1
  ret i64 %s
}
"""
BOTH = """
declare i64 @down(i64)
declare i64 @up(i64)
define i64 @main(i64 %n) {
  %a = call i64 @down(i64 %n)
  %b = call i64 @up(i64 %n)
  %c = mul i64 %a, %b
  ret i64 %c
}
"""
DEEP = 3000


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("names", [("down", "up"), ("strlen", "memcmp")])
def test_circles_between_libraries(compiler, order, names):
    def renamed(text: str) -> str:
        return text.replace("down", names[0]).replace("up", names[1])

    libraries = [library(renamed(each.decode()).encode()) for each in (DOWN, UP)]
    executable = compiler.compile(renamed(BOTH), libraries=libraries[::order])
    assert executable.main(5) == 12 * 13
    assert executable.report.imported == 2


def test_a_constant_that_leads_to_another_library(compiler):
    table = b"declare i64 @three(i64)\n@table = constant [1 x ptr] [ptr @three]"
    calls = b"""
    @table = external constant [1 x ptr]
    define i64 @three(i64 %x) { ret i64 3 }
    define i64 @through(i64 %x) {
      %f = load ptr, ptr @table
      %y = call i64 %f(i64 %x)
      ret i64 %y
    }"""
    for several in ([table, calls], [calls, table]):
        executable = compiler.compile(caller("through"), libraries=[*map(library, several)])
        assert executable.main(0) == 3


def test_names_that_are_no_unicode(compiler):
    opened = library(
        b'define i64 @"\\FF"(i64 %x) { ret i64 3 }\n'
        b'define i64 @known(i64 %x) {\n %y = call i64 @"\\FF"(i64 %x)\n ret i64 %y\n}'
    )
    assert opened.functions == ("known",)
    assert [each.name for each in opened.explain("known").walk()] == ["known", r"\xff"]
    assert compiler.compile(caller("known"), libraries=[opened, library()]).main(0) == 3
    with pytest.raises(LibraryError, match="defines no function"):
        opened.explain("\udcff")


def test_calls_of_any_depth():
    calls = (
        f"define i64 @f{i}(i64 %x) {{\n %y = call i64 @f{i + 1}(i64 %x)\n ret i64 %y\n}}"
        for i in range(DEEP)
    )
    last = f"define i64 @f{DEEP}(i64 %x) {{ ret i64 %x }}"
    decision = library("\n".join([*calls, last]).encode()).explain("f0")
    assert str(decision).count("\n") == DEEP
    data = decision.to_json()
    for _ in range(DEEP):
        (data,) = data["callees"]
    assert json.dumps(data).startswith(f'{{"name": "f{DEEP}"')


def test_constants_of_any_depth():
    count = 200_000
    links = (f"@v{i} = internal constant ptr @v{i - 1}" for i in range(1, count))
    chain = ["@v0 = internal constant ptr null", *links]
    code = f"define i64 @last(i64 %x) {{\n %y = ptrtoint ptr @v{count - 1} to i64\n ret i64 %y\n}}"
    assert library("\n".join([*chain, code]).encode()).explain("last").locals == count


@pytest.mark.parametrize("provided", [False, True])
@pytest.mark.parametrize(
    "nodes",
    [
        '!0 = distinct !{!"text", ptr @known}',
        '!0 = !{!"text", ptr @known, !0}',
        '!0 = distinct !{!"text", !1}\n!1 = !{!2, ptr @known}\n!2 = distinct !{!2}',
    ],
)
def test_metadata_that_leads_to_symbols(compiler, nodes, provided):
    opened = library(
        b"@known = constant i64 5\ndefine i64 @f(i64 %x) { ret i64 %x, !kind !0 }\n"
        + nodes.encode(),
        provided=provided,
    )
    value = ctypes.c_int64(5)
    given = {"f": 1, "known": ctypes.addressof(value)} if provided else None
    assert compiler.compile(caller("f"), libraries=opened, symbols=given).main(4) == 4


def test_what_the_process_hides_cannot_be_called():
    hidden = b"""
    declare hidden i64 @hidden(i64)
    define i64 @f(i64 %x) {
      %y = call i64 @hidden(i64 %x)
      ret i64 %y
    }"""
    decision = library(hidden, provided=True).explain("f")
    assert not decision.imported
    assert "'hidden', which the process hides" in decision.reason
    assert library(hidden).explain("f").imported


@pytest.mark.parametrize("given", [None, 5, [5], bytearray(b"x")])
def test_what_is_no_bitcode(given):
    with pytest.raises(ConfigError, match="give paths or bytes"):
        Library.from_bitcode(given)


@pytest.mark.parametrize("limit", ["a", None])
def test_limits_that_are_no_numbers(limit):
    with pytest.raises(ConfigError, match="max_instructions"):
        ImportPolicy(limit)


def test_flags_are_several():
    with pytest.raises(ConfigError, match="flags"):
        Library.from_c("helpers.c", flags="-DNDEBUG")
