; Debug info: nodes of all usual kinds, cycles among them, records.
source_filename = "debug.c"
@g = global i32 1, !dbg !40

define i32 @f(i32 %x, ptr %p) !dbg !10 {
entry:
  %slot = alloca i32, align 4, !DIAssignID !60
    #dbg_value(i32 %x, !20, !DIExpression(), !30)
    #dbg_declare(ptr %slot, !21, !DIExpression(DW_OP_deref), !31)
    #dbg_assign(i32 %x, !21, !DIExpression(), !60, ptr %slot, !DIExpression(DW_OP_plus_uconst, 4), !31)
    #dbg_value(!DIArgList(i32 %x, i32 7), !22, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !32)
    #dbg_label(!33, !31)
  %y = add i32 %x, 1, !dbg !30
  store i32 %y, ptr %slot, align 4, !dbg !31, !DIAssignID !60
  br label %loop, !dbg !34
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ], !dbg !34
  %j = add i32 %i, 1, !dbg !35
  %c = icmp slt i32 %j, %y
  br i1 %c, label %loop, label %done, !dbg !34, !llvm.loop !50
done:
  %z = call ptr @malloc(i64 8), !dbg !36, !heapallocsite !70
  ret i32 %j, !dbg !36
}
declare ptr @malloc(i64)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!4, !5, !6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang", isOptimized: true, flags: "-g", runtimeVersion: 2, emissionKind: FullDebug, enums: !2, retainedTypes: !80, globals: !3, imports: !81, macros: !82, splitDebugInlining: false, nameTableKind: None, sysroot: "/", sdk: "s")
!1 = !DIFile(filename: "debug.c", directory: "/src", checksumkind: CSK_MD5, checksum: "00000000000000000000000000000001", source: "int g;")
!2 = !{!83}
!3 = !{!40}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !{i32 7, !"Dwarf Version", i32 5}
!6 = !{i32 1, !"wchar_size", i32 4}
!7 = !{!"clang"}
!10 = distinct !DISubprogram(name: "f", linkageName: "_f", scope: !1, file: !1, line: 3, type: !11, scopeLine: 4, containingType: !70, virtualIndex: 6, thisAdjustment: 8, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, templateParams: !84, declaration: !12, retainedNodes: !13, thrownTypes: !14, annotations: !15, targetFuncName: "target", keyInstructions: true)
!11 = !DISubroutineType(cc: DW_CC_nocall, types: !16)
!12 = !DISubprogram(name: "f", scope: !70, file: !1, line: 2, type: !11, spFlags: 0)
!13 = !{!20, !21}
!14 = !{!17}
!15 = !{!18}
!16 = !{!17, !17, !71}
!17 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed, flags: DIFlagBigEndian)
!18 = !{!"btf_decl_tag", !"tag"}
!20 = !DILocalVariable(name: "x", arg: 1, scope: !10, file: !1, line: 3, type: !17, flags: DIFlagArtificial, align: 32, annotations: !15)
!21 = !DILocalVariable(name: "slot", scope: !37, file: !1, line: 5, type: !17)
!22 = !DILocalVariable(name: "both", scope: !38, file: !1, line: 6, type: !71)
!30 = !DILocation(line: 3, column: 9, scope: !10)
!31 = !DILocation(line: 5, column: 2, scope: !37, isImplicitCode: true)
!32 = !DILocation(line: 6, column: 3, scope: !38)
!33 = !DILabel(scope: !10, name: "label", file: !1, line: 5, column: 3)
!34 = !DILocation(line: 7, column: 3, scope: !37, inlinedAt: !39)
!35 = !DILocation(line: 8, column: 4, scope: !37)
!36 = !DILocation(line: 9, column: 1, scope: !10, atomGroup: 1, atomRank: 2)
!37 = distinct !DILexicalBlock(scope: !10, file: !1, line: 5, column: 1)
!38 = !DILexicalBlockFile(scope: !37, file: !1, discriminator: 3)
!39 = distinct !DILocation(line: 20, column: 7, scope: !10)
!40 = !DIGlobalVariableExpression(var: !41, expr: !DIExpression(DW_OP_constu, 1, DW_OP_stack_value))
!41 = distinct !DIGlobalVariable(name: "g", linkageName: "_g", scope: !0, file: !1, line: 1, type: !72, isLocal: false, isDefinition: true, align: 64, templateParams: !84, declaration: !73, annotations: !15)
!50 = distinct !{!50, !34, !35, !51}
!51 = !{!"llvm.loop.mustprogress"}
!60 = distinct !DIAssignID()
!70 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "S", scope: !1, file: !1, line: 1, size: 128, align: 64, offset: 8, flags: DIFlagTypePassByValue, elements: !74, runtimeLang: DW_LANG_C11, vtableHolder: !70, templateParams: !84, identifier: "S.id", annotations: !15)
!71 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !70, size: 64, align: 32, dwarfAddressSpace: 1, annotations: !15)
!72 = !DICompositeType(tag: DW_TAG_array_type, baseType: !17, size: 32, elements: !75, dataLocation: !41, associated: !DIExpression(DW_OP_push_object_address), allocated: !41, rank: !DIExpression(DW_OP_constu, 1), bitStride: i64 8)
!73 = !DIDerivedType(tag: DW_TAG_member, name: "m", scope: !70, file: !1, line: 2, baseType: !71, size: 64, offset: 64, flags: DIFlagStaticMember, extraData: i32 4)
!74 = !{!73, !76, !12}
!75 = !{!77, !78}
!76 = !DIDerivedType(tag: DW_TAG_LLVM_ptrauth_type, baseType: !71, ptrAuthKey: 2, ptrAuthIsAddressDiscriminated: true, ptrAuthExtraDiscriminator: 1234)
!77 = !DISubrange(count: 4, lowerBound: 1, stride: 2)
!78 = !DIGenericSubrange(lowerBound: !DIExpression(DW_OP_constu, 1), upperBound: !DIExpression(DW_OP_constu, 2), stride: !DIExpression(DW_OP_constu, 3))
!80 = !{!70, !85, !86, !87}
!81 = !{!88}
!82 = !{!89}
!83 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "E", file: !1, baseType: !17, elements: !90, flags: DIFlagEnumClass)
!84 = !{!91, !92}
!85 = !DIStringType(name: "str", stringLength: !41, stringLengthExpression: !DIExpression(), stringLocationExpression: !DIExpression(DW_OP_constu, 4), size: 32, align: 8, encoding: DW_ATE_ASCII)
!86 = !DIFixedPointType(name: "fixed", size: 32, encoding: DW_ATE_signed_fixed, kind: Rational, numerator: 3, denominator: 7)
!87 = !DISubrangeType(name: "sub", file: !1, line: 3, scope: !1, size: 32, baseType: !17, lowerBound: i64 1, upperBound: i64 9, stride: i64 2, bias: i64 1)
!88 = !DIImportedEntity(tag: DW_TAG_imported_module, scope: !0, entity: !93, file: !1, line: 2, name: "ns", elements: !90)
!89 = !DIMacroFile(line: 1, file: !1, nodes: !94)
!90 = !{!96, !97}
!91 = !DITemplateTypeParameter(name: "T", type: !17, defaulted: true)
!92 = !DITemplateValueParameter(tag: DW_TAG_template_value_parameter, name: "V", type: !17, value: i32 3)
!93 = !DINamespace(name: "n", scope: !98, exportSymbols: true)
!94 = !{!99}
!95 = !DICommonBlock(scope: !0, declaration: !41, name: "c", file: !1, line: 4)
!96 = !DIEnumerator(name: "A", value: 1, isUnsigned: true)
!97 = !DIEnumerator(name: "B", value: -2)
!98 = !DIModule(scope: null, name: "mod", configMacros: "-DX", includePath: "/i", apinotes: "a", file: !1, line: 4, isDecl: true)
!99 = !DIMacro(type: DW_MACINFO_define, line: 2, name: "M", value: "1")
!100 = !DIObjCProperty(name: "prop", file: !1, line: 7, setter: "set", getter: "get", attributes: 3, type: !17)
!101 = !GenericDINode(tag: DW_TAG_GNU_template_parameter_pack, header: "h", operands: {!17, !71})
!other = !{!95, !100, !101}
