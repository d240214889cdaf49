//===- Diagnostic.cpp - Errors of the C API -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace prism;

void capi::setError(PrismDiagnostic **error, PrismKind kind,
                    const runtime::Failure &failure) {
  if (!error)
    return;
  auto *diagnostic = new PrismDiagnostic;
  *error = diagnostic;
  diagnostic->kind = kind;
  diagnostic->text = diagnostic->message = failure.message;
  diagnostic->nearest = failure.nearest;
  diagnostic->argument = failure.argument;
}

PrismSeverity prismDiagnosticSeverity(const PrismDiagnostic *diagnostic) {
  return diagnostic ? diagnostic->severity : PRISM_SEVERITY_ERROR;
}

PrismKind prismDiagnosticKind(const PrismDiagnostic *diagnostic) {
  return diagnostic ? diagnostic->kind : PRISM_KIND_USAGE;
}

static const char *textOf(const PrismDiagnostic *diagnostic,
                          std::string PrismDiagnostic::*field) {
  return diagnostic ? (diagnostic->*field).c_str() : "";
}

const char *prismDiagnosticText(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::text);
}

const char *prismDiagnosticMessage(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::message);
}

const char *prismDiagnosticFile(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::file);
}

unsigned prismDiagnosticLine(const PrismDiagnostic *diagnostic) {
  return diagnostic ? diagnostic->line : 0;
}

unsigned prismDiagnosticColumn(const PrismDiagnostic *diagnostic) {
  return diagnostic ? diagnostic->column : 0;
}

const char *prismDiagnosticPointer(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::pointer);
}

const char *prismDiagnosticNearest(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::nearest);
}

const char *prismDiagnosticArgument(const PrismDiagnostic *diagnostic) {
  return textOf(diagnostic, &PrismDiagnostic::argument);
}

void prismDiagnosticDestroy(PrismDiagnostic *diagnostic) { delete diagnostic; }
