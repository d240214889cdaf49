// RUN: not prism-opt %s --convert-tile-to-gpu=threads=100 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not prism-opt %s --convert-tile-to-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not prism-opt %s --convert-tile-to-gpu=target=cuda:sm_91 2>&1 | FileCheck %s --check-prefix=CHIP

// THREADS: error: 'tile.program' op cannot run with 100 threads a block; expected a multiple of 32 up to 1024
// CPU: error: option target: expected a cuda target, found 'cpu'
// CHIP: error: target 'cuda:sm_91': unknown chip 'sm_91', expected one of {{.*}}; did you mean 'sm_90'?
tile.program @nothing() heads 1 values 1 block 1 chunk 1 {
  tile.return
}
