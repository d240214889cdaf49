//===- Bundle.cpp - Writing a bundle's folder -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/Bundle/Bundle.h"
#include "Prism/Support/WriteFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace prism;

Error prism::writeFileAtomically(StringRef path, StringRef contents) {
  // A device or pipe is written to; renaming would replace it.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status)) {
    if (sys::fs::is_directory(status))
      return createStringError("cannot write '%s': it is a folder",
                               path.str().c_str());
    return writeFile(path, contents);
  }
  SmallString<128> temporary;
  if (std::error_code code =
          sys::fs::createUniqueFile(path + ".%%%%%%%%.tmp", temporary))
    return fileError(path, code);
  if (Error error = writeFile(temporary, contents)) {
    sys::fs::remove(temporary);
    return error;
  }
  if (std::error_code code = sys::fs::rename(temporary, path)) {
    sys::fs::remove(temporary);
    return fileError(path, code);
  }
  return Error::success();
}

Error prism::writeBundle(const Bundle &bundle, StringRef path) {
  runtime::Status written =
      runtime::writeBundleFolder(bundleFiles(bundle), path.str());
  if (!written)
    return createStringError("%s", written.error().c_str());
  return Error::success();
}

runtime::FileContents prism::bundleFiles(const Bundle &bundle) {
  runtime::FileContents files = bundle.files;
  files["manifest.json"] = printManifest(bundle);
  files["prism_" + bundle.manifest.name + ".h"] = printHeader(bundle);
  return files;
}
