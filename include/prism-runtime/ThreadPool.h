//===- ThreadPool.h - Threads for work items --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A pool of threads that share out the items [0, n) of one job at a time.
// Items are taken in ranges from one counter, so uneven items (packed sequences
// of different lengths) balance by themselves. The calling thread works too,
// and waits only for threads that joined the job: one that was not woken in
// time delays nobody.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_THREADPOOL_H
#define PRISM_RUNTIME_THREADPOOL_H

#include "prism-runtime/Result.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace prism::runtime {

class ThreadPool {
public:
  /// A pool of `threads` workers, the caller of run() counted in. 0: the
  /// number in PRISM_NUM_THREADS, else one per hardware thread.
  static Result<std::unique_ptr<ThreadPool>> create(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const;

  /// What a job does with the items [begin, end); `worker` is below size() and
  /// no two ranges of one worker run at once. Must not throw, nor call run()
  /// of the same pool.
  using Body = std::function<void(unsigned worker, int64_t begin, int64_t end)>;

  /// Does all items [0, items), at most `grain` (at least 1) in one range, and
  /// returns when they are done. Jobs of several callers take turns.
  void run(int64_t items, int64_t grain, const Body &body);

private:
  struct State;
  explicit ThreadPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace prism::runtime

#endif // PRISM_RUNTIME_THREADPOOL_H
