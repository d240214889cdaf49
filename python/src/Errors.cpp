//===- Errors.cpp - Diagnostics as exceptions -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <nanobind/stl/string.h>

#include <cstring>

namespace nb = nanobind;
using namespace prism::python;

/// Texts of the library are UTF-8 unless a user's was not.
static nb::object text(const char *bytes) {
  PyObject *string =
      PyUnicode_DecodeUTF8(bytes, Py_ssize_t(std::strlen(bytes)), "replace");
  if (!string)
    throw nb::python_error();
  return nb::steal(string);
}

static nb::object call(const char *function, const PrismDiagnostic *given,
                       int first) {
  return nb::module_::import_("prism._errors")
      .attr(function)(first, text(prismDiagnosticText(given)),
                      text(prismDiagnosticMessage(given)),
                      text(prismDiagnosticFile(given)),
                      prismDiagnosticLine(given), prismDiagnosticColumn(given),
                      text(prismDiagnosticPointer(given)),
                      text(prismDiagnosticNearest(given)),
                      text(prismDiagnosticArgument(given)));
}

static void raiseObject(nb::handle exception) {
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())),
                  exception.ptr());
}

void prism::python::raise(PrismDiagnostic *error) {
  std::unique_ptr<PrismDiagnostic, void (*)(PrismDiagnostic *)> owned(
      error, prismDiagnosticDestroy);
  raiseObject(call("make_error", error, int(prismDiagnosticKind(error))));
  throw nb::python_error();
}

void prism::python::raiseArgument(const std::string &argument,
                                  const std::string &message) {
  raiseObject(nb::module_::import_("prism._errors")
                  .attr("make_argument_error")(argument, message));
  throw nb::python_error();
}

nb::object prism::python::toPython(const PrismDiagnostic *diagnostic) {
  return call("make_diagnostic", diagnostic,
              int(prismDiagnosticSeverity(diagnostic)));
}
