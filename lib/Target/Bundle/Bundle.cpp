//===- Bundle.cpp - Writing a bundle's folder -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/Bundle/Bundle.h"
#include "Prism/Support/WriteFile.h"
#include "llvm/ADT/ScopeExit.h"
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
  SmallString<128> target(path);
  // "out/" and "out" are one folder.
  while (target.size() > 1 && sys::path::is_separator(target.back()))
    target.pop_back();
  bool exists = sys::fs::exists(target);
  if (exists && !sys::fs::exists(target + "/manifest.json")) {
    std::error_code code;
    bool empty = sys::fs::is_directory(target) &&
                 sys::fs::directory_iterator(target, code) ==
                     sys::fs::directory_iterator();
    if (!empty)
      return createStringError(
          "'%s' exists and is no bundle (it has no manifest.json); name "
          "another folder or remove it",
          target.c_str());
  }
  StringRef parent = sys::path::parent_path(target);
  if (!parent.empty())
    if (std::error_code code = sys::fs::create_directories(
            parent, /*IgnoreExisting=*/true, sys::fs::all_all))
      return fileError(parent, code);
  SmallString<128> temporary, old;
  sys::fs::createUniquePath(target + ".%%%%%%%%.tmp", temporary,
                            /*MakeAbsolute=*/false);
  sys::fs::createUniquePath(target + ".%%%%%%%%.old", old,
                            /*MakeAbsolute=*/false);
  // Readable by whom the umask says, as its files are.
  if (std::error_code code = sys::fs::create_directory(
          temporary, /*IgnoreExisting=*/false, sys::fs::all_all))
    return fileError(temporary, code);
  scope_exit cleanUp([&] { sys::fs::remove_directories(temporary); });

  std::map<std::string, std::string> files = bundle.files;
  files["manifest.json"] = printManifest(bundle);
  files["prism_" + bundle.manifest.name + ".h"] = printHeader(bundle);
  for (const auto &[name, contents] : files)
    if (Error error = writeFile((temporary + "/" + name).str(), contents))
      return error;
  if (exists)
    if (std::error_code code = sys::fs::rename(target, old))
      return fileError(target, code);
  if (std::error_code code = sys::fs::rename(temporary, target)) {
    if (exists)
      sys::fs::rename(old, target);
    return fileError(target, code);
  }
  if (exists)
    sys::fs::remove_directories(old);
  return Error::success();
}
