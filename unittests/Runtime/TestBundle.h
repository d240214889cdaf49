//===- TestBundle.h - Bundles and folders for tests -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A temporary folder, and the manifest of the kernels in Kernels.c.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_RUNTIME_TESTBUNDLE_H
#define PRISM_UNITTESTS_RUNTIME_TESTBUNDLE_H

#include "prism-runtime/Program.h"

#include <string>
#include <vector>

namespace prism::runtime::test {

/// A folder that goes with its owner.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  const std::string &path() const { return folder; }
  std::string operator/(const std::string &name) const {
    return folder + "/" + name;
  }
  /// Names of what is in it, sorted.
  std::vector<std::string> names() const;

private:
  std::string folder;
};

void writeFile(const std::string &path, const std::string &bytes);
std::string readBytes(const std::string &path);

/// The manifest of Kernels.c, and that text with one part replaced, which must
/// be in it.
std::string manifestText();
std::string manifestWith(const std::string &part, const std::string &by);

/// The one entry "forward" of such a manifest.
EntryInfo testEntry();

/// Writes manifest.json and the kernels.
void writeBundle(const std::string &folder,
                 const std::string &manifest = manifestText());

/// An array of the test's own, filled with small numbers that repeat.
struct Floats {
  std::vector<int64_t> shape;
  std::vector<float> values;
  explicit Floats(std::vector<int64_t> shape, float first = 0);
  Array array();
};

/// What the kernels of Kernels.c must give; null for what is absent.
void reference(const Floats &x, const Floats *g, const Floats *initial,
               const std::vector<int64_t> &offsets, Floats &y, Floats &final);

} // namespace prism::runtime::test

#endif // PRISM_UNITTESTS_RUNTIME_TESTBUNDLE_H
