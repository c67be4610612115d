; Metadata other than debug info.
define i32 @accesses(ptr %p, ptr noalias %q, i32 %n) !prof !20 !kcfi_type !21 {
entry:
  %a = load i32, ptr %p, align 4, !tbaa !0, !range !4, !noundef !5
  %b = load ptr, ptr %q, align 8, !nonnull !5, !align !6, !dereferenceable !6, !invariant.load !5
  store i32 %a, ptr %q, align 4, !alias.scope !7, !noalias !10, !nontemporal !12
  call void @llvm.experimental.noalias.scope.decl(metadata !7)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %x = load float, ptr %b, align 4, !llvm.access.group !13, !annotation !22
  %s = fdiv float %x, 3.0, !fpmath !14
  store float %s, ptr %b, align 4, !llvm.access.group !13, !my.kind !23
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %n
  br i1 %c, label %loop, label %done, !llvm.loop !15, !prof !18
done:
  %t = call i32 @llvm.read_register.i32(metadata !24), !srcloc !25
  ret i32 %t
}
declare void @llvm.experimental.noalias.scope.decl(metadata)
declare i32 @llvm.read_register.i32(metadata)

@vtable = constant [1 x ptr] [ptr @accesses], !type !26, !type !27, !vcall_visibility !28

!llvm.module.flags = !{!30, !31}
!llvm.ident = !{!32}
!my.list = !{!0, !23}

!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"omnipotent char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}
!4 = !{i32 0, i32 10, i32 20, i32 30}
!5 = !{}
!6 = !{i64 8}
!7 = !{!8}
!8 = distinct !{!8, !9, !"scope"}
!9 = distinct !{!9, !"domain"}
!10 = !{!11}
!11 = distinct !{!11, !9}
!12 = !{i32 1}
!13 = distinct !{}
!14 = !{float 2.5}
!15 = distinct !{!15, !16, !17}
!16 = !{!"llvm.loop.unroll.count", i32 4}
!17 = !{!"llvm.loop.parallel_accesses", !13}
!18 = !{!"branch_weights", i32 99, i32 1}
!20 = !{!"function_entry_count", i64 7}
!21 = !{i32 12345}
!22 = !{!"auto-init"}
!23 = !{!"text", null, i8 3, ptr @vtable, !23, !29}
!24 = !{!"rsp"}
!25 = !{i64 100}
!26 = !{i64 0, !"type"}
!27 = !{i64 8, !"other"}
!28 = !{i64 1}
!29 = !{double 1.0, <2 x i8> <i8 1, i8 2>}
!30 = !{i32 1, !"wchar_size", i32 4}
!31 = !{i32 8, !"PIC Level", i32 2}
!32 = !{!"a compiler"}
