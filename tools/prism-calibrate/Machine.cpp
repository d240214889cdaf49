//===- Machine.cpp - Plain facts about this machine -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace prism;

/// The best rate of copies of `bytes` at a time; read and written
/// bytes both count.
static double copyRate(std::vector<char> &from, std::vector<char> &to,
                       size_t bytes) {
  constexpr size_t kBytesATime = 64 << 20;
  double best = 1e300;
  for (int repeat = 0; repeat < 8; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    for (size_t done = 0; done < kBytesATime; done += bytes) {
      std::memcpy(to.data(), from.data(), bytes);
      // The copy is wanted each time.
      asm volatile("" : : "r"(to.data()), "r"(from.data()) : "memory");
    }
    best = std::min(best, std::chrono::duration<double, std::nano>(
                              std::chrono::steady_clock::now() - start)
                              .count());
  }
  return 2.0 * kBytesATime / best;
}

static std::string processorName() {
  auto text = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (text)
    for (StringRef rest = (*text)->getBuffer(); !rest.empty();) {
      StringRef line;
      std::tie(line, rest) = rest.split('\n');
      if (line.consume_front("model name"))
        return line.split(':').second.trim().str();
    }
  return sys::getHostCPUName().str();
}

/// Half of the last-level cache, which other programs use as well; the kernel
/// knows its size better than sysconf, which counts it once a core on some
/// machines.
static double cacheBytes() {
  constexpr double kGuess = 16 << 20;
  auto text = MemoryBuffer::getFileAsStream(
      "/sys/devices/system/cpu/cpu0/cache/index3/size");
  StringRef digits = text ? (*text)->getBuffer().trim() : "";
  int64_t unit = digits.consume_back("K") ? 1 << 10 : 1, size = 0;
  return digits.getAsInteger(10, size) || size < 1 ? kGuess
                                                   : double(size * unit) / 2;
}

MachineFacts prism::measureMachine() {
  MachineFacts facts;
  facts.cpu = processorName();
  facts.amx = sys::getHostCPUFeatures().lookup("amx-tile");
  facts.cacheBytes = cacheBytes();
  std::vector<char> from(64 << 20, 1), to(64 << 20, 2);
  facts.copyL1 = copyRate(from, to, 8 << 10);
  facts.copyL2 = copyRate(from, to, 128 << 10);
  facts.copyMemory = copyRate(from, to, 64 << 20);
  return facts;
}
