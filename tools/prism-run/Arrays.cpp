//===- Arrays.cpp - The arrays of one run ----------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include <algorithm>
#include <cstdlib>

namespace prism::run {

using namespace prism::runtime;

Result<Named> splitNamed(const std::vector<std::string> &texts,
                         const std::string &option) {
  Named named;
  for (const std::string &text : texts) {
    size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
      return Failure{option + ": expected NAME=FILE, found '" + text + "'"};
    named.emplace_back(text.substr(0, sign), text.substr(sign + 1));
    for (size_t i = 0; i + 1 < named.size(); ++i)
      if (named[i].first == named.back().first)
        return Failure{option + ": '" + named.back().first +
                       "' is given twice"};
  }
  return named;
}

/// The argument of that name, which must be one that the option is for.
static Result<const ArgumentInfo *>
find(const EntryInfo &entry, const std::string &name, bool written) {
  const ArgumentInfo *argument = entry.argument(name);
  if (!argument) {
    // The runtime knows the nearest name.
    Bindings wrong = {{name, Array{}}};
    return inferSizes(entry, wrong).failure();
  }
  if (isWritten(argument->role) == written)
    return argument;
  return Failure{"'" + name + "' is an " +
                 (written ? "input of entry '" + entry.name +
                                "': give it with --in " + name + "=FILE"
                          : "output of entry '" + entry.name +
                                "': ask for it with --out " + name + "=FILE")};
}

static Result<Input> openInput(const EntryInfo &entry, const std::string &name,
                               const std::string &path) {
  Result<const ArgumentInfo *> argument = find(entry, name, false);
  if (!argument)
    return argument.failure();
  Result<NpyFile> file = NpyFile::open(path);
  if (!file)
    return Failure{"argument '" + name + "': " + file.error()};
  const std::string &descr = file->header().descr;
  if (!npyHolds(descr, (*argument)->dtype))
    return Failure{"argument '" + name + "': " + path + ": expected dtype " +
                   npyNames((*argument)->dtype) + ", found " + descr};
  return Input{*argument, std::move(*file)};
}

/// Memory for an output, aligned as any kernel may like it.
static Status allocate(Output &output) {
  std::optional<int64_t> bytes = byteSize(output.info->dtype, output.shape);
  void *memory = nullptr;
  if (bytes && *bytes < INT64_MAX - 64)
    memory =
        std::aligned_alloc(64, (static_cast<size_t>(*bytes) + 64) / 64 * 64);
  if (!memory)
    return Failure{"cannot allocate memory for output '" + output.info->name +
                   "'" +
                   (bytes ? " (" + std::to_string(*bytes) + " bytes)" : "")};
  output.bytes = *bytes;
  output.memory = std::shared_ptr<void>(memory, [](void *p) { std::free(p); });
  return Success{};
}

static Bindings bindInputs(const std::vector<Input> &inputs) {
  Bindings bindings;
  for (const Input &input : inputs) {
    Array array;
    // Inputs are only read; an Array serves outputs as well.
    array.data = const_cast<void *>(input.file.data());
    array.dtype = input.info->dtype;
    array.shape = input.file.header().shape;
    bindings.push_back({input.info->name, std::move(array)});
  }
  return bindings;
}

/// Opens the files that are asked for, before anything is computed.
static Result<std::map<std::string, NpyWriter>>
openOutputs(const EntryInfo &entry, const Named &out) {
  std::map<std::string, NpyWriter> writers;
  for (const auto &[name, path] : out) {
    Result<const ArgumentInfo *> argument = find(entry, name, true);
    if (!argument)
      return argument.failure();
    Result<NpyWriter> writer = NpyWriter::open(path);
    if (!writer)
      return Failure{"output '" + name + "': " + writer.error()};
    for (const auto &[other, open] : writers)
      if (open.path() == writer->path())
        return Failure{"outputs '" + other + "' and '" + name +
                       "' go to the same file " + path};
    writers.emplace(name, std::move(*writer));
  }
  return writers;
}

Result<Arrays> Arrays::open(const EntryInfo &entry, const Named &in,
                            const Named &out) {
  Arrays arrays;
  Result<std::map<std::string, NpyWriter>> writers = openOutputs(entry, out);
  if (!writers)
    return writers.failure();
  for (const auto &[name, path] : in) {
    Result<Input> input = openInput(entry, name, path);
    if (!input)
      return input.failure();
    arrays.inputs.push_back(std::move(*input));
  }
  Result<Sizes> sizes = inferSizes(entry, bindInputs(arrays.inputs));
  if (!sizes)
    return sizes.failure();
  arrays.sizes = *sizes;
  for (const ArgumentInfo &argument : entry.arguments) {
    auto writer = writers->find(argument.name);
    bool wanted = writer != writers->end();
    if (!isWritten(argument.role) || (!wanted && argument.optional))
      continue;
    Output output;
    output.info = &argument;
    output.shape = shapeOf(argument, *sizes);
    Status allocated = allocate(output);
    if (!allocated)
      return allocated.failure();
    if (wanted)
      output.file.emplace(std::move(writer->second));
    arrays.outputs.push_back(std::move(output));
  }
  return arrays;
}

Bindings Arrays::hostBindings() const {
  Bindings bindings = bindInputs(inputs);
  for (const Output &output : outputs) {
    Array array;
    array.data = output.memory.get();
    array.dtype = output.info->dtype;
    array.shape = output.shape;
    bindings.push_back({output.info->name, std::move(array)});
  }
  return bindings;
}

const int64_t *Arrays::offsets() const {
  for (const Input &input : inputs)
    if (input.info->role == Role::Offsets)
      return static_cast<const int64_t *>(input.file.data());
  return nullptr;
}

Status Arrays::save() {
  for (Output &output : outputs) {
    if (!output.file)
      continue;
    Status written = output.file->write(output.info->dtype, output.shape,
                                        output.memory.get());
    if (!written)
      return Failure{"output '" + output.info->name + "': " + written.error()};
  }
  for (Output &output : outputs) {
    if (!output.file)
      continue;
    Status renamed = output.file->commit();
    if (!renamed)
      return Failure{"output '" + output.info->name + "': " + renamed.error()};
  }
  return Success{};
}

} // namespace prism::run
