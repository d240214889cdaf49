//===- LoadCompiler.h - Finds the compiler library --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CAPI_LOADCOMPILER_H
#define PRISM_LIB_CAPI_LOADCOMPILER_H

#include "CompilerInterface.h"
#include "prism-runtime/Result.h"

namespace prism::capi {

/// The compiler of this process, loaded by the first call that finds one.
/// `path` null: from where it is looked for.
runtime::Result<const CompilerInterface *> loadCompiler(const char *path);

} // namespace prism::capi

#endif // PRISM_LIB_CAPI_LOADCOMPILER_H
