/*===- Program.h - Programs, their entries and arguments ---------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A program is a bundle: compiled in this process, or loaded from a folder.  *|
|* It holds entries ("forward", "decode"), which belong to it and are valid   *|
|* until it is destroyed. Programs may be used by several threads at once;    *|
|* destroying one while another thread uses it is the caller's fault.         *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_PROGRAM_H
#define PRISM_C_PROGRAM_H

#include "prism-c/Diagnostic.h"
#include <stddef.h>
#include <stdint.h>

PRISM_C_BEGIN

typedef struct PrismProgram PrismProgram;
typedef struct PrismEntry PrismEntry;

/** "0.1.0". */
PRISM_API const char *prismVersion(void);

/** Loads a bundle's folder; needs no compiler. NULL on failure. */
PRISM_API PrismProgram *prismProgramLoad(const char *folder,
                                         PrismDiagnostic **error);
/** Writes the bundle as a folder, all of it or nothing. An older bundle there
 *  is replaced; a folder that is neither empty nor a bundle is not. */
PRISM_API PrismStatus prismProgramSave(const PrismProgram *, const char *folder,
                                       PrismDiagnostic **error);
PRISM_API void prismProgramDestroy(PrismProgram *);

/*
 * Texts and entries belong to the program. NULL handles and indices that do not
 * exist give NULL, "" or 0.
 */

PRISM_API const char *prismProgramName(const PrismProgram *);
/** The compiler that made it. */
PRISM_API const char *prismProgramCompiler(const PrismProgram *);
/** manifest.json, which lists entries, arguments, kernels and plans
 *  (docs/Bundle.md). */
PRISM_API const char *prismProgramManifest(const PrismProgram *);

PRISM_API size_t prismProgramEntryCount(const PrismProgram *);
PRISM_API const PrismEntry *prismProgramEntryAt(const PrismProgram *,
                                                size_t index);
/** The entry of that name, or NULL and an error with the nearest right name. */
PRISM_API const PrismEntry *prismProgramEntry(const PrismProgram *,
                                              const char *name,
                                              PrismDiagnostic **error);

PRISM_API const char *prismEntryName(const PrismEntry *);

typedef enum PrismDType PRISM_C_ANY_INT {
  PRISM_DTYPE_F64 = 0,
  PRISM_DTYPE_F32 = 1,
  PRISM_DTYPE_BF16 = 2,
  PRISM_DTYPE_F16 = 3,
  PRISM_DTYPE_I64 = 4
} PrismDType;
/** Bytes of an element; 0 for no dtype. */
PRISM_API size_t prismDTypeSize(PrismDType);
/** "bf16". */
PRISM_API const char *prismDTypeName(PrismDType);

typedef enum PrismRole {
  PRISM_ROLE_INPUT = 0,
  PRISM_ROLE_INITIAL_STATE = 1,
  PRISM_ROLE_OFFSETS = 2,
  PRISM_ROLE_OUTPUT = 3,
  PRISM_ROLE_FINAL_STATE = 4,
  PRISM_ROLE_INITIAL_WINDOW = 5, /* of a short convolution */
  PRISM_ROLE_FINAL_WINDOW = 6
} PrismRole;

/** Extents that a call decides: batch rows, steps, sequences, sequences + 1. */
enum {
  PRISM_EXTENT_B = -1,
  PRISM_EXTENT_T = -2,
  PRISM_EXTENT_N = -3,
  PRISM_EXTENT_N_PLUS_1 = -4
};

/** What an entry expects of one array. */
typedef struct PrismArgument {
  const char *name;
  PrismRole role;
  PrismDType dtype;
  int optional; /* may be left out; an output is computed only if given */
  size_t rank;
  const char *axes;       /* a letter for each dimension: "bthk" */
  const int64_t *extents; /* `rank` numbers, or PRISM_EXTENT_* */
} PrismArgument;

PRISM_API size_t prismEntryArgumentCount(const PrismEntry *);
/** NULL where there is none. */
PRISM_API const PrismArgument *prismEntryArgumentAt(const PrismEntry *,
                                                    size_t index);
PRISM_API const PrismArgument *prismEntryArgument(const PrismEntry *,
                                                  const char *name);

PRISM_C_END

#endif /* PRISM_C_PROGRAM_H */
