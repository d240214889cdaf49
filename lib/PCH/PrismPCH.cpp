// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Carrier of the precompiled header; holds no code.
