; Symbols and constants.
target triple = "x86_64-unknown-linux-gnu"
source_filename = "globals.c"
module asm ".globl twin"
module asm "twin:"

$group = comdat any
$other = comdat nodeduplicate
%Node = type { i32, ptr, [3 x i16] }
%Hidden = type opaque

@external = external global i32
@weak = weak global i32 1
@weak_odr = weak_odr hidden global i32 2
@once = linkonce_odr protected constant i32 3, comdat($group), align 4
@common = common global [4 x i8] zeroinitializer, align 1
@tls = thread_local(initialexec) global i32 4
@tls_general = thread_local global i32 4
@internal = internal unnamed_addr global %Node { i32 1, ptr @internal, [3 x i16] [i16 1, i16 -2, i16 3] }
@text = private unnamed_addr constant [6 x i8] c"hello\00", align 1
@words = private constant [3 x i32] [i32 1, i32 2, i32 3]
@floats = constant [3 x float] [float 1.0, float -0.0, float 0x7FF8000020000000]
@section = global i32 5, section "my_section", align 16, code_model "large"
@appended = appending global [1 x ptr] [ptr @internal], section "llvm.metadata"
@space = addrspace(1) externally_initialized global i32 6
@unused = extern_weak global ptr
@local_unnamed = local_unnamed_addr global i64 add (i64 ptrtoint (ptr @text to i64), i64 8)
@near = dso_local global ptr getelementptr inbounds (%Node, ptr @internal, i64 1, i32 2)
@ranged = global ptr getelementptr inrange(-4, 4) ([8 x i8], ptr @common, i64 0, i64 1)
@signed = global ptr ptrauth (ptr @function, i32 2, i64 1234, ptr @signed)
@equivalent = global i32 trunc (i64 sub (i64 ptrtoint (ptr dso_local_equivalent @function to i64), i64 ptrtoint (ptr @equivalent to i64)) to i32)
@unchecked = global ptr no_cfi @function
@undefined = global { i32, i8 } { i32 undef, i8 poison }
@sanitized = global i32 7, no_sanitize_address, no_sanitize_hwaddress
@sanitizer = global i32 8, sanitize_memtag, sanitize_address_dyninit
@parted = global i32 9, partition "part"
@attributed = global i32 10 #1
@absolute = external global i8, !absolute_symbol !0
@linked = global i32 11, section "linked", !associated !1
@0 = private constant i8 12
@unnamed = global ptr @0

@alias = weak alias i32, ptr @weak
@offset = internal alias i8, getelementptr (i8, ptr @internal, i64 4)
@resolved = ifunc i32 (i32), ptr @resolver

define ptr @resolver() {
  ret ptr @function
}

define internal fastcc i32 @function(i32 inreg %x) unnamed_addr #0 section "code" comdat($other) align 32 gc "statepoint-example" prefix i32 17 prologue i8 -112 {
  ret i32 %x
}

define available_externally void @available() partition "other" { ret void }

define void @intrinsic_attributes(ptr sret(%Node) align 8 %r, ptr noalias nonnull dereferenceable(16) initializes((0, 4), (8, 12)) captures(none) %p, i32 zeroext range(i32 0, 10) %n, float nofpclass(nan inf) %f) #2 {
  ret void
}

declare extern_weak void @maybe(ptr, ...)
declare noalias ptr @allocate(i64 allocalign, i64) allockind("alloc,uninitialized") allocsize(1) "alloc-family"="x"

attributes #0 = { nounwind "target-cpu"="x86-64" "no-trapping-math"="true" alignstack=16 }
attributes #1 = { "bss-section"="special" }
attributes #2 = { memory(argmem: readwrite, inaccessiblemem: read) vscale_range(1,16) uwtable(sync) }

!0 = !{i64 0, i64 256}
!1 = !{ptr @weak}
