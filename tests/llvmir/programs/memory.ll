; Memory: allocation, addresses, loads and stores, atomics.
%Pair = type { i32, ptr }
%Packed = type <{ i8, i32 }>

define i32 @accesses(ptr %p, ptr addrspace(3) %q, i64 %n) {
  %a = alloca i32, align 8
  %b = alloca %Pair, i64 %n, align 16
  %c = getelementptr inbounds nuw %Pair, ptr %b, i64 %n, i32 1
  %d = getelementptr nusw i8, ptr %p, i64 4
  %e = getelementptr nuw [4 x %Packed], ptr %p, i64 0, i64 2, i32 1
  %f = load volatile i32, ptr %d, align 4
  store volatile i32 %f, ptr %a, align 2
  %g = load ptr, ptr %c, align 8
  %h = load i32, ptr addrspace(3) %q, align 4
  %i = addrspacecast ptr addrspace(3) %q to ptr
  %j = ptrtoint ptr %i to i64
  %k = inttoptr i64 %j to ptr
  store i32 %h, ptr %e, align 1
  %l = load i32, ptr %k, align 4
  %m = bitcast i32 %l to float
  %o = bitcast float %m to i32
  ret i32 %o
}

define i32 @atomics(ptr %p, i32 %x) {
  %a = load atomic i32, ptr %p syncscope("agent") acquire, align 4
  %b = load atomic volatile i32, ptr %p monotonic, align 4
  store atomic i32 %b, ptr %p release, align 4
  store atomic i32 %a, ptr %p syncscope("singlethread") seq_cst, align 8
  fence syncscope("singlethread") acq_rel
  fence seq_cst
  %c = cmpxchg weak volatile ptr %p, i32 %a, i32 %x syncscope("agent") acq_rel monotonic, align 4
  %d = extractvalue { i32, i1 } %c, 0
  %e = cmpxchg ptr %p, i32 %d, i32 7 seq_cst seq_cst, align 8
  %f = atomicrmw volatile add ptr %p, i32 %x acquire, align 4
  %g = atomicrmw umax ptr %p, i32 %f syncscope("agent") monotonic, align 8
  %h = atomicrmw xchg ptr %p, i32 %g seq_cst, align 4
  ret i32 %h
}

define void @kinds(ptr swifterror %e, ptr inalloca(i32) %i) {
  %a = alloca swifterror ptr, align 8
  store ptr null, ptr %a, align 8
  ret void
}

define void @old(ptr %p) {
  %a = alloca inalloca i64, align 8
  %s = alloca [10 x i8], align 1
  call void @llvm.lifetime.start.p0(ptr %s)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 1 %s, i64 10, i1 false)
  call void @llvm.lifetime.end.p0(ptr %s)
  ret void
}

define ptr @variadic(ptr %list, ...) {
  call void @llvm.va_start.p0(ptr %list)
  %a = va_arg ptr %list, i32
  %b = inttoptr i32 %a to ptr
  call void @llvm.va_end.p0(ptr %list)
  ret ptr %b
}

declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
