//===- Families.cpp - prism-compile --list-families -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Families.h"
#include "Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace prism;

void prism::printFamilies() {
  for (const spec::FamilySummary &family : spec::listFamilies()) {
    llvm::outs() << llvm::left_justify(family.name, 20) << family.summary;
    if (!family.variants.empty())
      llvm::outs() << " (variants: " << llvm::join(family.variants, ", ")
                   << ")";
    llvm::outs() << "\n";
  }
}
