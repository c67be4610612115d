; Computation: flags, casts, comparisons, vectors, intrinsics.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define i32 @integers(i32 %x, i32 %y) {
entry:
  %a = add nuw nsw i32 %x, %y
  %b = sub nsw i32 %a, 17
  %c = mul nuw i32 %b, %x
  %d = shl nuw nsw i32 %c, 3
  %e = lshr exact i32 %d, 1
  %f = ashr exact i32 %e, 2
  %g = udiv exact i32 %f, %y
  %h = sdiv exact i32 %g, -3
  %i = urem i32 %h, %x
  %j = srem i32 %i, %y
  %k = and i32 %j, 255
  %l = or disjoint i32 %k, 256
  %m = xor i32 %l, -1
  %n = icmp samesign ult i32 %m, %x
  %o = icmp sge i32 %m, %y
  %p = select i1 %n, i32 %m, i32 poison
  %q = select i1 %o, i32 %p, i32 undef
  %r = freeze i32 %q
  ret i32 %r
}

define double @floats(double %x, float %y) {
  %a = fpext float %y to double
  %b = fadd reassoc nnan double %x, %a
  %c = fsub fast double %b, 1.5
  %d = fmul arcp contract double %c, 0x7FF8000000000001
  %e = fdiv ninf nsz double %d, -0.0
  %f = frem afn double %e, %x
  %g = fneg nnan double %f
  %h = fcmp nnan olt double %g, %x
  %i = fcmp uno double %g, %a
  %j = select nsz i1 %h, double %g, double %x
  %k = fptosi double %j to i64
  %l = sitofp i64 %k to double
  %m = fptrunc double %l to float
  %n = fptoui float %m to i8
  %o = uitofp nneg i8 %n to double
  %p = select i1 %i, double %o, double 0.1
  ret double %p
}

define <4 x i32> @vectors(<4 x i32> %v, i32 %i, <vscale x 2 x i64> %s) {
  %a = extractelement <4 x i32> %v, i32 %i
  %b = insertelement <4 x i32> %v, i32 %a, i64 1
  %c = shufflevector <4 x i32> %b, <4 x i32> <i32 1, i32 2, i32 3, i32 4>, <4 x i32> <i32 0, i32 5, i32 poison, i32 3>
  %d = zext nneg i32 %a to i64
  %e = trunc nuw nsw i64 %d to i16
  %f = sext i16 %e to i32
  %g = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %c, <4 x i32> zeroinitializer)
  %h = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %f, i32 1)
  %j = extractvalue { i32, i1 } %h, 0
  %k = insertvalue { i32, i1 } %h, i32 %j, 0
  %l = extractvalue { i32, i1 } %k, 0
  %m = insertelement <4 x i32> %g, i32 %l, i32 0
  ret <4 x i32> %m
}

define bfloat @strict(bfloat %x, half %y, x86_fp80 %z, fp128 %w) strictfp {
  %a = call bfloat @llvm.experimental.constrained.fadd.bf16(bfloat %x, bfloat 0xR3F80, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
  ret bfloat %a
}

define i19 @odd(i19 %x, i128 %y) {
  %a = add i19 %x, 1000
  %b = call i19 @llvm.ctlz.i19(i19 %a, i1 true)
  %c = trunc i128 123456789012345678901234567890 to i19
  %d = add i19 %b, %c
  ret i19 %d
}

declare <4 x i32> @llvm.smax.v4i32(<4 x i32>, <4 x i32>)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare bfloat @llvm.experimental.constrained.fadd.bf16(bfloat, bfloat, metadata, metadata)
declare i19 @llvm.ctlz.i19(i19, i1)
