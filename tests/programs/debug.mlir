#file = #llvm.di_file<"a.c" in "/src">
#int = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "int", sizeInBits = 32, encoding = DW_ATE_signed>
#cu = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C11, file = #file, isOptimized = true, emissionKind = Full>
#fn = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #cu, scope = #file, name = "f", file = #file, line = 3, subprogramFlags = "Definition">
#var = #llvm.di_local_variable<scope = #fn, name = "x", file = #file, line = 4, arg = 1, type = #int>
#domain = #llvm.alias_scope_domain<id = distinct[2]<>, description = "d">
#scope = #llvm.alias_scope<id = distinct[3]<>, domain = #domain>
llvm.func @f(%x: i32, %p: !llvm.ptr) {
  llvm.intr.dbg.value #var = %x : i32
  llvm.store %x, %p {alias_scopes = [#scope]} : i32, !llvm.ptr
  llvm.return
}
