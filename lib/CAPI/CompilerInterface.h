//===- CompilerInterface.h - Between shim and compiler ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What libPrismCompiler offers to libPrismC, as plain structs and functions, so
// that the two share no C++ type. Both come from one build; a version tells
// libraries of different builds apart.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CAPI_COMPILERINTERFACE_H
#define PRISM_LIB_CAPI_COMPILERINTERFACE_H

#include <cstddef>

namespace prism::capi {

/// Raised with every change of what follows.
constexpr unsigned compilerInterfaceVersion = 2;

/// The one symbol of the compiler library.
constexpr const char *compilerInterfaceSymbol = "prismCompilerInterface";

struct Bytes {
  const char *data = nullptr;
  size_t size = 0;
};

/// A diagnostic; texts are the sender's, and "" where they do not apply.
struct CompilerDiagnostic {
  int severity = 0, kind = 0; // PrismSeverity, PrismKind
  const char *text = "", *message = "", *file = "", *pointer = "",
             *nearest = "";
  unsigned line = 0, column = 0;
};

/// What is to be compiled, and who is told. `user` goes to every function.
struct CompilerRequest {
  Bytes text;
  const char *file = "";
  int syntax = 0; // PrismSyntax
  const char *const *targets = nullptr;
  size_t targetCount = 0;
  const char *const *entries = nullptr;
  size_t entryCount = 0;
  Bytes plan; // no data: none
  const char *planFile = "";
  Bytes calibration; // no data: none
  const char *calibrationFile = "";
  int assemble = 1;

  void *user = nullptr;
  void (*diagnose)(void *user, const CompilerDiagnostic &) = nullptr;
  void (*progress)(void *user, const char *what) = nullptr;
  /// A file of the bundle.
  void (*addFile)(void *user, const char *name, Bytes contents) = nullptr;
  /// The bundle's name, or the text of expand.
  void (*result)(void *user, Bytes text) = nullptr;
};

struct CompilerInterface {
  unsigned version;
  const char *name; // "prism 0.1.0 (LLVM 22.1.8)"
  /// Return whether it went well; every failure was diagnosed.
  bool (*compile)(const CompilerRequest &);
  bool (*expand)(const CompilerRequest &);
};

using GetCompilerInterface = const CompilerInterface *(*)();

} // namespace prism::capi

#endif // PRISM_LIB_CAPI_COMPILERINTERFACE_H
