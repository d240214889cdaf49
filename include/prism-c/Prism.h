/*===- Prism.h - Prism's C API -----------------------------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|*   PrismProgram *program = prismCompileFile("model.json", NULL, &error);    *|
|*   const PrismEntry *entry = prismProgramEntry(program, "forward", &error); *|
|*   PrismDevice *device = prismDeviceCreateCpu(0, &error);                   *|
|*   prismEntryRun(entry, device, arrays, count, NULL, &error);               *|
|*                                                                            *|
|* docs/CAPI.md explains it, examples/c is a whole program.                   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_PRISM_H
#define PRISM_C_PRISM_H

#include "prism-c/Compile.h"
#include "prism-c/Diagnostic.h"
#include "prism-c/Program.h"
#include "prism-c/Run.h"

#endif /* PRISM_C_PRISM_H */
