"""What is imported is what the library has, whatever a function is made of."""

from __future__ import annotations

from tests.library.samples import bitcode, caller, library, text_of

LIBRARY = b"""
@numbers = internal constant [2 x i64] [i64 1, i64 2]
@table = internal constant [2 x ptr] [ptr @one, ptr getelementptr (i8, ptr @numbers, i64 8)]

define i64 @everything(i64 %0) prefix ptr @numbers personality ptr @person !kind !0 {
  %2 = call i64 @llvm.read_register.i64(metadata !1)
  br label %3

3:                                                ; preds = %3, %1
  %4 = phi i64 [ %2, %1 ], [ %7, %3 ]
  %5 = getelementptr [2 x ptr], ptr @table, i64 0, i64 %4
  %6 = load ptr, ptr %5, align 8, !kind !0
  %7 = call i64 %6(i64 %4), !callees !2
  call void @llvm.write_register.i64(metadata i64 %7, i64 %4)
  switch i64 %7, label %3 [
    i64 0, label %8
    i64 1, label %12
  ]

8:                                                ; preds = %3
  %9 = invoke i64 @everything(i64 ptrtoint (ptr getelementptr (i8, ptr @table, i64 8) to i64))
          to label %12 unwind label %10

10:                                               ; preds = %8
  %11 = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %11

12:                                               ; preds = %8, %3
  %13 = phi i64 [ %9, %8 ], [ %7, %3 ]
  %14 = call i64 asm "mov $1, $0", "=r,r"(i64 %13)
  ret i64 %14
}

define internal i64 @one(i64 %0) {
  ret i64 1
}

declare i32 @person(...)
declare i64 @llvm.read_register.i64(metadata)
declare void @llvm.write_register.i64(metadata, i64)

!0 = distinct !{!0}
!1 = !{!"rsp"}
!2 = !{ptr @one}
"""


def body(text: str, name: str) -> str:
    """Cut a function out, from its arguments on."""
    start = text.index(f"@{name}(", text.index("define available_externally"))
    return text[start : text.index("\n}\n", start)]


def test_bodies_are_copied_as_they_are():
    lib = library(LIBRARY, provided=True)
    imported = text_of(lib.import_into(caller("everything"), ["everything"])[0])
    expected = text_of(bitcode(LIBRARY)).replace("define i64", "define available_externally i64")
    for name in ("one", "table", "numbers"):
        expected = expected.replace(f"@{name}", f"@twinjit.library.{name}")
    assert body(imported, "everything") == body(expected, "everything")
    for line in expected.splitlines():
        if line.startswith(("@twinjit.library.", "!")):
            assert line in imported.splitlines()
