//===- Classify.cpp - What everything over time is as a scan --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "Prism/Analysis/Transition.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using analysis::Associativity;
using analysis::Granularity;
using analysis::ScanClass;

namespace prism::scan {
#define GEN_PASS_DEF_SCANCLASSIFY
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

static DictionaryAttr toAttribute(const ScanClass &scanClass,
                                  MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(builder.getNamedAttr(name, value));
  };
  bool serial = scanClass.kind == ScanClass::serial;
  add("kind", builder.getStringAttr(analysis::stringify(scanClass.kind)));
  add("associative", builder.getStringAttr(serial ? "no" : "by proof"));
  add("work", builder.getStringAttr("n"));
  add("depth", builder.getStringAttr(serial ? "n" : "log n"));
  add("memory", builder.getStringAttr("1"));
  if (!serial) {
    add("spd", builder.getStringAttr("SPD-(n, 1)"));
    add("granularity",
        builder.getStringAttr(analysis::stringify(scanClass.granularity)));
    SmallVector<Attribute> transitions;
    for (const analysis::Transition &one : scanClass.transitions)
      transitions.push_back(
          builder.getStringAttr(analysis::describeTransition(one)));
    add("transition", builder.getArrayAttr(transitions));
  }
  return builder.getDictionaryAttr(entries);
}

static DictionaryAttr toAttribute(Associativity associativity,
                                  MLIRContext *context) {
  Builder builder(context);
  bool tree = associativity == Associativity::no;
  StringRef memory = tree ? "log n" : "1";
  auto entry = [&](StringRef name, const Twine &value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  };
  return builder.getDictionaryAttr(
      {entry("kind", tree ? "non-associative" : "associative"),
       entry("associative", analysis::stringify(associativity)),
       entry("work", "n"), entry("depth", "log n"), entry("memory", memory),
       entry("spd", "SPD-(n, " + memory + ")")});
}

namespace {
struct ClassifyPass : prism::scan::impl::ScanClassifyBase<ClassifyPass> {
  void runOnOperation() override {
    getOperation().walk([&](RecurrenceOp op) {
      analysis::StateFlow flow(op);
      ScanClass scanClass = analysis::classOf(flow);
      if (scanClass.kind == ScanClass::serial) {
        auto [where, why] = flow.blame();
        remark::missed(where,
                       remark::RemarkOpts::name("Serial").category("scan"))
            << why;
      }
      op->setAttr(kClassAttr, toAttribute(scanClass, &getContext()));
    });
    getOperation().walk([&](PrefixOp op) {
      Associativity associativity = analysis::associativityOf(op);
      if (associativity != Associativity::proof)
        remark::missed(
            op.getLoc(),
            remark::RemarkOpts::name("Associativity").category("scan"))
            << (associativity == Associativity::declaration
                    ? "agg is declared to be associative, which is not proved"
                    : "agg is not proved to be associative: its tree is part "
                      "of the model");
      op->setAttr(kClassAttr, toAttribute(associativity, &getContext()));
    });
  }
};
} // namespace
