func.func @sum(%n: index, %start: f64) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (f64) {
    %k = arith.index_cast %i : index to i64
    %x = arith.sitofp %k : i64 to f64
    %c = arith.cmpf olt, %x, %acc : f64
    %r = scf.if %c -> (f64) {
      %s = arith.addf %acc, %x : f64
      scf.yield %s : f64
    } else {
      %s = arith.subf %acc, %x : f64
      scf.yield %s : f64
    }
    scf.yield %r : f64
  }
  return %sum : f64
}
