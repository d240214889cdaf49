//===- RandomChain.h - Specs of random chains -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_COMPILER_RANDOMCHAIN_H
#define PRISM_UNITTESTS_COMPILER_RANDOMCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace prism::test {

/// The spec of a chain of one to five factors (decays, erases with tied and
/// free keys and of rank 2, injections, refined or not) and a read anywhere in
/// it, with one of the sizes for K and any V. What
/// test/Integration/random_chains.py makes, without what only the recurrent
/// schedule takes.
std::string randomChain(unsigned seed, llvm::StringRef io,
                        llvm::ArrayRef<int64_t> keySizes);

} // namespace prism::test

#endif // PRISM_UNITTESTS_COMPILER_RANDOMCHAIN_H
