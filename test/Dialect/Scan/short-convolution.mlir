// RUN: prism-opt %s | prism-opt | FileCheck %s
// RUN: prism-opt %s -mlir-print-op-generic | prism-opt | FileCheck %s
// RUN: prism-opt %s --emit-bytecode | prism-opt | FileCheck %s

// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<?x?x4x64xf32>, %w: tensor<4x64x4xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>) {
  // CHECK: scan.short_convolution %{{.*}} as "bthk" weight %{{.*}} activation identity : (tensor<?x?x4x64xf32>, tensor<4x64x4xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>)
  %y, %s = scan.short_convolution %x as "bthk" weight %w activation identity
      : (tensor<?x?x4x64xf32>, tensor<4x64x4xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>)
  return %y, %s : tensor<?x?x4x64xf32>, tensor<?x4x64x3xf32>
}

// CHECK-LABEL: func.func @all_clauses
func.func @all_clauses(%x: tensor<2x1x?x5xbf16>, %w: tensor<1x5x8xf32>, %b: tensor<1x5xbf16>, %s0: tensor<?x1x5x7xbf16>,
    %offsets: tensor<?xi64>) -> (tensor<2x1x?x5xf32>, tensor<?x1x5x7xbf16>) {
  // CHECK: scan.short_convolution reverse %{{.*}} as "bhtv" weight %{{.*}} bias %{{.*}} window %{{.*}} offsets %{{.*}} activation silu : (
  // CHECK-SAME: tensor<2x1x?x5xbf16>, tensor<1x5x8xf32>, tensor<1x5xbf16>, tensor<?x1x5x7xbf16>, tensor<?xi64>) -> (tensor<2x1x?x5xf32>, tensor<?x1x5x7xbf16>)
  %y, %s = scan.short_convolution reverse %x as "bhtv" weight %w bias %b window %s0 offsets %offsets activation silu
      : (tensor<2x1x?x5xbf16>, tensor<1x5x8xf32>, tensor<1x5xbf16>, tensor<?x1x5x7xbf16>, tensor<?xi64>)
      -> (tensor<2x1x?x5xf32>, tensor<?x1x5x7xbf16>)
  return %y, %s : tensor<2x1x?x5xf32>, tensor<?x1x5x7xbf16>
}
