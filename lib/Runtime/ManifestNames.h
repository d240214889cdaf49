//===- ManifestNames.h - Words of a manifest --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_RUNTIME_MANIFESTNAMES_H
#define PRISM_LIB_RUNTIME_MANIFESTNAMES_H

#include <string>
#include <vector>

namespace prism::runtime {

/// What a manifest calls the values of DType, Role, Items and Target, in the
/// order of these.
const std::vector<std::string> &dtypeNames();
const std::vector<std::string> &roleNames();
const std::vector<std::string> &itemsNames();
const std::vector<std::string> &targetNames();

} // namespace prism::runtime

#endif // PRISM_LIB_RUNTIME_MANIFESTNAMES_H
