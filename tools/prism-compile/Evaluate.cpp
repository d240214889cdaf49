//===- Evaluate.cpp - prism-compile --evaluate ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What an entry means on the caller's arrays, in float64, op by op.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Prism/Analysis/Associativity.h"
#include "Prism/Interpreter/Interpreter.h"
#include "prism-runtime/Npy.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace prism;

using Files = std::vector<std::pair<std::string, std::string>>;

static FailureOr<Files> splitNamed(ArrayRef<std::string> texts,
                                   StringRef option) {
  Files named;
  for (StringRef text : texts) {
    auto [name, file] = text.split('=');
    if (name.empty() || file.empty())
      return usageError(option + ": expected NAME=FILE, found '" + text + "'");
    for (auto &[other, otherFile] : named)
      if (other == name)
        return usageError(option + ": '" + name + "' is given twice");
    named.emplace_back(name, file);
  }
  return named;
}

static std::optional<runtime::DType> dtypeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF64())
    return runtime::DType::F64;
  if (element.isF32())
    return runtime::DType::F32;
  if (element.isF16())
    return runtime::DType::F16;
  if (element.isBF16())
    return runtime::DType::BF16;
  if (element.isInteger(64))
    return runtime::DType::I64;
  return std::nullopt;
}

/// The element type of a file for an argument: the argument's, or for a float
/// any that is wide enough to be said in.
static std::optional<runtime::DType> fileType(StringRef descr,
                                              runtime::DType argument) {
  if (runtime::npyHolds(descr.str(), argument))
    return argument;
  if (argument == runtime::DType::I64)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<runtime::DType>>(descr)
      .Case("<f8", runtime::DType::F64)
      .Case("<f4", runtime::DType::F32)
      .Case("<f2", runtime::DType::F16)
      .Default(std::nullopt);
}

static FailureOr<interpreter::Array>
readArray(func::FuncOp entry, StringRef name, const std::string &path) {
  std::optional<runtime::DType> wanted;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (interpreter::getArgumentName(entry, i) == name)
      wanted = dtypeOf(entry.getArgument(i).getType());
  runtime::Result<runtime::NpyFile> file = runtime::NpyFile::open(path);
  if (!file)
    return usageError("--in " + name + ": " + file.error());
  const runtime::NpyHeader &header = file->header();
  // An unknown name is refused by the interpreter, which knows the nearest.
  std::optional<runtime::DType> dtype =
      fileType(header.descr, wanted.value_or(runtime::DType::F64));
  if (!dtype)
    return usageError(
        "--in " + name + ": " + path + ": expected dtype " +
        runtime::npyNames(wanted.value_or(runtime::DType::F64)) +
        (wanted == runtime::DType::I64 ? "" : " or another float") +
        ", found " + header.descr);
  check::HostArray array;
  array.dtype = *dtype;
  auto *bytes = static_cast<const char *>(file->data());
  array.bytes.assign(bytes, bytes + header.dataBytes);
  array.decode();
  return interpreter::Array(header.shape, std::move(array.values));
}

/// Files for results, checked before anything is computed.
static FailureOr<std::map<std::string, runtime::NpyWriter>>
openResults(func::FuncOp entry, const Files &out) {
  std::map<std::string, runtime::NpyWriter> writers;
  for (const auto &[name, path] : out) {
    bool known = false;
    std::string all;
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      std::string result = interpreter::getResultName(entry, i);
      known |= result == name;
      all += (all.empty() ? "" : ", ") + result;
    }
    if (!known)
      return usageError("--out: entry '" + entry.getName() +
                        "' has no result '" + name + "', expected one of " +
                        all);
    runtime::Result<runtime::NpyWriter> writer = runtime::NpyWriter::open(path);
    if (!writer)
      return usageError("--out " + name + ": " + writer.error());
    for (const auto &[other, open] : writers)
      if (open.path() == writer->path())
        return usageError("--out: results '" + other + "' and '" + name +
                          "' go to the same file " + path);
    writers.emplace(name, std::move(*writer));
  }
  return writers;
}

/// Holds declarations that are not proved against the arrays: joined from the
/// left, all results must be the same.
static LogicalResult checkDeclarations(func::FuncOp entry,
                                       const interpreter::Arrays &arrays,
                                       const interpreter::Arrays &results) {
  scan::PrefixOp declared;
  entry.walk([&](scan::PrefixOp op) {
    if (analysis::associativityOf(op) == analysis::Associativity::declaration)
      declared = op;
  });
  if (!declared)
    return success();
  auto other =
      interpreter::evaluate(entry, arrays, interpreter::JoinOrder::fromLeft);
  if (failed(other))
    return failure();
  for (const auto &[name, array] : results) {
    double error = 0.0, size = 0.0;
    for (auto [x, y] :
         llvm::zip_equal(array.data, other->find(name)->second.data)) {
      if (std::isfinite(x))
        size += x * x;
      if (x != y && !(std::isnan(x) && std::isnan(y)))
        error += (x - y) * (x - y);
    }
    double ratio = std::sqrt(error / size);
    if (error != 0.0 && !(ratio <= 1e-9))
      return declared.emitError("is declared to be associative, but joined "
                                "from the left result '")
             << name << "' differs by " << llvm::formatv("{0:e1}", ratio).str()
             << " (RMS ratio); without `associative` the tree is the meaning";
  }
  return success();
}

LogicalResult prism::evaluateEntry(ModuleOp module,
                                   ArrayRef<std::string> wanted,
                                   ArrayRef<std::string> in,
                                   ArrayRef<std::string> out) {
  auto entries = findEntries(module, wanted);
  FailureOr<Files> inputs = splitNamed(in, "--in"),
                   outputs = splitNamed(out, "--out");
  if (failed(entries) || failed(inputs) || failed(outputs))
    return failure();
  if (entries->size() != 1)
    return usageError("--evaluate runs one entry, the model has " +
                      Twine(entries->size()) + ": choose by --entry");
  if (outputs->empty())
    return usageError("--evaluate: expected --out NAME=FILE");
  func::FuncOp entry = entries->front();
  auto writers = openResults(entry, *outputs);
  if (failed(writers))
    return failure();
  interpreter::Arrays arrays;
  for (const auto &[name, path] : *inputs) {
    FailureOr<interpreter::Array> array = readArray(entry, name, path);
    if (failed(array))
      return failure();
    arrays[name] = std::move(*array);
  }
  FailureOr<interpreter::Arrays> results = interpreter::evaluate(entry, arrays);
  if (failed(results) || failed(checkDeclarations(entry, arrays, *results)))
    return failure();
  for (auto &[name, writer] : *writers) {
    const interpreter::Array &array = results->find(name)->second;
    std::vector<int64_t> shape(array.shape.begin(), array.shape.end());
    if (runtime::Status status =
            writer.write(runtime::DType::F64, shape, array.data.data());
        !status)
      return usageError(status.error());
  }
  for (auto &[name, writer] : *writers)
    if (runtime::Status status = writer.commit(); !status)
      return usageError(status.error());
  return success();
}
