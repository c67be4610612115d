memref.global "private" constant @table : memref<4xf32> = dense<[0.0, 1.5, -0.0, 3.0]>
func.func @gather(%out: memref<?x4xf32, strided<[?, 1], offset: ?>>, %i: index) {
  %zero = arith.constant 0 : index
  %t = memref.get_global @table : memref<4xf32>
  %v = memref.load %t[%i] : memref<4xf32>
  %n = memref.dim %out, %zero : memref<?x4xf32, strided<[?, 1], offset: ?>>
  %buf = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32, 3>
  memref.store %v, %buf[%zero] : memref<?xf32, 3>
  memref.store %v, %out[%zero, %i] : memref<?x4xf32, strided<[?, 1], offset: ?>>
  memref.dealloc %buf : memref<?xf32, 3>
  return
}
