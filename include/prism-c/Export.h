/*===- Export.h - Marks what libPrismC exports ---------------------*- C
-*-===*\
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
#else
#define PRISM_C_BEGIN
#define PRISM_C_END
#endif

#endif /* PRISM_C_EXPORT_H */
