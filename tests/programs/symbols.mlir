module @outer attributes {x.version = 3 : i64} {
  module @inner {
    func.func private @callee(i32) -> i32
  }
  func.func @caller(%f: (i32) -> i32, %x: i32) -> i32 attributes {inline = @inner::@callee} {
    %g = constant @helper : (i32) -> i32
    %0 = call @helper(%x) : (i32) -> i32
    %1 = call_indirect %g(%0) : (i32) -> i32
    return %1 : i32
  }
  func.func private @helper(%x: i32 {x.range = [0 : i32, 10 : i32]}) -> (i32 {x.unit}) {
    return %x : i32
  }
}
