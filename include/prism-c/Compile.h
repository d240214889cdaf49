/*===- Compile.h - From a spec to a program ----------------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* libPrismC holds no compiler. The first call of this header that needs one  *|
|* loads libPrismCompiler, with LLVM and MLIR, in a scope of its own: their   *|
|* symbols are not visible to the rest of the process. It stays loaded.       *|
|*                                                                            *|
|* Any number of threads may compile at once.                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_COMPILE_H
#define PRISM_C_COMPILE_H

#include "prism-c/Diagnostic.h"
#include "prism-c/Program.h"
#include <stddef.h>

PRISM_C_BEGIN

/** How to compile. Texts given to the functions below are copied. */
typedef struct PrismCompileOptions PrismCompileOptions;

PRISM_API PrismCompileOptions *prismCompileOptionsCreate(void);
PRISM_API void prismCompileOptionsDestroy(PrismCompileOptions *);

/** "cpu", "cuda:sm_90a{ptx=8.7}", several with commas; may be repeated.
 *  Without any: the spec's targets, else "cpu". */
PRISM_API void prismCompileOptionsAddTarget(PrismCompileOptions *,
                                            const char *target);
/** An entry to compile; may be repeated. Without any: all. */
PRISM_API void prismCompileOptionsAddEntry(PrismCompileOptions *,
                                           const char *entry);
/** A plan as JSON text, for all entries or by entry (docs/Spec.md). `file` is
 *  what messages call it; NULL: "plan". */
PRISM_API void prismCompileOptionsSetPlan(PrismCompileOptions *,
                                          const char *json, const char *file);
/** What this CPU's plans are chosen by: costs that prism-calibrate measured,
 *  as JSON text (docs/CPU.md); NULL: the compiler's own. One of the targets
 *  must be a CPU. `file` is what messages call it; NULL: "calibration". */
PRISM_API void prismCompileOptionsSetCalibration(PrismCompileOptions *,
                                                 const char *json,
                                                 const char *file);
/** What messages call the text, and so where they point. Default: "spec" or
 *  "module"; prismCompileFile takes the path. */
PRISM_API void prismCompileOptionsSetFile(PrismCompileOptions *,
                                          const char *file);
/** Whether PTX is assembled by ptxas where that is found (the default), or
 *  left to the driver (0). */
PRISM_API void prismCompileOptionsSetAssemble(PrismCompileOptions *,
                                              int assemble);

typedef enum PrismSyntax PRISM_C_ANY_INT {
  PRISM_SYNTAX_JSON = 0, /* a spec; the default */
  PRISM_SYNTAX_MLIR = 1  /* a module in the scan dialect */
} PrismSyntax;
PRISM_API void prismCompileOptionsSetSyntax(PrismCompileOptions *, PrismSyntax);

/** Told of every error, warning and note while prismCompile runs, on its
 *  thread; the diagnostic is the callee's until it returns. The error that
 *  prismCompile returns is among them. */
typedef void (*PrismDiagnosticCallback)(const PrismDiagnostic *, void *user);
PRISM_API void prismCompileOptionsSetDiagnosticCallback(PrismCompileOptions *,
                                                        PrismDiagnosticCallback,
                                                        void *user);

/** Told what is being done ("entry forward, schedule chunk, cpu"). */
typedef void (*PrismProgressCallback)(const char *what, void *user);
PRISM_API void prismCompileOptionsSetProgressCallback(PrismCompileOptions *,
                                                      PrismProgressCallback,
                                                      void *user);

/** Compiles `length` bytes of text. The program is in memory: no file is
 *  written but those that the linker and ptxas need while they run, in the
 *  system's temporary folder. `options` may be NULL. NULL on failure. */
PRISM_API PrismProgram *prismCompile(const char *text, size_t length,
                                     const PrismCompileOptions *options,
                                     PrismDiagnostic **error);

/** The same for a file, a module where its name ends in ".mlir". */
PRISM_API PrismProgram *prismCompileFile(const char *path,
                                         const PrismCompileOptions *options,
                                         PrismDiagnostic **error);

/** A spec written out: no family, all defaults in place. `file` as in
 *  prismCompileOptionsSetFile, or NULL. To be freed by prismStringDestroy. */
PRISM_API char *prismExpand(const char *text, size_t length, const char *file,
                            PrismDiagnostic **error);
PRISM_API void prismStringDestroy(char *);

/** Loads the compiler library now, from `path`, or where it is looked for
 *  (NULL): $PRISM_COMPILER_LIBRARY, beside libPrismC, the loader's places.
 *  Once one is loaded no other is; a different `path` is then an error. */
PRISM_API PrismStatus prismLoadCompiler(const char *path,
                                        PrismDiagnostic **error);

/** "prism 0.1.0 (LLVM 22.1.8)"; loads the compiler. NULL on failure. */
PRISM_API const char *prismCompilerVersion(PrismDiagnostic **error);

PRISM_C_END

#endif /* PRISM_C_COMPILE_H */
