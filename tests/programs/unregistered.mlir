"t.graph"() ({
  %0 = "t.late"(%1) {v = [1, "two", 3.0 : f64, @s::@t, dense<[true, false]> : tensor<2xi1>]} : (i32) -> i32
  %1 = "t.early"() {t = tuple<i1, complex<f32>, none>, u, w = -1 : i128, set = affine_set<(d0) : (d0 == 0)>} : () -> i32
}) {o = #unknown<"data">, p = !unknown<"type">, a = array<i8: 1, 2>, s = sparse<[[0]], [1]> : tensor<4xi32>} : () -> ()
