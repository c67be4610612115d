"""Types in C of functions, and functions that C can call."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

import twinjit
from twinjit.c_types import Prototype
from twinjit.errors import ConfigError, EntryNotFoundError, SignatureError

SUM = """
define double @sum(ptr readonly %p, i64 %n) {
entry:
  %is_empty = icmp eq i64 %n, 0
  br i1 %is_empty, label %end, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %q = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %q
  %t = fadd double %s, %x
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %r = phi double [ 0.0, %entry ], [ %t, %loop ]
  ret double %r
}
"""
FLAGS = "define i1 @odd(i8 %x) {\n %b = trunc i8 %x to i1\n ret i1 %b\n}"
WIDE = "define i32 @wide(i32 %x) {\n ret i32 %x\n}"
MLIR = "func.func @f(%x: f64, %n: index) -> f64 { return %x : f64 }"


def compiled(text, signatures=None):
    return twinjit.Compiler(cache=False).compile(text, signatures=signatures)


def described(prototype):
    result = prototype.result
    return (
        result and (result.dtype, result.is_pointer),
        [(each.dtype, each.is_pointer, each.is_const) for each in prototype.arguments],
    )


class TestDeclarations:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("void f(void)", (None, [])),
            ("void ()", (None, [])),
            ("double (double)", (("f64", False), [("f64", False, False)])),
            ("double sum(const double *x, int64_t n);",
             (("f64", False), [("f64", True, True), ("si64", False, False)])),
            ("unsigned f(long unsigned int, unsigned char, char, _Bool)",
             (("ui32", False), [("ui64", False, False), ("ui8", False, False),
                                ("i8", False, False), ("i1", False, False)])),
            ("void *f(void *p, const void *q, float **r, int const *s, char *const t)",
             (("", True), [("", True, False), ("", True, True), ("", True, False),
                           ("si32", True, True), ("i8", True, False)])),
            ("_Float16 f(__bf16 x)", (("f16", False), [("bf16", False, False)])),
        ],
    )  # fmt: skip
    def test_read(self, text, expected):
        assert described(Prototype.of("signatures['f']", text)) == expected

    @pytest.mark.parametrize(
        "text",
        ["", "double", "double f", "double f(struct s x)", "double f(double x", "int f(void, int)",
         "double f(double (*g)(double))", "int f(int, )", "int f(...)", "int f(int x y)",
         "long double f()", "int f(long double)", "int f(unsigned float)", "short const2 int f()"],
    )  # fmt: skip
    def test_refused(self, text):
        with pytest.raises(ConfigError, match=r"signatures\['f'\] is .*cannot be read: .*write"):
            Prototype.of("signatures['f']", text)


class TestCtypes:
    def test_read(self):
        kind = ctypes.CFUNCTYPE(ctypes.c_uint16, ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p,
                                ctypes.POINTER(ctypes.c_float), ctypes.CFUNCTYPE(None))  # fmt: skip
        assert described(Prototype.of("signatures['f']", kind)) == (
            ("ui16", False),
            [("i1", False, False), ("", True, False), ("", True, True), ("f32", True, False),
             ("", True, False)],
        )  # fmt: skip

    def test_refused(self):
        class Pair(ctypes.Structure):
            _fields_ = [("a", ctypes.c_int)]

        for kind in (
            ctypes.CFUNCTYPE(None, Pair),
            ctypes.CFUNCTYPE(ctypes.c_longdouble),
            ctypes.CFUNCTYPE(ctypes.c_int64.__ctype_be__),
        ):
            with pytest.raises(ConfigError, match="numbers and pointers"):
                Prototype.of("signatures['f']", kind)
        for other in (int, 3, ctypes.CFUNCTYPE(None)(lambda: None), ctypes.c_int):
            with pytest.raises(ConfigError, match="CFUNCTYPE"):
                Prototype.of("signatures['f']", other)


class TestCalls:
    KINDS = (
        "double (const double *, uint64_t)",
        ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_uint64),
    )

    @pytest.mark.parametrize("kind", KINDS, ids=["text", "ctypes"])
    def test_elements_are_checked(self, kind):
        function = compiled(SUM, {"sum": kind}).sum
        assert function(np.arange(4.0), 4) == 6
        assert function(None, 0) == 0
        assert function((ctypes.c_double * 2)(1, 2), 2) == 3
        with pytest.raises(TypeError, match=r"pass an array of np\.float64"):
            function(np.arange(4), 4)
        with pytest.raises(ValueError, match="C order"):
            function(np.arange(8.0)[::2], 4)
        with pytest.raises(ValueError, match="from 0 to 18446744073709551615"):
            function(None, -1)

    def test_without_them_anything_goes(self):
        function = compiled(SUM).sum
        assert function(np.frombuffer(np.arange(3.0).tobytes(), dtype=np.uint8), 3) == 3

    def test_signs(self):
        assert compiled(WIDE).wide(0xFFFFFFFF) == -1
        assert compiled(WIDE, {"wide": "uint32_t (uint32_t)"}).wide(0xFFFFFFFF) == 0xFFFFFFFF
        with pytest.raises(ValueError, match="2147483647"):
            compiled(WIDE, {"wide": "int (int)"}).wide(0xFFFFFFFF)

    def test_signatures_show_it(self):
        executable = compiled(SUM, {"sum": "double (const double *, uint64_t)"})
        assert (
            str(executable.signatures["sum"])
            == "sum(arg0: const double *, arg1: uint64_t) -> double"
        )

    def test_no_part_of_keys(self, compiler):
        plain = compiler.compile(WIDE)
        refined = compiler.compile(WIDE, signatures={"wide": "uint32_t (uint32_t)"})
        again = compiler.compile(WIDE, signatures={"wide": "uint32_t (uint32_t)"})
        assert (refined.report.tier, refined.key) == ("memory", plain.key)
        assert (plain == refined, refined == again) == (False, True)
        assert refined.wide is refined.wide
        assert (plain.wide(-1), refined.wide(0xFFFFFFFF)) == (-1, 0xFFFFFFFF)
        assert compiler.submit(WIDE, signatures={"wide": "uint32_t (uint32_t)"}).result() == again
        compiler.close()

    @pytest.mark.parametrize(
        ("text", "given", "match"),
        [
            (SUM, {"sun": "void ()"}, "'sun', and the program no such function; it has sum"),
            (SUM, {"sum": "double (double *)"}, "1 arguments are given, and it has 2"),
            (SUM, {"sum": "float (double *, long)"}, "result 0 is double, which 'float' is not"),
            (SUM, {"sum": "double (double, long)"}, "argument 0 is ptr, which 'double' is not"),
            (SUM, {"sum": "double (double *, int)"}, "argument 1 is i64, which 'int' is not"),
            (SUM, {"sum": "void (double *, long)"}, "0 results are given, and it has 1"),
        ],
    )
    def test_other_types(self, text, given, match):
        with pytest.raises(SignatureError, match=match):
            compiled(text, given)

    def test_mlir(self):
        assert compiled(MLIR, {"f": "double (double, size_t)"}).f(2.5, 1 << 63) == 2.5

    def test_tiers(self, compiler):
        executable = compiler.compile(WIDE, tier_up=twinjit.TierUp(calls=1),
                                      signatures={"wide": "uint32_t (uint32_t)"})  # fmt: skip
        function = executable.wide
        assert function(0xFFFFFFFF) == 0xFFFFFFFF
        executable.promote().result()
        assert function(0xFFFFFFFF) == executable.wide(0xFFFFFFFF) == 0xFFFFFFFF
        compiler.close()


class TestForC:
    def test_ctypes(self):
        function = compiled(SUM).ctypes("sum")
        gc.collect()
        assert function(np.arange(5.0).ctypes.data, 5) == 10
        assert compiled(FLAGS).ctypes("odd")(3) is True
        assert compiled(FLAGS).ctypes("odd")(2) is False

    def test_type_that_was_given(self):
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_uint64)
        function = compiled(SUM, {"sum": kind}).ctypes("sum")
        assert isinstance(function, kind)
        assert function((ctypes.c_double * 2)(1, 2), 2) == 3
        assert compiled(WIDE, {"wide": "unsigned (unsigned)"}).ctypes("wide")(-1) == 0xFFFFFFFF

    def test_address(self):
        executable = compiled(SUM)
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)
        assert kind(executable.address("sum"))(np.arange(3.0).ctypes.data, 3) == 3

    def test_variable_arguments_have_an_address(self):
        executable = compiled("define i32 @va(i32 %x, ...) {\n ret i32 %x\n}")
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
        assert kind(executable.address("va"))(7) == 7
        with pytest.raises(SignatureError, match="variable number"):
            executable.ctypes("va")

    def test_other_conventions(self):
        executable = compiled("define fastcc i32 @f(i32 %x) {\n ret i32 %x\n}")
        assert executable.f(1) == 1
        with pytest.raises(SignatureError, match="convention fastcc"):
            executable.address("f")

    def test_none(self):
        with pytest.raises(EntryNotFoundError, match="'g'"):
            compiled(SUM).address("g")
        with pytest.raises(EntryNotFoundError, match="'g'"):
            compiled(SUM).ctypes("g")
        with pytest.raises(SignatureError, match="no type for the half"):
            compiled("define half @f(half %x) {\n ret half %x\n}").ctypes("f")

    def test_mlir(self):
        executable = compiled(MLIR)
        assert executable.ctypes("f")(2.5, 3) == 2.5
        assert executable.address("f") == ctypes.cast(executable.ctypes("f"), ctypes.c_void_p).value

    def test_names_of_the_c_library(self):
        assert compiled("define double @exp(double %x) {\n ret double 2.0\n}").ctypes("exp")(0) == 2


@pytest.mark.parametrize(
    "text",
    [
        (
            "define i64 @first(ptr byval({i64, i64, i64}) %p) {\n"
            " %x = load i64, ptr %p\n ret i64 %x\n}"
        ),
        """llvm.func @first(%p: !llvm.ptr {llvm.byval = !llvm.struct<(i64, i64, i64)>}) -> i64 {
             %x = llvm.load %p : !llvm.ptr -> i64
             llvm.return %x : i64
           }""",
    ],
)
@pytest.mark.parametrize("given", [None, {"first": "int64_t (const int64_t *)"}])
def test_structures_by_value_are_not_what_ctypes_passes(text, given):
    executable = compiled(text, given)
    values = np.arange(5, 8)
    assert executable.first(values) == 5
    assert executable.address("first")
    with pytest.raises(SignatureError, match="by value"):
        executable.ctypes("first")
