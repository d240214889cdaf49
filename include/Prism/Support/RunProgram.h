//===- RunProgram.h - A helper program, within a time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_RUNPROGRAM_H
#define PRISM_SUPPORT_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace prism {

/// Runs a program to its end and kills it after `seconds`; its input is empty
/// and what it prints goes to `said`. Empty if it ended with status 0, else one
/// line that says how it ended. Several threads may call it at once.
///
/// llvm::sys::ExecuteAndWait is not that: its limit is the process's one alarm
/// signal, which two threads, or the host program, take away from each other.
std::string runProgram(llvm::StringRef program,
                       llvm::ArrayRef<llvm::StringRef> arguments,
                       unsigned seconds, std::string &said);

} // namespace prism

#endif // PRISM_SUPPORT_RUNPROGRAM_H
