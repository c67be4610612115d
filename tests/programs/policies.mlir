module @name attributes {t.tag = 1 : i32, t.entry = @third} {
  func.func private @dead() { call @second() : () -> () return }
  func.func private @third(%x: i32 {t.tag}, %y: i32) -> i32 {
    %0 = arith.addi %y, %x {t.other} : i32
    return %0 : i32
  }
  func.func private @second() { return }
  memref.global "private" constant @table : memref<4xi32> = dense<[4, 3, 2, 1]>
  func.func @first(%x: i32) -> i32 {
    %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %m = memref.get_global @table : memref<4xi32>
    %0 = call @third(%x, %x) : (i32, i32) -> i32
    return %0 : i32
  ^b:
    call @second() : () -> ()
    cf.br ^c
  ^c:
    cf.br ^b
  ^d(%z: i32):
    %1 = arith.muli %z, %x : i32
    cf.br ^d(%1 : i32)
  }
}
