// (Q K^T) V on one warpgroup, with the scores never leaving registers: the
// hand-written state-1 program of docs/decisions/20261129-tile-program.md, in the
// dialects to which state 1 will be lowered. The score accumulator of a wgmma is,
// packed to bf16 pair by pair, the A operand of the next one.
//
// RUN: mlir-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,convert-nvvm-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,canonicalize,cse,reconcile-unrealized-casts)' \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O3 -S | llc -O3 -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=+ptx80 -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin > %t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log --check-prefix=PTXAS
// REQUIRES: ptxas
//
// Scores from two shared-memory descriptors, then the product whose A operand is
// four registers. No shuffle and no shared-memory store stands between them.
// CHECK-LABEL: .entry scores_times_values
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}}, %rd{{[0-9]+}}, %rd
// CHECK-NOT: shfl
// CHECK-NOT: st.shared
// CHECK-COUNT-16: cvt.rn.bf16x2.f32
// CHECK-NOT: shfl
// CHECK-NOT: st.shared
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd
//
// A C75xx line means that ptxas serialised the wgmmas or added waits of its own.
// PTXAS-NOT: C75
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: C75

!acc = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>

// Three 64 x 64 bf16 tiles. A row is 128 bytes; its 16-byte pieces are permuted by
// the row's number modulo 8 (the 128-byte swizzle that wgmma descriptors name).
llvm.mlir.global internal @tiles() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<24576 x i8>

