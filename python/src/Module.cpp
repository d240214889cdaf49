//===- Module.cpp - The extension module prism._native --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Native.h"

NB_MODULE(_native, module) {
  // At exit Python does not destroy all that it holds, programs among it.
  nanobind::set_leak_warnings(false);
  module.doc() = "Prism's C API for the package prism; not an interface.";
  prism::python::defineCompile(module);
  prism::python::defineEntry(module);
}
