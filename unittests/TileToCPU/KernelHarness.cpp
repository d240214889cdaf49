//===- KernelHarness.cpp - Compile and run tile programs in tests ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

using namespace mlir;
using namespace prism;
using namespace prism::test;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &semanticsOf(const std::string &dtype) {
  if (dtype == "bf16")
    return llvm::APFloat::BFloat();
  if (dtype == "f16")
    return llvm::APFloat::IEEEhalf();
  return dtype == "f32" ? llvm::APFloat::IEEEsingle()
                        : llvm::APFloat::IEEEdouble();
}

static uint64_t bitsOf(const std::string &dtype, double value) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

static double fromBits(const std::string &dtype, uint64_t bits) {
  const llvm::fltSemantics &semantics = semanticsOf(dtype);
  llvm::APFloat number(
      semantics,
      llvm::APInt(llvm::APFloat::semanticsSizeInBits(semantics), bits));
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

double test::roundTo(const std::string &dtype, double value) {
  return fromBits(dtype, bitsOf(dtype, value));
}

/// 0xff bytes are NaNs of every type.
constexpr int64_t kGuard = 4096;

GuardedArray::GuardedArray(std::string dtype, std::vector<int64_t> shape,
                           int64_t misalign)
    : dtype(std::move(dtype)), shape(std::move(shape)) {
  for (int64_t extent : this->shape)
    count *= extent;
  offset = kGuard + misalign * width();
  bytes.assign(offset + count * width() + kGuard, 0xff);
}

int64_t GuardedArray::width() const {
  return dtype == "f64" ? 8 : dtype == "f32" ? 4 : 2;
}
const unsigned char *GuardedArray::at(int64_t index) const {
  return bytes.data() + offset + index * width();
}
void *GuardedArray::data() { return bytes.data() + offset; }

void GuardedArray::set(int64_t index, double value) {
  uint64_t bits = bitsOf(dtype, value);
  std::memcpy(bytes.data() + offset + index * width(), &bits, width());
}

double GuardedArray::get(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, at(index), width());
  return fromBits(dtype, bits);
}

void GuardedArray::fillWithNaN() {
  std::fill(bytes.begin(), bytes.end(), 0xff);
}

