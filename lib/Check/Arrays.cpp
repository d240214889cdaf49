//===- Arrays.cpp - Host arrays and their rounding ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Check/Check.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace prism;
using namespace prism::check;

int64_t HostArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

static uint16_t roundTo16(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

static double widen16(uint16_t bits, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(semantics, llvm::APInt(16, bits));
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

template <typename T>
static T readAt(const std::vector<char> &bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
static void writeAt(std::vector<char> &bytes, int64_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

void HostArray::encode() {
  bytes.resize(values.size() * runtime::byteSize(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
    case runtime::DType::F64:
      writeAt<double>(bytes, i, values[i]);
      break;
    case runtime::DType::F32:
      writeAt<float>(bytes, i, float(values[i]));
      break;
    case runtime::DType::BF16:
      writeAt<uint16_t>(bytes, i,
                        roundTo16(values[i], llvm::APFloat::BFloat()));
      break;
    case runtime::DType::F16:
      writeAt<uint16_t>(bytes, i,
                        roundTo16(values[i], llvm::APFloat::IEEEhalf()));
      break;
    case runtime::DType::I64:
      writeAt<int64_t>(bytes, i, int64_t(values[i]));
      break;
    }
  }
  decode();
}

void HostArray::decode() {
  values.resize(bytes.size() / runtime::byteSize(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
    case runtime::DType::F64:
      values[i] = readAt<double>(bytes, i);
      break;
    case runtime::DType::F32:
      values[i] = readAt<float>(bytes, i);
      break;
    case runtime::DType::BF16:
      values[i] = widen16(readAt<uint16_t>(bytes, i), llvm::APFloat::BFloat());
      break;
    case runtime::DType::F16:
      values[i] =
          widen16(readAt<uint16_t>(bytes, i), llvm::APFloat::IEEEhalf());
      break;
    case runtime::DType::I64:
      values[i] = double(readAt<int64_t>(bytes, i));
      break;
    }
  }
}

HostArrays check::makeOutputs(const runtime::EntryInfo &info,
                              const runtime::Sizes &sizes) {
  HostArrays outputs;
  for (const runtime::ArgumentInfo &argument : info.arguments) {
    if (!runtime::isWritten(argument.role))
      continue;
    HostArray array;
    array.dtype = argument.dtype;
    array.shape = runtime::shapeOf(argument, sizes);
    // NaN: whatever is not written shows.
    array.values.assign(array.size(), std::numeric_limits<double>::quiet_NaN());
    array.encode();
    outputs[argument.name] = std::move(array);
  }
  return outputs;
}

runtime::Bindings check::bindings(HostArrays &inputs, HostArrays &outputs) {
  runtime::Bindings all;
  for (HostArrays *arrays : {&inputs, &outputs})
    for (auto &[name, array] : *arrays)
      all.push_back({name, {array.bytes.data(), array.dtype, array.shape, {}}});
  return all;
}
