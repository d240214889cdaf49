//===- WriteFile.cpp - A whole file, or an error --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/WriteFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

Error prism::fileError(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write '%s': %s", path.str().c_str(),
                           code.message().c_str());
}

Error prism::writeFile(StringRef path, StringRef contents) {
  std::error_code code;
  raw_fd_ostream os(path, code, sys::fs::OF_None);
  if (code)
    return fileError(path, code);
  os << contents;
  os.close();
  if (os.has_error()) {
    code = os.error();
    os.clear_error();
    return fileError(path, code);
  }
  return Error::success();
}
