/*===- Export.h - Marks what libPrismC exports -------------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_EXPORT_H
#define PRISM_C_EXPORT_H

#if defined(__GNUC__)
#define PRISM_API __attribute__((visibility("default")))
#else
#define PRISM_API
#endif

#ifdef __cplusplus
#define PRISM_C_BEGIN extern "C" {
#define PRISM_C_END }
/* A caller may give a wrong number for an enumerator and be told so: in C++
 * only a fixed type may hold one. */
#define PRISM_C_ANY_INT : int
#else
#define PRISM_C_BEGIN
#define PRISM_C_END
#define PRISM_C_ANY_INT
#endif

#endif /* PRISM_C_EXPORT_H */
