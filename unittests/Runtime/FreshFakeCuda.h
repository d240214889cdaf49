//===- FreshFakeCuda.h - The stand-in for the driver, as new ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_RUNTIME_FRESHFAKECUDA_H
#define PRISM_UNITTESTS_RUNTIME_FRESHFAKECUDA_H

#include "FakeCuda.h"
#include <dlfcn.h>

/// A GPU of sm_90, of whom nothing was asked so far; null, and dlerror() says
/// why, where the library cannot be loaded.
inline FakeCuda *freshFakeCuda() {
  void *library = dlopen(PRISM_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "fake") : nullptr;
  if (!symbol)
    return nullptr;
  auto *fake = static_cast<FakeCuda *>(symbol);
  *fake = FakeCuda();
  fake->version = 13000;
  fake->capability = 90;
  return fake;
}

#endif // PRISM_UNITTESTS_RUNTIME_FRESHFAKECUDA_H
