//===- JsonShapeTest.cpp - What a JSON value must look like ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/JsonShape.h"
#include "gtest/gtest.h"

using namespace prism;

namespace {

std::string messageOf(const Shape &shape, llvm::StringRef text) {
  TextDiagnostic diagnostic;
  auto node = parseJson(text, "s.json", diagnostic);
  if (llvm::failed(node) || llvm::failed(checkShape(*node, shape, diagnostic)))
    return diagnostic.message;
  return "";
}

TEST(JsonShape, AnUnknownKeyNamesTheKnownOnes) {
  Shape number, shape;
  number.types = kInteger;
  shape.types = kObject;
  shape.fields = {{"chunk", &number}, {"stages", &number}};
  EXPECT_EQ(messageOf(shape, "{\"chunk\": 1}"), "");
  EXPECT_EQ(messageOf(shape, "{\"other\": 1}"),
            "unknown key 'other', expected chunk or stages");
}

TEST(JsonShape, AnUnknownKeyWhereNoneIsKnown) {
  Shape shape;
  shape.types = kObject;
  EXPECT_EQ(messageOf(shape, "{}"), "");
  EXPECT_EQ(messageOf(shape, "{\"other\": 1}"), "unknown key 'other'");
}

} // namespace
