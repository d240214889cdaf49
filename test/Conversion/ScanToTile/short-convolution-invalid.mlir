// RUN: prism-opt %s --convert-scan-to-tile -verify-diagnostics -split-input-file

// What stands before a recurrence must be what its loads can do.

// -----

func.func @other_direction(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.short_convolution' op runs over other sequences than the recurrence; expected the same offsets and direction}}
  %y, %a = scan.short_convolution reverse %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %a : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}

// -----

func.func @not_taken(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.short_convolution' op is no input of the recurrence}}
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%x as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %a : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}

// -----

func.func @window_not_returned(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  // expected-error @below {{'func.return' op must return every result of the recurrence and every final window once}}
  return %o, %s : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @window_first(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x1x4x2xf32>, tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>) attributes {scan.entry = "forward"} {
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  // expected-error @below {{'func.return' op must return the recurrence's results in their order, then final windows in theirs}}
  return %a, %o, %s : tensor<?x1x4x2xf32>, tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>
}

// -----

func.func @convolved_array_returned(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x?x1x4xf32>) attributes {scan.entry = "forward"} {
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  // expected-error @below {{'func.return' op returns a value that is no result of the recurrence and no final window}}
  return %o, %s, %y : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x?x1x4xf32>
}

// -----

func.func @raw_and_convolved(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  // expected-error @below {{'scan.recurrence' op takes argument 'arg0' twice}}
  %o, %s = scan.recurrence ins(%x as "bthk", %y as "bthk" : tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>, %vt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %vt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %a : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}

// -----

func.func @one_element(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{has no tile form: the elements of a convolved input cannot be taken one by one}}
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %c1 = arith.constant 1 : index
    %g = tensor.extract %kt[%c1] : tensor<4xf32>
    %0 = scan.decay %S by %g along scalar : tensor<4x4xf32>, f32
    %1 = scan.inject %0 key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %a : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}

// -----

func.func @serial(%x: tensor<?x?x1x4xf32>, %w: tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>) attributes {scan.entry = "forward"} {
  // expected-error @below {{'scan.short_convolution' op stands before a recurrence whose steps are taken op by op, which takes no convolved inputs yet}}
  %y, %a = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x1x4xf32>, tensor<1x4x3xf32>) -> (tensor<?x?x1x4xf32>, tensor<?x1x4x2xf32>)
  %o, %s = scan.recurrence ins(%y as "bthk" : tensor<?x?x1x4xf32>) outs("bthv") finals("nhkv")
      plan #scan.plan<schedule = recurrent, chunk = 1, value_block = 0, stages = 1> {
  ^bb0(%S: tensor<4x4xf32>, %kt: tensor<4xf32>):
    %1 = scan.inject %S key %kt value %kt : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %z = scan.read %1 query %kt : tensor<4x4xf32>, tensor<4xf32> -> tensor<4xf32>
    scan.yield %1, %z : tensor<4x4xf32>, tensor<4xf32>
  } attributes {scan.plain_steps, scan.serial} -> (tensor<?x?x1x4xf32>), (tensor<?x1x4x4xf32>)
  return %o, %s, %a : tensor<?x?x1x4xf32>, tensor<?x1x4x4xf32>, tensor<?x1x4x2xf32>
}
