/*===- Diagnostic.h - What went wrong, and where -----------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Every function that can fail takes a `PrismDiagnostic **error` as its last *|
|* parameter, which may be NULL. On failure it is set to one error, which the *|
|* caller destroys; on success it is set to NULL.                             *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_DIAGNOSTIC_H
#define PRISM_C_DIAGNOSTIC_H

#include "prism-c/Export.h"

PRISM_C_BEGIN

/** What a function returns that only succeeds or fails. */
typedef enum PrismStatus { PRISM_SUCCESS = 0, PRISM_FAILURE = 1 } PrismStatus;

/** An error, or something else that a user should be told. */
typedef struct PrismDiagnostic PrismDiagnostic;

typedef enum PrismSeverity {
  PRISM_SEVERITY_ERROR = 0,
  PRISM_SEVERITY_WARNING = 1,
  PRISM_SEVERITY_NOTE = 2,
  PRISM_SEVERITY_REMARK = 3
} PrismSeverity;

/** Whose fault an error is. Later versions may add kinds. */
typedef enum PrismKind {
  PRISM_KIND_USAGE = 0,    /* this API was used wrongly: a null handle, say */
  PRISM_KIND_SPEC = 1,     /* the text of a model is wrong */
  PRISM_KIND_COMPILE = 2,  /* a model that reads well does not compile so */
  PRISM_KIND_COMPILER = 3, /* the compiler library is not there */
  PRISM_KIND_BUNDLE = 4,   /* a bundle cannot be read or written */
  PRISM_KIND_ARGUMENT = 5, /* the arrays of a call do not fit its entry */
  PRISM_KIND_DEVICE = 6    /* no device, no kernel for it, or a failed run */
} PrismKind;

PRISM_API PrismSeverity prismDiagnosticSeverity(const PrismDiagnostic *);
PRISM_API PrismKind prismDiagnosticKind(const PrismDiagnostic *);

/*
 * Texts end in a zero byte, are UTF-8 and live as long as the diagnostic. What
 * does not apply is "", or 0 for a number. NULL has no text.
 */

/** All of it in one text, as the command line prints it. */
PRISM_API const char *prismDiagnosticText(const PrismDiagnostic *);
/** The sentence alone: what was expected and what was found. */
PRISM_API const char *prismDiagnosticMessage(const PrismDiagnostic *);
/** The file as it was named to prismCompile, and the place in it. */
PRISM_API const char *prismDiagnosticFile(const PrismDiagnostic *);
PRISM_API unsigned prismDiagnosticLine(const PrismDiagnostic *);
PRISM_API unsigned prismDiagnosticColumn(const PrismDiagnostic *);
/** The JSON pointer (RFC 6901) of the element of the spec, plan or calibration.
 */
PRISM_API const char *prismDiagnosticPointer(const PrismDiagnostic *);
/** The nearest right name to one that is wrong. */
PRISM_API const char *prismDiagnosticNearest(const PrismDiagnostic *);
/** The argument of the entry whose array is wrong. */
PRISM_API const char *prismDiagnosticArgument(const PrismDiagnostic *);

/** Destroys an error that a function set; NULL is taken. */
PRISM_API void prismDiagnosticDestroy(PrismDiagnostic *);

PRISM_C_END

#endif /* PRISM_C_DIAGNOSTIC_H */
