func.func @collatz(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %zero = arith.constant 0 : i64
  cf.br ^head(%n, %zero : i64, i64)
^head(%m: i64, %steps: i64):
  %done = arith.cmpi eq, %m, %one : i64
  cf.cond_br %done, ^exit(%steps : i64), ^body
^body:
  %next = arith.addi %steps, %one : i64
  %odd = arith.remui %m, %two : i64
  cf.switch %odd : i64, [
    default: ^up,
    0: ^down
  ]
^down:
  %half = arith.divui %m, %two : i64
  cf.br ^head(%half, %next : i64, i64)
^up:
  %triple = arith.muli %m, %three : i64
  %more = arith.addi %triple, %one : i64
  cf.br ^head(%more, %next : i64, i64)
^exit(%r: i64):
  return %r : i64
^unreachable(%u: i64):
  cf.br ^exit(%u : i64)
}