std::vector<int64_t> GuardedArray::strides() const {
  std::vector<int64_t> result(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    result[i] = result[i + 1] * shape[i + 1];
  return result;
}

bool GuardedArray::guardsIntact() const {
  auto intact = [](unsigned char byte) { return byte == 0xff; };
  return std::all_of(bytes.begin(), bytes.begin() + offset, intact) &&
         std::all_of(bytes.end() - kGuard, bytes.end(), intact);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

CompiledProgram::CompiledProgram(const std::string &text, StringRef isa) {
  DialectRegistry registry;
  registry
      .insert<tile::TileDialect, arith::ArithDialect, math::MathDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect,
              LLVM::LLVMDialect, cf::ControlFlowDialect, func::FuncDialect>();
  registerCPUTranslations(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return;
  auto start = std::chrono::steady_clock::now();
  FailureOr<CPUOptions> options = CPUOptions::forIsa(isa);
  if (failed(options) || failed(convertTileToCPU(*module, *options)))
    return;
  SmallVector<CPUKernelInfo> kernels = getCPUKernels(*module);
  if (kernels.size() != 1)
    return;
  FailureOr<JitKernel> made = JitKernel::create(*module, isa, kernels.front());
  if (succeeded(made))
    kernel.emplace(std::move(*made));
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
}

std::string CompiledProgram::assembly(StringRef isa) const {
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  return succeeded(emitAssembly(*module, isa, stream)) ? text.str().str() : "";
}

int32_t CompiledProgram::run(ArrayRef<GuardedArray *> arrays,
                             ArrayRef<size_t> axisCounts,
                             const std::vector<int64_t> *offsets,
                             int64_t sequences, int64_t steps, int64_t items) {
  // A null array with one axis is the offsets argument, if offsets are given.
  std::vector<uint64_t> words;
  for (auto [i, array] : llvm::enumerate(arrays))
    words.push_back(array                           ? uint64_t(array->data())
                    : offsets && axisCounts[i] == 1 ? uint64_t(offsets->data())
                                                    : 0);
  words.push_back(sequences);
  words.push_back(steps);
  for (auto [i, array] : llvm::enumerate(arrays)) {
    if (array)
      for (int64_t stride : array->strides())
        words.push_back(stride);
    else
      words.insert(words.end(), axisCounts[i],
                   axisCounts[i] == 1 ? 1 : 0x7fffffffffff);
  }
  // The workspace starts as NaN too: nothing may be read before it is written.
  std::vector<unsigned char> memory(kernel->workspaceBytes() + 128, 0xff);
  auto aligned = (uint64_t(memory.data()) + 63) / 64 * 64;
  // Ranges in any order and of any size must do.
  int32_t status = 0;
  for (int64_t begin = 0; begin < items; begin += 3)
    status |=
        kernel->function()(words.data(), reinterpret_cast<void *>(aligned),
                           begin, std::min(items, begin + 3));
  for (size_t i = aligned - uint64_t(memory.data()) + kernel->workspaceBytes();
       i < memory.size(); ++i)
    if (memory[i] != 0xff)
      return -1;
  return status;
}

//===----------------------------------------------------------------------===//
// Gated DeltaNet
//===----------------------------------------------------------------------===//

static std::string tileText(std::initializer_list<int64_t> shape,
                            const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// `$name` in the template is replaced by the name's value.
static std::string
substitute(std::string text,
           std::vector<std::pair<std::string, std::string>> values) {
  llvm::sort(values,
             [](auto &a, auto &b) { return a.first.size() > b.first.size(); });
  for (auto &[name, value] : values)
    for (size_t at; (at = text.find("$" + name)) != std::string::npos;)
      text.replace(at, name.size() + 1, value);
  return text;
}

static const char *kProgram = R"(
tile.program $reverse @kernel(
    %q: !tile.view<?x$Kx$io> as <name = "q", axes = "bthk", heads = $Hk, role = "input", optional = false>,
    %k: !tile.view<?x$Kx$io> as <name = "k", axes = "bthk", heads = $Hk, role = "input", optional = false>,
    %v: !tile.view<?x$Vx$io> as <name = "v", axes = "bthv", heads = $Hv, role = "input", optional = false>,
    %g: !tile.view<?x$gate> as <name = "g", axes = "bth", heads = $Hv, role = "input", optional = false>,
    %b: !tile.view<?x$gate> as <name = "beta", axes = "bth", heads = $Hv, role = "input", optional = false>,
    %s0: !tile.view<$Kx$Vx$gate> as <name = "initial_state", axes = "nhkv", heads = $Hv, role = "initial_state", optional = true>,
    %off: !tile.view<1xi64> as <name = "offsets", axes = "n", heads = 0, role = "offsets", optional = true>,
    %o: !tile.view<?x$Vx$io> as <name = "o", axes = "bthv", heads = $Hv, role = "output", optional = false>,
    %sT: !tile.view<$Kx$Vx$gate> as <name = "final_state", axes = "nhkv", heads = $Hv, role = "final_state", optional = true>)
    heads $Hv values $V block $block chunk $C {
  %c0 = arith.constant 0 : index
  %cC = arith.constant $C : index
  %zero = arith.constant dense<0.0> : $CxV
  %zeroC = arith.constant dense<0.0> : $CxC
  %floor = arith.constant dense<-1024.0> : $sums
  %T = tile.length : index
  %vb = tile.value_offset : index
  %S0 = tile.load %s0[%c0, %vb] : !tile.view<$Kx$Vx$gate> -> $KxV
  %SN = scf.for %t = %c0 to %T step %cC iter_args(%S = %S0) -> ($KxV) {
    %qc = tile.load %q[%t, %c0] : !tile.view<?x$Kx$io> -> $CxK
    %kc = tile.load %k[%t, %c0] : !tile.view<?x$Kx$io> -> $CxK
    %vc = tile.load %v[%t, %vb] : !tile.view<?x$Vx$io> -> $CxV
    %gc = tile.load %g[%t] : !tile.view<?x$gate> -> $vecC
    %bc = tile.load %b[%t] : !tile.view<?x$gate> -> $vecC
    $widen
    %gf = arith.maximumf %gw, %floor : $sums
    %G = tile.gate_sum %gf : $sums
    $narrowG
    %gamma = math.exp %Gl : $vecC
    %last = tile.splat_last %G : $sums -> $sums
    %rest = arith.subf %last, %G : $sums
    $narrowRest
    %lambda = math.exp %restl : $vecC
    %KK = tile.dot %kc, %kc transposed, %zeroC : $CxK, $CxK -> $CxC
    %D = tile.decay_matrix %G at [2], %G at [2] : $sums, $sums -> $CxC
    %KKD = arith.mulf %KK, %D : $CxC
    %A = tile.scale_rows %KKD by %bc : $CxC, $vecC
    %KS = tile.dot %kc, %S, %zero : $CxK, $KxV -> $CxV
    %KSg = tile.scale_rows %KS by %gamma : $CxV, $vecC
    %res = arith.subf %vc, %KSg : $CxV
    %R = tile.scale_rows %res by %bc : $CxV, $vecC
    $solve
    %QS = tile.dot %qc, %S, %zero : $CxK, $KxV -> $CxV
    %QSg = tile.scale_rows %QS by %gamma : $CxV, $vecC
    %QK = tile.dot %qc, %kc transposed, %zeroC : $CxK, $CxK -> $CxC
    %E = tile.decay_matrix %G at [3], %G at [2] : $sums, $sums -> $CxC
    %P = arith.mulf %QK, %E : $CxC
    %out = tile.dot %P, %X, %QSg : $CxC, $CxV -> $CxV
    tile.store %out, %o[%t, %vb] : $CxV, !tile.view<?x$Vx$io>
    %lastK = tile.splat_last %G : $sums -> $sumsK
    $narrowLast
    %gammaC = math.exp %lastl : $vecK
    %Sd = tile.scale_rows %S by %gammaC : $KxV, $vecK
    %kl = tile.scale_rows %kc by %lambda : $CxK, $vecC
    %S1 = tile.dot %kl transposed, %X, %Sd : $CxK, $CxV -> $KxV
    scf.yield %S1 : $KxV
  }
  tile.store %SN, %sT[%c0, %vb] : $KxV, !tile.view<$Kx$Vx$gate>
  tile.return
}
)";

std::string GatedDelta::text() const {
  int64_t width = block ? block : V;
  bool wide = compute == "f64";
  auto narrow = [&](const char *to, const char *from, const char *wideType,
                    const char *type) {
    // f64 computes in the type of the sums: the value goes through unchanged.
    if (wide)
      return std::string("%") + to + " = arith.addf %" + from + ", %" + from +
             "z : " + type;
    return std::string("%") + to + " = arith.truncf %" + from + " : " +
           wideType + " to " + type;
  };
  std::string zeroOf = wide ? "%Gz = arith.constant dense<0.0> : $vecC\n%restz "
                              "= arith.constant dense<0.0> : $vecC\n"
                              "%lastKz = arith.constant dense<0.0> : $vecK\n"
                            : "";
  std::string body = substitute(
      kProgram,
      {{"widen", (wide ? "%gz = arith.constant dense<0.0> : $vecC\n%gw = "
                         "arith.addf %gc, %gz : $vecC"
                       : "%gw = arith.extf %gc : $vecC to $sums")},
       {"narrowG", zeroOf + narrow("Gl", "G", "$sums", "$vecC")},
       {"narrowRest", narrow("restl", "rest", "$sums", "$vecC")},
       {"narrowLast", narrow("lastl", "lastK", "$sumsK", "$vecK")},
       {"solve", C > 1 ? "%X = tile.solve %A, %R : $CxC, $CxV"
                       : "%nought = arith.constant dense<0.0> : $CxV\n"
                         "%X = arith.addf %R, %nought : $CxV"}});
  return substitute(body, {{"reverse", reverse ? "reverse" : ""},
                           {"CxV", tileText({C, width}, compute)},
                           {"CxC", tileText({C, C}, compute)},
                           {"CxK", tileText({C, K}, compute)},
                           {"KxV", tileText({K, width}, compute)},
                           {"vecC", tileText({C}, compute)},
                           {"vecK", tileText({K}, compute)},
                           {"sumsK", tileText({K}, "f64")},
                           {"sums", tileText({C}, "f64")},
                           {"io", io},
                           {"gate", compute},
                           {"Kx", std::to_string(K) + "x"},
                           {"Vx", std::to_string(V) + "x"},
                           {"Hk", std::to_string(Hk)},
                           {"Hv", std::to_string(Hv)},
                           {"V", std::to_string(V)},
                           {"block", std::to_string(width)},
                           {"C", std::to_string(C)}});
}

namespace {
/// Inputs of a case and what the recurrence makes of them.
struct Reference {
  std::vector<double> o, state;
};
} // namespace

/// The recurrence, step by step.
static Reference runLoop(const GatedDelta &c, int64_t N,
                         const std::vector<int64_t> &begin,
                         const std::vector<int64_t> &end,
                         const std::vector<int64_t> &batch, GuardedArray &q,
                         GuardedArray &k, GuardedArray &v, GuardedArray &g,
                         GuardedArray &beta, GuardedArray *initial) {
  Reference r;
  r.o.assign(v.size(), 0.0);
  r.state.assign(N * c.Hv * c.K * c.V, 0.0);
  for (int64_t n = 0; n < N; ++n)
    for (int64_t h = 0; h < c.Hv; ++h) {
      double *S = r.state.data() + (n * c.Hv + h) * c.K * c.V;
      if (initial)
        for (int64_t i = 0; i < c.K * c.V; ++i)
          S[i] = initial->get((n * c.Hv + h) * c.K * c.V + i);
      for (int64_t s = 0; s < end[n] - begin[n]; ++s) {
        int64_t row =
            batch[n] * c.T + (c.reverse ? end[n] - 1 - s : begin[n] + s);
        int64_t key = (row * c.Hk + h * c.Hk / c.Hv) * c.K,
                value = (row * c.Hv + h) * c.V, gate = row * c.Hv + h;
        double alpha = std::exp(g.get(gate)), b = beta.get(gate);
        for (int64_t j = 0; j < c.V; ++j) {
          double seen = 0, out = 0;
          for (int64_t i = 0; i < c.K; ++i)
            seen += k.get(key + i) * alpha * S[i * c.V + j];
          double x = b * (v.get(value + j) - seen);
          for (int64_t i = 0; i < c.K; ++i) {
            S[i * c.V + j] = alpha * S[i * c.V + j] + k.get(key + i) * x;
            out += q.get(key + i) * S[i * c.V + j];
          }
          r.o[value + j] = out;
        }
      }
    }
  return r;
}

static std::string compare(const char *name, GuardedArray &got,
                           const std::vector<double> &want, double tolerance) {
  double error = 0, norm = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    double d = got.get(i) - want[i];
    error += d * d;
    norm += want[i] * want[i];
  }
  std::ostringstream out;
  if (!got.guardsIntact())
    out << name << ": written outside; ";
  double ratio = std::sqrt(error / std::max(norm, 1e-300));
  if (!(error == 0 || ratio <= tolerance))
    out << name << ": RMS ratio " << ratio << " above " << tolerance << "; ";
  return out.str();
}

std::string test::check(const GatedDelta &c, StringRef isa) {
  CompiledProgram program(c.text(), isa);
  if (!program.ok())
    return "does not compile: " + program.messages();
  std::mt19937_64 random(c.K * 1000003 + c.V * 1009 + c.T * 31 + c.C);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  bool packed = !c.offsets.empty();
  int64_t N = packed ? int64_t(c.offsets.size()) - 1 : c.B;
  std::vector<int64_t> begin, end, batch;
  for (int64_t n = 0; n < N; ++n) {
    begin.push_back(packed ? c.offsets[n] : 0);
    end.push_back(packed ? c.offsets[n + 1] : c.T);
    batch.push_back(packed ? 0 : n);
  }
  GuardedArray q(c.io, {c.B, c.T, c.Hk, c.K}, 1),
      k(c.io, {c.B, c.T, c.Hk, c.K}, 3), v(c.io, {c.B, c.T, c.Hv, c.V}, 5),
      g(c.compute, {c.B, c.T, c.Hv}), b(c.compute, {c.B, c.T, c.Hv}),
      s0(c.compute, {N, c.Hv, c.K, c.V}, 1), o(c.io, {c.B, c.T, c.Hv, c.V}, 7),
      sT(c.compute, {N, c.Hv, c.K, c.V}, 1);
  for (int64_t row = 0; row < k.size() / c.K; ++row) {
    double norm = 0;
    std::vector<double> key(c.K);
    for (double &x : key)
      x = normal(random), norm += x * x;
    for (int64_t i = 0; i < c.K; ++i) {
      k.set(row * c.K + i, key[i] / std::sqrt(norm + 1e-6));
      q.set(row * c.K + i, normal(random) / std::sqrt(double(c.K)));
    }
  }
  for (int64_t i = 0; i < v.size(); ++i)
    v.set(i, normal(random));
  for (int64_t i = 0; i < g.size(); ++i) {
    double x = normal(random), gate = -std::log1p(std::exp(-x)) / 16;
    if (c.strongGates && i % 4 == 1)
      gate = i % 8 == 1 ? -std::numeric_limits<double>::infinity() : -88;
    g.set(i, gate);
    b.set(i, uniform(random));
  }
  for (int64_t i = 0; i < s0.size(); ++i)
    s0.set(i, 0.3 * normal(random));
  Reference want = runLoop(c, N, begin, end, batch, q, k, v, g, b,
                           c.initial ? &s0 : nullptr);
  int64_t width = c.block ? c.block : c.V,
          items = N * c.Hv * ((c.V + width - 1) / width);
  int32_t status = program.run({&q, &k, &v, &g, &b, c.initial ? &s0 : nullptr,
                                nullptr, &o, c.final ? &sT : nullptr},
                               {4, 4, 4, 3, 3, 4, 1, 4, 4},
                               packed ? &c.offsets : nullptr, N, c.T, items);
  if (status != 0)
    return "status " + std::to_string(status);
  double tolerance = c.io == "bf16"       ? 0.005
                     : c.io == "f16"      ? 0.002
                     : c.compute == "f64" ? 1e-12
                                          : 1e-5;
  std::string wrong = compare("o", o, want.o, tolerance);
  if (c.final)
    wrong += compare("final_state", sT, want.state, tolerance);
  return wrong;
}
