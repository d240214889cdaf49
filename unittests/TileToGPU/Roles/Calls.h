//===- Calls.h - Calls of kernels of roles, and what they must give -*- C++ -*//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_ROLES_CALLS_H
#define PRISM_UNITTESTS_TILETOGPU_ROLES_CALLS_H

#include "Models.h"
#include "RoleKernel.h"

namespace prism::test {

Model modelOf(const std::string &name, int64_t keys = 64, int64_t values = 64);

/// Of one batch row.
check::InputOptions callOf(int64_t steps,
                           check::GateSet gates = check::GateSet::mild,
                           bool initialState = true);

/// Rows of keys and queries times these factors in turn.
void stretch(check::HostArrays &inputs, int64_t keys,
             llvm::ArrayRef<double> factors);

/// Copies that land early or late and warps in another order than the last
/// time.
InterpreterOptions nextOptions();

/// Runs a call under the next of these, with tensor maps of what can have them
/// and, if any was used, without. `edit` may change the inputs.
void expectRight(RoleKernel &kernel, const check::InputOptions &call,
                 Placement place = {},
                 llvm::function_ref<void(check::HostArrays &)> edit = nullptr);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_ROLES_CALLS_H
