; Exceptions of Windows.
target triple = "x86_64-pc-windows-msvc"

declare i32 @__CxxFrameHandler3(...)
declare void @f()

define void @catches() personality ptr @__CxxFrameHandler3 {
entry:
  invoke void @f() to label %done unwind label %dispatch
dispatch:
  %s = catchswitch within none [label %handler, label %other] unwind label %cleanup
handler:
  %c = catchpad within %s [ptr null, i32 64, ptr null]
  call void @f() [ "funclet"(token %c) ]
  catchret from %c to label %done
other:
  %o = catchpad within %s [ptr null, i32 8, ptr null]
  catchret from %o to label %done
cleanup:
  %p = cleanuppad within none []
  call void @f() [ "funclet"(token %p) ]
  cleanupret from %p unwind to caller
done:
  ret void
}

@imported = external dllimport global i32
define dllexport void @exported() { ret void }
$merged = comdat largest
@merged = global i32 0, comdat
