//===- WriteFile.h - A whole file, or an error ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_WRITEFILE_H
#define PRISM_SUPPORT_WRITEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace prism {

/// "cannot write 'PATH': reason".
llvm::Error fileError(llvm::StringRef path, std::error_code code);

/// Writes a file's contents. A stream whose error nobody asks for ends the
/// process; a full disk must not.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef contents);

} // namespace prism

#endif // PRISM_SUPPORT_WRITEFILE_H
