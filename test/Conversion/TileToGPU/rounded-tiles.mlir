// Tiles of 16 bits are for tensor cores; neither plain strategy takes them.
//
// RUN: not prism-opt %s --convert-tile-to-gpu 2>&1 | FileCheck %s
// RUN: not prism-opt %s --convert-tile-to-gpu=strategy=registers 2>&1 | FileCheck %s --check-prefix=REGISTERS
// CHECK: error: 'tile.load' op yields a tile of 16 bits, 'tensor<1x16xbf16>'; without tensor cores a GPU kernel computes in f32
// REGISTERS: error: 'tile.program' op cannot keep its state in registers: it holds a tile of 16 bits
tile.program @rounded(
    %a: !tile.view<?x16xbf16> as <name = "a", axes = "btv", heads = 0, role = "input", optional = false>,
    %r: !tile.view<?x16xf32> as <name = "r", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 16 block 16 chunk 1 {
  %c0 = arith.constant 0 : index
  %A = tile.load %a[%c0, %c0] : !tile.view<?x16xbf16> -> tensor<1x16xbf16>
  %B = arith.extf %A : tensor<1x16xbf16> to tensor<1x16xf32>
  tile.store %B, %r[%c0, %c0] : tensor<1x16xf32>, !tile.view<?x16xf32>
  tile.return
}
