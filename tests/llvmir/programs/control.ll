; Control: branches, calls, exceptions.
target triple = "x86_64-unknown-linux-gnu"

declare i32 @__gxx_personality_v0(...)
declare void @may_throw(i32) cold
declare fastcc i64 @fast(i64 noundef, ptr nocapture readonly)
declare void @tails(i32)
@type_info = external constant ptr

define i32 @branches(i32 %x, i1 %c) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %first, label %second, !prof !0
first:
  switch i32 %x, label %join [
    i32 1, label %second
    i32 -7, label %third
    i32 300, label %third
  ]
second:
  %p = phi i32 [ 0, %entry ], [ %x, %first ], [ %r, %third ]
  br label %join
third:
  %q = phi i32 [ 1, %first ], [ 1, %first ]
  %r = add i32 %q, %x
  %z = icmp eq i32 %r, 0
  br i1 %z, label %second, label %join
join:
  %s = phi i32 [ %x, %first ], [ %p, %second ], [ %r, %third ]
  invoke void @may_throw(i32 %s) to label %done unwind label %pad
done:
  ret i32 %s
pad:
  %l = landingpad { ptr, i32 } cleanup catch ptr @type_info filter [1 x ptr] [ptr @type_info]
  resume { ptr, i32 } %l
}

define i64 @calls(ptr %f, i64 %x) "frame-pointer"="all" {
  %a = call fastcc noundef i64 @fast(i64 noundef %x, ptr readonly %f) nounwind memory(read)
  %b = tail call i64 %f(i64 signext %a, ptr byval({ i32, i64 }) align 8 %f)
  %c = notail call i64 (i64, ...) %f(i64 %b, i32 1, double 2.0)
  call void @llvm.assume(i1 true) [ "align"(ptr %f, i64 16), "nonnull"(ptr %f) ]
  %d = call i64 asm sideeffect "mov $1, $0", "=r,r,~{memory}"(i64 %c) "x"="y"
  %e = call i64 asm alignstack inteldialect unwind "mov $0, $1", "=r,r"(i64 %d)
  %g = call range(i64 0, 100) i64 @fast2(i64 %e)
  ret i64 %g
}

declare i64 @fast2(i64 range(i64 -5, 17))

define void @musttail(i32 %x) {
  musttail call void @tails(i32 %x)
  ret void
}

define ptr @indirect(i32 %i) {
entry:
  %a = getelementptr [2 x ptr], ptr @labels, i32 0, i32 %i
  %t = load ptr, ptr %a
  indirectbr ptr %t, [label %one, label %two]
one:
  ret ptr blockaddress(@indirect, %two)
two:
  ret ptr null
}
@labels = private constant [2 x ptr] [ptr blockaddress(@indirect, %one), ptr blockaddress(@indirect, %two)]

define i32 @asm_goto(i32 %x) {
  %r = callbr i32 asm "", "=r,r,!i"(i32 %x) to label %fall [label %away]
fall:
  ret i32 %r
away:
  ret i32 1
}

define void @stops() noreturn {
  call void @llvm.trap()
  unreachable
}
declare void @llvm.trap()
declare void @llvm.assume(i1)

!0 = !{!"branch_weights", i32 3, i32 1}
