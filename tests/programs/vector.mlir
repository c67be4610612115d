func.func @shuffle(%a: vector<4xf32>, %b: vector<[4]xi32>, %m: memref<16xf32>, %i: index) -> vector<8xf32> {
  %pad = arith.constant 0x7FC00001 : f32
  %r = vector.transfer_read %m[%i], %pad {in_bounds = [true]} : memref<16xf32>, vector<4xf32>
  %s = vector.shuffle %a, %r [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
  %k = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %t = vector.reduction <add>, %k : vector<4xi32> into i32
  return %s : vector<8xf32>
}
