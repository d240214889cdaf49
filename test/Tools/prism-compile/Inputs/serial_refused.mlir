// Serial steps that are refused, an entry each.

func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func private @forever(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @forever(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @external(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %n = func.call @outside(%h) : (tensor<4xf32>) -> tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @recursive(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %n = func.call @forever(%h) : (tensor<4xf32>) -> tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @loop(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %n = scf.while (%a = %h) : (tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %first = tensor.extract %a[%c0] : tensor<4xf32>
      %large = arith.cmpf ogt, %first, %one : f32
      scf.condition(%large) %a : tensor<4xf32>
    } do {
    ^bb0(%a: tensor<4xf32>):
      %b = math.tanh %a : tensor<4xf32>
      scf.yield %b : tensor<4xf32>
    }
    %t = math.tanh %n : tensor<4xf32>
    scan.yield %t, %t : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @dynamic(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %d = tensor.cast %h : tensor<4xf32> to tensor<?xf32>
    %t = math.tanh %d : tensor<?xf32>
    %n = tensor.cast %t : tensor<?xf32> to tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @axes(%x: tensor<?x?x2x4x3x2xf32>) -> (tensor<?x?x2x4x3x2xf32>, tensor<?x2x4x3x2xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthuvw" : tensor<?x?x2x4x3x2xf32>) outs("bthuvw") finals("nhuvw") {
  ^bb0(%h: tensor<4x3x2xf32>, %x_t: tensor<4x3x2xf32>):
    %n = math.tanh %h : tensor<4x3x2xf32>
    scan.yield %n, %n : tensor<4x3x2xf32>, tensor<4x3x2xf32>
  } -> (tensor<?x?x2x4x3x2xf32>), (tensor<?x2x4x3x2xf32>)
  return %y, %f : tensor<?x?x2x4x3x2xf32>, tensor<?x2x4x3x2xf32>
}

func.func @captured(%x: tensor<?x?x2x4xf32>, %w: tensor<?xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %c0 = arith.constant 0 : index
    %one = tensor.extract %w[%c0] : tensor<?xf32>
    %all = tensor.splat %one : tensor<4xf32>
    %s = arith.mulf %h, %all : tensor<4xf32>
    %n = math.tanh %s : tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @planned(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence mini_batch 8 ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%h: tensor<4xf32>, %entry: tensor<4xf32>, %x_t: tensor<4xf32>):
    %s = arith.addf %h, %entry : tensor<4xf32>
    %n = math.tanh %s : tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @width(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %s = math.tanh %h : tensor<4xf32>
    %i = arith.fptosi %s : tensor<4xf32> to tensor<4xi24>
    %n = arith.sitofp %i : tensor<4xi24> to tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @inner_type(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %n = linalg.map ins(%h : tensor<4xf32>) outs(%x_t : tensor<4xf32>) (%a: f32, %b: f32) {
      %z = arith.fptosi %a : f32 to i24
      %t = arith.sitofp %z : i24 to f32
      %s = math.tanh %t : f32
      linalg.yield %s : f32
    }
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}

func.func @large(%x: tensor<?x?x1x8xf32>) -> (tensor<?x?x1x8xf32>, tensor<?x1x8xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x1x8xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<8xf32>, %x_t: tensor<8xf32>):
    %t = math.tanh %h : tensor<8xf32>
    %empty = tensor.empty() : tensor<8388608x8xf32>
    %rows = linalg.broadcast ins(%t : tensor<8xf32>) outs(%empty : tensor<8388608x8xf32>) dimensions = [0]
    %tanhs = math.tanh %rows : tensor<8388608x8xf32>
    %row = tensor.extract_slice %tanhs[5, 0] [1, 8] [1, 1] : tensor<8388608x8xf32> to tensor<8xf32>
    %n = arith.addf %row, %x_t : tensor<8xf32>
    scan.yield %n, %n : tensor<8xf32>, tensor<8xf32>
  } -> (tensor<?x?x1x8xf32>), (tensor<?x1x8xf32>)
  return %y, %f : tensor<?x?x1x8xf32>, tensor<?x1x8xf32>
}

func.func @beyond(%x: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4xf32>) attributes {scan.entry = "forward"} {
  %y, %f = scan.recurrence ins(%x as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhv") {
  ^bb0(%h: tensor<4xf32>, %x_t: tensor<4xf32>):
    %c4 = arith.constant 4 : index
    %one = tensor.extract %x_t[%c4] : tensor<4xf32>
    %all = tensor.splat %one : tensor<4xf32>
    %n = arith.mulf %h, %all : tensor<4xf32>
    scan.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<?x?x2x4xf32>), (tensor<?x2x4xf32>)
  return %y, %f : tensor<?x?x2x4xf32>, tensor<?x2x4xf32>
}
