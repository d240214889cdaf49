func.func @"<img src=x onerror=alert(2)>\22"(
    %q: tensor<?x?x2x8xf32> {scan.name = "<script>alert(4)</script>"}, %k: tensor<?x?x2x8xf32> {scan.name = "k\22 onload=\22alert(3)"},
    %v: tensor<?x?x2x4xf32> {scan.name = "v\01&amp;"}, %g: tensor<?x?x2xf32> {scan.name = "g'><svg onload=alert(5)>"})
    -> (tensor<?x?x2x4xf32> {scan.name = "o"}, tensor<?x2x8x4xf32> {scan.name = "final_state"}) attributes {scan.entry = "forward"} {
  %o, %final = scan.recurrence
      ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bth"
          : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2xf32>)
      outs("bthv") finals("nhkv") {
  ^bb0(%S: tensor<8x4xf32>, %qt: tensor<8xf32>, %kt: tensor<8xf32>, %vt: tensor<4xf32>, %gt: f32):
    %kept = scan.decay %S by %gt along scalar : tensor<8x4xf32>, f32
    %next = scan.inject %kept key %kt value %vt : tensor<8x4xf32>, tensor<8xf32>, tensor<4xf32>
    %y = scan.read %next query %qt : tensor<8x4xf32>, tensor<8xf32> -> tensor<4xf32>
    scan.yield %next, %y : tensor<8x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x8x4xf32>)
  return %o, %final : tensor<?x?x2x4xf32>, tensor<?x2x8x4xf32>
}
