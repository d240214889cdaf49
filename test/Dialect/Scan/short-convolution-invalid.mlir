// RUN: prism-opt %s -verify-diagnostics -split-input-file

func.func @no_heads(%x: tensor<?x?x64xf32>, %w: tensor<1x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V1] expects an input of axes b, t, h in any order and one of its own, the last, found "btk"}}
  %y, %f = scan.short_convolution %x as "btk" weight %w activation identity
      : (tensor<?x?x64xf32>, tensor<1x64x4xf32>) -> (tensor<?x?x64xf32>, tensor<?x1x64x3xf32>)
  return
}

// -----

func.func @channels_first(%x: tensor<?x64x?x4xf32>, %w: tensor<4x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V1] expects an input of axes b, t, h in any order and one of its own, the last, found "bkth"}}
  %y, %f = scan.short_convolution %x as "bkth" weight %w activation identity
      : (tensor<?x64x?x4xf32>, tensor<4x64x4xf32>) -> (tensor<?x64x?x4xf32>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @too_few_axes(%x: tensor<?x?x64xf32>, %w: tensor<1x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V1] names 4 axes of an input 'tensor<?x?x64xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x64xf32>, tensor<1x64x4xf32>) -> (tensor<?x?x64xf32>, tensor<?x1x64x3xf32>)
  return
}

// -----

func.func @heads_not_known(%x: tensor<?x?x?x64xf32>, %w: tensor<4x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V2] expects static, positive heads and channels, found 'tensor<?x?x?x64xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x?x64xf32>, tensor<4x64x4xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @taps_first(%x: tensor<?x?x4x64xf32>, %w: tensor<4x4x64xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V3] expects a weight of 4x64 and the taps, found 'tensor<4x4x64xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x4x64xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @one_tap(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x1xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V3] expects 2 to 8 taps, found 'tensor<4x64x1xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x1xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x0xf32>)
  return
}

// -----

func.func @nine_taps(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x9xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V3] expects 2 to 8 taps, found 'tensor<4x64x9xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x9xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x8xf32>)
  return
}

// -----

func.func @bias_per_head(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V3] expects a bias of 4x64, found 'tensor<4xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w bias %b activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x4xf32>, tensor<4xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @window_of_all_taps(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x4xf32>, %s: tensor<?x4x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V4] expects an initial window of Nx4x64x3 elements of the input's type, found 'tensor<?x4x64x4xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w window %s activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x4xf32>, tensor<?x4x64x4xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @window_of_another_type(%x: tensor<?x?x4x64xbf16>, %w: tensor<4x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V4] expects a final window of Nx4x64x3 elements of the input's type, found 'tensor<?x4x64x3xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xbf16>, tensor<4x64x4xf32>) -> (tensor<?x?x4x64xbf16>, tensor<?x4x64x3xf32>)
  return
}

// -----

func.func @result_of_another_shape(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x4xf32>) {
  // expected-error @below {{'scan.short_convolution' op [V5] expects a result of the input's shape 'tensor<?x?x4x64xf32>', found 'tensor<?x?x64x4xf32>'}}
  %y, %f = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x4xf32>) -> (tensor<?x?x64x4xf32>, tensor<?x4x64x3xf32>)
  return
}
