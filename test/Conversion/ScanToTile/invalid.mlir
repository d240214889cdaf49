// RUN: prism-opt %s --convert-scan-to-tile -verify-diagnostics -split-input-file

// expected-error @below {{'func.func' op has no planned recurrence; run scan-choose-chunk-size first or give a plan}}
func.func @unplanned(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv") {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

// expected-error @below {{'func.func' op has no planned recurrence; run scan-choose-chunk-size first or give a plan}}
func.func @chunk_left_open(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 0, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @per_value_in_chunks(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    // expected-error @below {{'scan.decay' op a decay along value has no chunk form: within a chunk every value column would need products of its own; the recurrent schedule takes it}}
    %0 = scan.decay %S by %kt along value : tensor<4x4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @not_a_factor(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.recurrence' op the state flows through an op that is no state factor; no parallel form is derived for it}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = arith.negf %S : tensor<4x4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @output_is_a_state(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btk") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %row = tensor.extract_slice %S[0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
    // expected-error @below {{'arith.mulf' op an output is made of the state itself, not of what is read of it; the recurrent schedule takes it}}
    %y = arith.mulf %row, %kt : tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @query_of_a_read(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %x = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    // expected-error @below {{'scan.read' op a query is made of the state, which is not known before the chunk is computed; the recurrent schedule takes it}}
    %y = scan.read %S query %x : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @element_of_a_read(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %c1 = arith.constant 1 : index
    // expected-error @below {{has no tile form: a row of a state, or of what is computed from one}}
    %x = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %e = tensor.extract %x[%c1] : tensor<4xf32>
    %y = tensor.splat %e : tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @unused(%k: tensor<?x?x4xf32>, %z: tensor<?x?x4xf32> {scan.name = "z"}) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}
// expected-error @-9 {{'func.func' op argument 'z' is not used by the recurrence}}

// -----

func.func @not_elementwise(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    // expected-error @below {{has no tile form: inside a step, what is not a state factor must be elementwise arith or math, a row, tensor.splat, linalg.broadcast, scan.l2norm or scan.refine; found 'tensor.concat'}}
    %n = tensor.concat dim(0) %kt : (tensor<4xf32>) -> tensor<4xf32>
    %y = scan.read %S query %n : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

// One row is a rank of its source; which one is known when compiling.
func.func @which_row(%k: tensor<?x?x4xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s = scan.recurrence ins(%k as "btk", %b as "bt" : tensor<?x?x4xf32>, tensor<?x?xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>, %bt: f32):
    %integer = arith.fptosi %bt : f32 to i64
    %row = arith.index_cast %integer : i64 to index
    // expected-error @below {{has no tile form: expected a whole row of the first axis at a constant place}}
    %g = tensor.extract %kt[%row] : tensor<4xf32>
    %0 = scan.decay %S by %g along scalar : tensor<4x4xf32>, f32
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @split_norm(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{cannot split its 4 value columns into blocks of 2: an l2norm, or a key or number made of what was read, takes all of them}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 2, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %n = scan.l2norm %kt : tensor<4xf32> -> tensor<4xf32>
    %0 = scan.inject %S key %kt value %n : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @split_key_read(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{cannot split its 4 value columns into blocks of 2: an l2norm, or a key or number made of what was read, takes all of them}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 2, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %key = math.tanh %y : tensor<4xf32>
    %0 = scan.inject %S key %key value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @split_output_norm(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{cannot split its 4 value columns into blocks of 2: an l2norm, or a key or number made of what was read, takes all of them}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 2, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %n = scan.l2norm %y : tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %n : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @value_of_another_state(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %Z: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    // expected-error @below {{'scan.inject' op a coefficient of state 2 is made of state 1, which is not known before the chunk is computed; the recurrent schedule takes it}}
    %0 = scan.inject %Z key %kt value %y : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    scan.yield %S, %0, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @erases_what_another_holds(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %Z: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %one = arith.constant 1.0 : f32
    // expected-error @below {{'scan.erase' op state 2 reads another state than itself; the recurrent schedule takes it}}
    %0 = scan.erase %Z of %S read %kt write %kt strength %one : tensor<4x4xf32> of tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    scan.yield %S, %0, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @states_that_meet(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.recurrence' op state 2 is no chain of factors, nor a number made of inputs alone; the recurrent schedule takes it}}
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %Z: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %0 = arith.addf %Z, %S : tensor<4x4xf32>
    scan.yield %S, %0, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @read_beside_the_chain(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %Z: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %0 = scan.inject %Z key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    // expected-error @below {{'scan.read' op a read is of a state that no next state is made of; the recurrent schedule takes it}}
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %0, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @values_first(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.recurrence' op state 2 has values first, which chunks of several states do not take; the recurrent schedule takes it}}
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %Z: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    %e0 = tensor.empty() : tensor<4x4xf32>
    %t = linalg.transpose ins(%Z : tensor<4x4xf32>) outs(%e0 : tensor<4x4xf32>) permutation = [1, 0]
    %1 = scan.inject %t key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %0 = linalg.transpose ins(%1 : tensor<4x4xf32>) outs(%e0 : tensor<4x4xf32>) permutation = [1, 0]
    scan.yield %S, %0, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @numbers_only(%k: tensor<?x?xf32>) -> (tensor<?x?x1xf32>, tensor<?x1x1x1xf32>, tensor<?x1x1x1xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.recurrence' op no state is a chain of factors; the recurrent schedule takes it}}
  %o, %s:2 = scan.recurrence ins(%k as "bt" : tensor<?x?xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<1x1xf32>, %Z: tensor<1x1xf32>, %kt: f32):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %0 = math.tanh %S : tensor<1x1xf32>
    %1 = arith.addf %Z, %0 : tensor<1x1xf32>
    %y = scan.read %1 query %one : tensor<1x1xf32>, tensor<1xf32> -> tensor<1xf32>
    scan.yield %0, %1, %y : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>
  } -> (tensor<?x?x1xf32>), (tensor<?x1x1x1xf32>, tensor<?x1x1x1xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x1xf32>, tensor<?x1x1x1xf32>, tensor<?x1x1x1xf32>
}

// -----

func.func @several_split(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{cannot split its 4 value columns into blocks of 2: it has several states}}
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhky")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 2, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %z: tensor<4x1xf32>, %kt: tensor<4xf32>):
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %z, %y : tensor<4x4xf32>, tensor<4x1xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>
}

// -----

func.func @computed_state(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>) attributes {scan.entry = "forward"} {
  %o, %s:2 = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhky")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %z: tensor<4x1xf32>, %kt: tensor<4xf32>):
    %z0 = tensor.empty() : tensor<4x1xf32>
    // expected-error @below {{the state flows through an op that is no state factor; a state of one element may also be made of a scalar}}
    %z1 = linalg.copy ins(%z : tensor<4x1xf32>) outs(%z0 : tensor<4x1xf32>) -> tensor<4x1xf32>
    %y = scan.read %S query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %z1, %y : tensor<4x4xf32>, tensor<4x1xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>)
  return %o, %s#0, %s#1 : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x1xf32>
}

// -----

func.func @from_state(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{has a coefficient that is computed from the state, even if the state cancels in it; it has no tile form}}
  %o, %s = scan.recurrence ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %row = tensor.extract_slice %S[0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
    %nothing = arith.subf %row, %row : tensor<4xf32>
    %0 = scan.inject %S key %kt value %nothing : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @mini_batches(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{has mini-batches of 8 steps and a plan with chunk 1; the plan must be of chunks of that size, 2 or more}}
  %o, %s = scan.recurrence mini_batch 8 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %E: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %y = scan.read %E query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %S, %y : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @coupled_decay(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s, %r = scan.recurrence mini_batch 8 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %R: tensor<4x4xf32>, %E: tensor<4x4xf32>, %F: tensor<4x4xf32>, %kt: tensor<4xf32>):
    // expected-error @below {{'scan.decay' op a decay along key has no form beside coupled states yet: they take one number for the whole state}}
    %0 = scan.decay %S by %kt along key : tensor<4x4xf32>, tensor<4xf32>
    %1 = arith.addf %0, %R : tensor<4x4xf32>
    %y = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %R, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s, %r : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @coupled_erase(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s, %r = scan.recurrence mini_batch 8 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %R: tensor<4x4xf32>, %E: tensor<4x4xf32>, %F: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %one = arith.constant 1.0 : f32
    // expected-error @below {{'scan.erase' op reads a state as it is within the mini-batch; beside coupled states an erase reads a state at the mini-batch's entry}}
    %0 = scan.erase %S read %kt write %kt strength %one : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, f32
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %R, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s, %r : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @coupled_product(%k: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %o, %s, %r = scan.recurrence mini_batch 8 ins(%k as "btk" : tensor<?x?x4xf32>) outs("btv") finals("nhkv", "nhkv")
      plan #scan.plan<schedule = chunk, chunk = 8, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %R: tensor<4x4xf32>, %E: tensor<4x4xf32>, %F: tensor<4x4xf32>, %kt: tensor<4xf32>):
    // expected-error @below {{'arith.mulf' makes a state in a way that mini-batches do not take: expected a state factor, or arith.addf, subf, negf or mulf by one number of states}}
    %0 = arith.mulf %S, %R : tensor<4x4xf32>
    %y = scan.read %0 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %0, %R, %y : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x4xf32>), (tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>)
  return %o, %s, %r : tensor<?x?x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x4xf32>
}
