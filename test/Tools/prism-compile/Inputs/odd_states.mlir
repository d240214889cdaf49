// A state of one axis, and one without elements.
func.func @vector(%x: tensor<?x?x8xf32> {scan.name = "x"}) -> (tensor<?x8xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %final = scan.recurrence ins(%x as "btk" : tensor<?x?x8xf32>) outs() finals("nk") {
  ^bb0(%S: tensor<8xf32>, %x_t: tensor<8xf32>):
    %next = arith.addf %S, %x_t : tensor<8xf32>
    scan.yield %next : tensor<8xf32>
  } -> (), (tensor<?x8xf32>)
  return %final : tensor<?x8xf32>
}
func.func @empty(%v: tensor<?x?x4xf32> {scan.name = "v"}) -> (tensor<?x0x4xf32> {scan.name = "final_state"})
    attributes {scan.entry = "forward"} {
  %final = scan.recurrence ins(%v as "btv" : tensor<?x?x4xf32>) outs() finals("nkv") {
  ^bb0(%S: tensor<0x4xf32>, %v_t: tensor<4xf32>):
    %next = arith.negf %S : tensor<0x4xf32>
    scan.yield %next : tensor<0x4xf32>
  } -> (), (tensor<?x0x4xf32>)
  return %final : tensor<?x0x4xf32>
}
