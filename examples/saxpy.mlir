// Two functions written by hand with no tensors: only `func`, `arith`, `scf` and `memref`.

// Scaled sum of two vectors, elementwise: out[i] = a * x[i] + y[i].
//
// The result goes into the last parameter, whose length says how many elements are computed; `x`
// and `y` must be at least that long. `out` may be the same memory as `y` or `x`, as each element
// is read before it is written.
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = memref.dim %out, %c0 : memref<?xf32>
  scf.for %i = %c0 to %length step %c1 {
    %x_i = memref.load %x[%i] : memref<?xf32>
    %y_i = memref.load %y[%i] : memref<?xf32>
    %scaled = arith.mulf %a, %x_i : f32
    %sum = arith.addf %scaled, %y_i : f32
    memref.store %sum, %out[%i] : memref<?xf32>
  }
  return
}

// Greatest common divisor of two integers of either sign, by Euclid's algorithm; gcd(0, 0) is 0.
func.func @gcd(%a: i64, %b: i64) -> i64 {
  %zero = arith.constant 0 : i64

  // Drop the signs: |v| = max(v, 0 - v). From here on both numbers are unsigned.
  %a_negated = arith.subi %zero, %a : i64
  %b_negated = arith.subi %zero, %b : i64
  %a_abs = arith.maxsi %a, %a_negated : i64
  %b_abs = arith.maxsi %b, %b_negated : i64

  // while (v != 0) { (u, v) = (v, u mod v) }
  %result:2 = scf.while (%u = %a_abs, %v = %b_abs) : (i64, i64) -> (i64, i64) {
    %continue = arith.cmpi ne, %v, %zero : i64
    scf.condition(%continue) %u, %v : i64, i64
  } do {
  ^bb0(%u: i64, %v: i64):
    %remainder = arith.remui %u, %v : i64
    scf.yield %v, %remainder : i64, i64
  }
  return %result#0 : i64
}
