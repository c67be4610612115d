func.func @arith(%a: i32, %b: i32, %x: f32, %y: f32) -> (i32, f32) {
  %c = arith.constant 42 : i32
  %d = arith.addi %a, %b overflow<nsw> : i32
  %e = arith.subi %d, %c : i32
  %f = arith.mulf %x, %y fastmath<reassoc,nnan> : f32
  %g = arith.cmpi slt, %e, %c : i32
  %h = arith.select %g, %f, %x : f32
  %i = arith.extsi %e : i32 to i64
  %j = arith.trunci %i : i64 to i32
  return %j, %h : i32, f32
}