// Copies a row-major 64 x 64 bf16 tile into shared memory: 512 pieces of 16 bytes,
// four for each of the 128 threads.
llvm.func internal @copy_tile(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %tid: i32) attributes {always_inline} {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c7 = arith.constant 7 : i32
  %row = arith.shrui %tid, %c3 : i32
  %piece = arith.andi %tid, %c7 : i32
  %phase = arith.andi %row, %c7 : i32
  %swizzled = arith.xori %piece, %phase : i32
  %row_offset = arith.shli %row, %c7 : i32
  %piece_offset = arith.shli %swizzled, %c4 : i32
  %offset = arith.addi %row_offset, %piece_offset : i32
  %source = arith.shli %tid, %c4 : i32
  %d0 = llvm.getelementptr %to[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %s0 = llvm.getelementptr %from[%source] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %d0, %s0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %d1 = llvm.getelementptr %d0[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %s1 = llvm.getelementptr %s0[2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %d1, %s1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %d2 = llvm.getelementptr %d0[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %s2 = llvm.getelementptr %s0[4096] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %d2, %s2, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %d3 = llvm.getelementptr %d0[6144] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %s3 = llvm.getelementptr %s0[6144] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %d3, %s3, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// q: 64 x 64, k and v: 64 blocks x 64, all bf16 row-major; o: 64 x 64 f32. One block of 128 threads.
llvm.func @scores_times_values(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %v: !llvm.ptr<1>, %o: !llvm.ptr<1>, %blocks: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c13 = arith.constant 13 : i32
  %c31 = arith.constant 31 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %qs = llvm.mlir.addressof @tiles : !llvm.ptr<3>
  %ks = llvm.getelementptr %qs[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %vs = llvm.getelementptr %qs[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8

  // Descriptors: address / 16 in bits 0-13, 1024 bytes between groups of eight rows
  // (bits 32-45), 128-byte swizzle (bit 62). Masked to 18 bits: in a cluster the
  // address also carries the block's rank.
  %mask = arith.constant 0x3ffff : i64
  %four = arith.constant 4 : i64
  %fields = arith.constant 0x4000004000010000 : i64
  %ktile = arith.constant 512 : i64
  %vtile = arith.constant 1024 : i64
  %address = llvm.ptrtoint %qs : !llvm.ptr<3> to i64
  %masked = arith.andi %address, %mask : i64
  %units = arith.shrui %masked, %four : i64
  %dq0 = arith.addi %units, %fields : i64
  %dk0 = arith.addi %dq0, %ktile : i64
  %dv0 = arith.addi %dq0, %vtile : i64
  // The next 16 of the contracted axis: 32 bytes along a row of Q and K ...
  %k1 = arith.constant 2 : i64
  %k2 = arith.constant 4 : i64
  %k3 = arith.constant 6 : i64
  %dq1 = arith.addi %dq0, %k1 : i64
  %dk1 = arith.addi %dk0, %k1 : i64
  %dq2 = arith.addi %dq0, %k2 : i64
  %dk2 = arith.addi %dk0, %k2 : i64
  %dq3 = arith.addi %dq0, %k3 : i64
  %dk3 = arith.addi %dk0, %k3 : i64
  // ... and 16 rows of V, which is read as it lies, rows by columns.
  %v1 = arith.constant 128 : i64
  %dv1 = arith.addi %dv0, %v1 : i64
  %v2 = arith.constant 256 : i64
  %dv2 = arith.addi %dv0, %v2 : i64
  %v3 = arith.constant 384 : i64
  %dv3 = arith.addi %dv0, %v3 : i64

  llvm.call @copy_tile(%qs, %q, %tid) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %none = llvm.mlir.undef : !acc
  %zero = llvm.mlir.zero : !acc
  %sum = scf.for %j = %c0 to %blocks step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
    %here = arith.shli %j, %c13 : i32
    %kj = llvm.getelementptr %k[%here] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %vj = llvm.getelementptr %v[%here] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.barrier0 // the former block's tiles have been read
    llvm.call @copy_tile(%ks, %kj, %tid) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
    llvm.call @copy_tile(%vs, %vj, %tid) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0

    // S = Q K^T.
    nvvm.wgmma.fence.aligned
    %p0 = nvvm.wgmma.mma_async %dq0, %dk0, %none,
        #nvvm.shape<m = 64, n = 64, k = 16>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<zero>],
        A [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>],
        B [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !acc -> !acc
    %p1 = nvvm.wgmma.mma_async %dq1, %dk1, %p0,
        #nvvm.shape<m = 64, n = 64, k = 16>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
        A [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>],
        B [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !acc -> !acc
    %p2 = nvvm.wgmma.mma_async %dq2, %dk2, %p1,
        #nvvm.shape<m = 64, n = 64, k = 16>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
        A [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>],
        B [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !acc -> !acc
    %p3 = nvvm.wgmma.mma_async %dq3, %dk3, %p2,
        #nvvm.shape<m = 64, n = 64, k = 16>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
        A [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>],
        B [#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !acc -> !acc
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0

    // P: elements 8s .. 8s+7 of the accumulator are the A fragment of the s-th 16
    // columns. Packed only now, when nothing reads a former P any more.
    %s0 = llvm.extractvalue %p3[0] : !acc
    %s1 = llvm.extractvalue %p3[1] : !acc
    %s2 = llvm.extractvalue %p3[2] : !acc
    %s3 = llvm.extractvalue %p3[3] : !acc
    %s4 = llvm.extractvalue %p3[4] : !acc
    %s5 = llvm.extractvalue %p3[5] : !acc
    %s6 = llvm.extractvalue %p3[6] : !acc
    %s7 = llvm.extractvalue %p3[7] : !acc
    %s8 = llvm.extractvalue %p3[8] : !acc
    %s9 = llvm.extractvalue %p3[9] : !acc
    %s10 = llvm.extractvalue %p3[10] : !acc
    %s11 = llvm.extractvalue %p3[11] : !acc
    %s12 = llvm.extractvalue %p3[12] : !acc
    %s13 = llvm.extractvalue %p3[13] : !acc
    %s14 = llvm.extractvalue %p3[14] : !acc
    %s15 = llvm.extractvalue %p3[15] : !acc
    %s16 = llvm.extractvalue %p3[16] : !acc
    %s17 = llvm.extractvalue %p3[17] : !acc
    %s18 = llvm.extractvalue %p3[18] : !acc
    %s19 = llvm.extractvalue %p3[19] : !acc
    %s20 = llvm.extractvalue %p3[20] : !acc
    %s21 = llvm.extractvalue %p3[21] : !acc
    %s22 = llvm.extractvalue %p3[22] : !acc
    %s23 = llvm.extractvalue %p3[23] : !acc
    %s24 = llvm.extractvalue %p3[24] : !acc
    %s25 = llvm.extractvalue %p3[25] : !acc
    %s26 = llvm.extractvalue %p3[26] : !acc
    %s27 = llvm.extractvalue %p3[27] : !acc
    %s28 = llvm.extractvalue %p3[28] : !acc
    %s29 = llvm.extractvalue %p3[29] : !acc
    %s30 = llvm.extractvalue %p3[30] : !acc
    %s31 = llvm.extractvalue %p3[31] : !acc
    %w0 = nvvm.convert.f32x2.to.bf16x2 %s1, %s0 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w1 = nvvm.convert.f32x2.to.bf16x2 %s3, %s2 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w2 = nvvm.convert.f32x2.to.bf16x2 %s5, %s4 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w3 = nvvm.convert.f32x2.to.bf16x2 %s7, %s6 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w4 = nvvm.convert.f32x2.to.bf16x2 %s9, %s8 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w5 = nvvm.convert.f32x2.to.bf16x2 %s11, %s10 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w6 = nvvm.convert.f32x2.to.bf16x2 %s13, %s12 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w7 = nvvm.convert.f32x2.to.bf16x2 %s15, %s14 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w8 = nvvm.convert.f32x2.to.bf16x2 %s17, %s16 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w9 = nvvm.convert.f32x2.to.bf16x2 %s19, %s18 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w10 = nvvm.convert.f32x2.to.bf16x2 %s21, %s20 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w11 = nvvm.convert.f32x2.to.bf16x2 %s23, %s22 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w12 = nvvm.convert.f32x2.to.bf16x2 %s25, %s24 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w13 = nvvm.convert.f32x2.to.bf16x2 %s27, %s26 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w14 = nvvm.convert.f32x2.to.bf16x2 %s29, %s28 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %w15 = nvvm.convert.f32x2.to.bf16x2 %s31, %s30 {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
    %a0 = llvm.bitcast %w0 : vector<2xbf16> to i32
    %a1 = llvm.bitcast %w1 : vector<2xbf16> to i32
    %a2 = llvm.bitcast %w2 : vector<2xbf16> to i32
    %a3 = llvm.bitcast %w3 : vector<2xbf16> to i32
    %a4 = llvm.bitcast %w4 : vector<2xbf16> to i32
    %a5 = llvm.bitcast %w5 : vector<2xbf16> to i32
    %a6 = llvm.bitcast %w6 : vector<2xbf16> to i32
    %a7 = llvm.bitcast %w7 : vector<2xbf16> to i32
    %a8 = llvm.bitcast %w8 : vector<2xbf16> to i32
    %a9 = llvm.bitcast %w9 : vector<2xbf16> to i32
    %a10 = llvm.bitcast %w10 : vector<2xbf16> to i32
    %a11 = llvm.bitcast %w11 : vector<2xbf16> to i32
    %a12 = llvm.bitcast %w12 : vector<2xbf16> to i32
    %a13 = llvm.bitcast %w13 : vector<2xbf16> to i32
    %a14 = llvm.bitcast %w14 : vector<2xbf16> to i32
    %a15 = llvm.bitcast %w15 : vector<2xbf16> to i32

    // O += P V. No nvvm op takes A from registers. Operands: 0-31 the accumulator
    // (tied), 64-79 P, 80-83 the descriptors of V.
    %o0 = llvm.extractvalue %acc[0] : !acc
    %o1 = llvm.extractvalue %acc[1] : !acc
    %o2 = llvm.extractvalue %acc[2] : !acc
    %o3 = llvm.extractvalue %acc[3] : !acc
    %o4 = llvm.extractvalue %acc[4] : !acc
    %o5 = llvm.extractvalue %acc[5] : !acc
    %o6 = llvm.extractvalue %acc[6] : !acc
    %o7 = llvm.extractvalue %acc[7] : !acc
    %o8 = llvm.extractvalue %acc[8] : !acc
    %o9 = llvm.extractvalue %acc[9] : !acc
    %o10 = llvm.extractvalue %acc[10] : !acc
    %o11 = llvm.extractvalue %acc[11] : !acc
    %o12 = llvm.extractvalue %acc[12] : !acc
    %o13 = llvm.extractvalue %acc[13] : !acc
    %o14 = llvm.extractvalue %acc[14] : !acc
    %o15 = llvm.extractvalue %acc[15] : !acc
    %o16 = llvm.extractvalue %acc[16] : !acc
    %o17 = llvm.extractvalue %acc[17] : !acc
    %o18 = llvm.extractvalue %acc[18] : !acc
    %o19 = llvm.extractvalue %acc[19] : !acc
    %o20 = llvm.extractvalue %acc[20] : !acc
    %o21 = llvm.extractvalue %acc[21] : !acc
    %o22 = llvm.extractvalue %acc[22] : !acc
    %o23 = llvm.extractvalue %acc[23] : !acc
    %o24 = llvm.extractvalue %acc[24] : !acc
    %o25 = llvm.extractvalue %acc[25] : !acc
    %o26 = llvm.extractvalue %acc[26] : !acc
    %o27 = llvm.extractvalue %acc[27] : !acc
    %o28 = llvm.extractvalue %acc[28] : !acc
    %o29 = llvm.extractvalue %acc[29] : !acc
    %o30 = llvm.extractvalue %acc[30] : !acc
    %o31 = llvm.extractvalue %acc[31] : !acc
    nvvm.wgmma.fence.aligned
    %next = llvm.inline_asm has_side_effects asm_dialect = att
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$64, $65, $66, $67}, $80, 1, 1, 1, 1;\0A\09wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$68, $69, $70, $71}, $81, 1, 1, 1, 1;\0A\09wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$72, $73, $74, $75}, $82, 1, 1, 1, 1;\0A\09wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$76, $77, $78, $79}, $83, 1, 1, 1, 1;",
        "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,l,l,l,l"
        %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15,
        %o16, %o17, %o18, %o19, %o20, %o21, %o22, %o23, %o24, %o25, %o26, %o27, %o28, %o29, %o30,
        %o31, %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14,
        %a15, %dv0, %dv1, %dv2, %dv3
        : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32,
           f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32,
           i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) -> !acc
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    scf.yield %next : !acc
  }

  // A thread holds two neighbouring columns of rows r and r + 8 in every eight columns,
  // r = 16 (tid / 32) + (tid mod 32) / 4, first column 2 (tid mod 4).
  %warp = arith.shrui %tid, %c5 : i32
  %lane = arith.andi %tid, %c31 : i32
  %first = arith.shli %warp, %c4 : i32
  %in = arith.shrui %lane, %c2 : i32
  %r = arith.addi %first, %in : i32
  %quad = arith.andi %lane, %c3 : i32
  %column = arith.shli %quad, %c1 : i32
  %start = arith.shli %r, %c6 : i32
  %at = arith.addi %start, %column : i32
  %out = llvm.getelementptr %o[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %pair = llvm.mlir.undef : vector<2xf32>
  %e0 = llvm.extractvalue %sum[0] : !acc
  %e1 = llvm.extractvalue %sum[1] : !acc
  %x0 = llvm.insertelement %e0, %pair[%c0 : i32] : vector<2xf32>
  %x1 = llvm.insertelement %e1, %x0[%c1 : i32] : vector<2xf32>
  %y0 = llvm.getelementptr %out[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x1, %y0 : vector<2xf32>, !llvm.ptr<1>
  %e2 = llvm.extractvalue %sum[2] : !acc
  %e3 = llvm.extractvalue %sum[3] : !acc
  %x2 = llvm.insertelement %e2, %pair[%c0 : i32] : vector<2xf32>
  %x3 = llvm.insertelement %e3, %x2[%c1 : i32] : vector<2xf32>
  %y2 = llvm.getelementptr %out[512] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x3, %y2 : vector<2xf32>, !llvm.ptr<1>
  %e4 = llvm.extractvalue %sum[4] : !acc
  %e5 = llvm.extractvalue %sum[5] : !acc
  %x4 = llvm.insertelement %e4, %pair[%c0 : i32] : vector<2xf32>
  %x5 = llvm.insertelement %e5, %x4[%c1 : i32] : vector<2xf32>
  %y4 = llvm.getelementptr %out[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x5, %y4 : vector<2xf32>, !llvm.ptr<1>
  %e6 = llvm.extractvalue %sum[6] : !acc
  %e7 = llvm.extractvalue %sum[7] : !acc
  %x6 = llvm.insertelement %e6, %pair[%c0 : i32] : vector<2xf32>
  %x7 = llvm.insertelement %e7, %x6[%c1 : i32] : vector<2xf32>
  %y6 = llvm.getelementptr %out[520] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x7, %y6 : vector<2xf32>, !llvm.ptr<1>
  %e8 = llvm.extractvalue %sum[8] : !acc
  %e9 = llvm.extractvalue %sum[9] : !acc
  %x8 = llvm.insertelement %e8, %pair[%c0 : i32] : vector<2xf32>
  %x9 = llvm.insertelement %e9, %x8[%c1 : i32] : vector<2xf32>
  %y8 = llvm.getelementptr %out[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x9, %y8 : vector<2xf32>, !llvm.ptr<1>
  %e10 = llvm.extractvalue %sum[10] : !acc
  %e11 = llvm.extractvalue %sum[11] : !acc
  %x10 = llvm.insertelement %e10, %pair[%c0 : i32] : vector<2xf32>
  %x11 = llvm.insertelement %e11, %x10[%c1 : i32] : vector<2xf32>
  %y10 = llvm.getelementptr %out[528] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x11, %y10 : vector<2xf32>, !llvm.ptr<1>
  %e12 = llvm.extractvalue %sum[12] : !acc
  %e13 = llvm.extractvalue %sum[13] : !acc
  %x12 = llvm.insertelement %e12, %pair[%c0 : i32] : vector<2xf32>
  %x13 = llvm.insertelement %e13, %x12[%c1 : i32] : vector<2xf32>
  %y12 = llvm.getelementptr %out[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x13, %y12 : vector<2xf32>, !llvm.ptr<1>
  %e14 = llvm.extractvalue %sum[14] : !acc
  %e15 = llvm.extractvalue %sum[15] : !acc
  %x14 = llvm.insertelement %e14, %pair[%c0 : i32] : vector<2xf32>
  %x15 = llvm.insertelement %e15, %x14[%c1 : i32] : vector<2xf32>
  %y14 = llvm.getelementptr %out[536] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x15, %y14 : vector<2xf32>, !llvm.ptr<1>
  %e16 = llvm.extractvalue %sum[16] : !acc
  %e17 = llvm.extractvalue %sum[17] : !acc
  %x16 = llvm.insertelement %e16, %pair[%c0 : i32] : vector<2xf32>
  %x17 = llvm.insertelement %e17, %x16[%c1 : i32] : vector<2xf32>
  %y16 = llvm.getelementptr %out[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x17, %y16 : vector<2xf32>, !llvm.ptr<1>
  %e18 = llvm.extractvalue %sum[18] : !acc
  %e19 = llvm.extractvalue %sum[19] : !acc
  %x18 = llvm.insertelement %e18, %pair[%c0 : i32] : vector<2xf32>
  %x19 = llvm.insertelement %e19, %x18[%c1 : i32] : vector<2xf32>
  %y18 = llvm.getelementptr %out[544] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x19, %y18 : vector<2xf32>, !llvm.ptr<1>
  %e20 = llvm.extractvalue %sum[20] : !acc
  %e21 = llvm.extractvalue %sum[21] : !acc
  %x20 = llvm.insertelement %e20, %pair[%c0 : i32] : vector<2xf32>
  %x21 = llvm.insertelement %e21, %x20[%c1 : i32] : vector<2xf32>
  %y20 = llvm.getelementptr %out[40] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x21, %y20 : vector<2xf32>, !llvm.ptr<1>
  %e22 = llvm.extractvalue %sum[22] : !acc
  %e23 = llvm.extractvalue %sum[23] : !acc
  %x22 = llvm.insertelement %e22, %pair[%c0 : i32] : vector<2xf32>
  %x23 = llvm.insertelement %e23, %x22[%c1 : i32] : vector<2xf32>
  %y22 = llvm.getelementptr %out[552] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x23, %y22 : vector<2xf32>, !llvm.ptr<1>
  %e24 = llvm.extractvalue %sum[24] : !acc
  %e25 = llvm.extractvalue %sum[25] : !acc
  %x24 = llvm.insertelement %e24, %pair[%c0 : i32] : vector<2xf32>
  %x25 = llvm.insertelement %e25, %x24[%c1 : i32] : vector<2xf32>
  %y24 = llvm.getelementptr %out[48] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x25, %y24 : vector<2xf32>, !llvm.ptr<1>
  %e26 = llvm.extractvalue %sum[26] : !acc
  %e27 = llvm.extractvalue %sum[27] : !acc
  %x26 = llvm.insertelement %e26, %pair[%c0 : i32] : vector<2xf32>
  %x27 = llvm.insertelement %e27, %x26[%c1 : i32] : vector<2xf32>
  %y26 = llvm.getelementptr %out[560] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x27, %y26 : vector<2xf32>, !llvm.ptr<1>
  %e28 = llvm.extractvalue %sum[28] : !acc
  %e29 = llvm.extractvalue %sum[29] : !acc
  %x28 = llvm.insertelement %e28, %pair[%c0 : i32] : vector<2xf32>
  %x29 = llvm.insertelement %e29, %x28[%c1 : i32] : vector<2xf32>
  %y28 = llvm.getelementptr %out[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x29, %y28 : vector<2xf32>, !llvm.ptr<1>
  %e30 = llvm.extractvalue %sum[30] : !acc
  %e31 = llvm.extractvalue %sum[31] : !acc
  %x30 = llvm.insertelement %e30, %pair[%c0 : i32] : vector<2xf32>
  %x31 = llvm.insertelement %e31, %x30[%c1 : i32] : vector<2xf32>
  %y30 = llvm.getelementptr %out[568] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  llvm.store %x31, %y30 : vector<2xf32>, !llvm.ptr<1>
  llvm.return
}
