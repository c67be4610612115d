module attributes {llvm.target_triple = "x86_64-unknown-linux-gnu", dlti.dl_spec = #dlti.dl_spec<i64 = dense<[32, 64]> : vector<2xi64>>} {
  llvm.mlir.global internal constant @text("hi\00") {addr_space = 0 : i32, alignment = 8 : i64}
  llvm.func @puts(!llvm.ptr {llvm.nocapture, llvm.readonly}) -> i32
  llvm.func @f(%p: !llvm.ptr {llvm.noalias}, %i: i64) -> !llvm.struct<(i32, ptr)> attributes {passthrough = ["nounwind", ["stack-align", "16"]]} {
    %0 = llvm.getelementptr inbounds %p[%i, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<"node", packed (i32, ptr, array<3 x i8>)>
    %1 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr -> !llvm.ptr
    %2 = llvm.mlir.addressof @text : !llvm.ptr
    %3 = llvm.call @puts(%2) {fastmathFlags = #llvm.fastmath<none>} : (!llvm.ptr) -> i32
    %4 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
    %5 = llvm.insertvalue %3, %4[0] : !llvm.struct<(i32, ptr)>
    %6 = llvm.insertvalue %1, %5[1] : !llvm.struct<(i32, ptr)>
    %7 = llvm.icmp "slt" %3, %3 : i32
    llvm.store volatile %3, %p {alignment = 4 : i64} : i32, !llvm.ptr
    llvm.return %6 : !llvm.struct<(i32, ptr)>
  }
}
