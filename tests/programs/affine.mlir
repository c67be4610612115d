#set = affine_set<(d0)[s0] : (d0 - 10 >= 0, s0 - d0 - 1 >= 0, d0 mod 2 == 0)>
func.func @stencil(%m: memref<64x64xf32>, %n: index) {
  affine.for %i = 1 to 63 {
    affine.for %j = 0 to min affine_map<(d0)[s0] -> (d0 + s0, 64)>(%i)[%n] step 2 {
      affine.if #set(%i)[%n] {
        %0 = affine.load %m[%i - 1, %j floordiv 2] : memref<64x64xf32>
        affine.store %0, %m[%i, symbol(%n) + %j] : memref<64x64xf32>
      }
    }
  }
  return
}
