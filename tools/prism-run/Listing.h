//===- Listing.h - Prints what a bundle holds -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// --list: entries, arguments, kernels and the choice table.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TOOLS_PRISM_RUN_LISTING_H
#define PRISM_TOOLS_PRISM_RUN_LISTING_H

#include "prism-runtime/Manifest.h"

namespace prism::run {

/// The whole bundle, or the one entry that is not null.
std::string list(const runtime::Manifest &manifest,
                 const runtime::EntryInfo *only);

/// One kernel on one line.
std::string describe(const runtime::KernelInfo &kernel);

} // namespace prism::run

#endif // PRISM_TOOLS_PRISM_RUN_LISTING_H
