//===- ThreadPool.cpp - Threads for work items -----------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/ThreadPool.h"
#include "Support.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace prism::runtime {

static constexpr unsigned maxThreads = 1024;

struct ThreadPool::State {
  std::vector<std::thread> threads; // workers 1, 2, ...; the caller is 0

  std::mutex turn; // held by the caller of the running job

  std::mutex mutex; // guards what follows, but for `next`
  std::condition_variable wake, left;
  const Body *body = nullptr;
  int64_t items = 0, grain = 1;
  uint64_t job = 0;    // counts jobs, so that no thread joins one twice
  bool open = false;   // the job may still be joined
  unsigned joined = 0; // threads in the job, the caller not counted
  bool stop = false;

  std::atomic<int64_t> next{0}; // first item not yet taken

  void work(unsigned worker, const Body &body, int64_t items, int64_t grain);
  void serve(unsigned worker);
};

void ThreadPool::State::work(unsigned worker, const Body &body, int64_t items,
                             int64_t grain) {
  // Comparing before adding keeps the counter from running past the end by
  // more than one grain for each thread.
  while (next.load(std::memory_order_relaxed) < items) {
    int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
    if (begin >= items)
      return;
    body(worker, begin, begin + std::min(grain, items - begin));
  }
}

void ThreadPool::State::serve(unsigned worker) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stop || (open && job != seen); });
    if (stop)
      return;
    seen = job;
    ++joined;
    const Body &mine = *body;
    int64_t count = items, step = grain;
    lock.unlock();
    work(worker, mine, count, step);
    lock.lock();
    if (--joined == 0)
      left.notify_one();
  }
}

ThreadPool::ThreadPool(std::unique_ptr<State> state)
    : state(std::move(state)) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->stop = true;
  }
  state->wake.notify_all();
  for (std::thread &thread : state->threads)
    thread.join();
}

unsigned ThreadPool::size() const {
  return static_cast<unsigned>(state->threads.size()) + 1;
}

/// The number of threads to use where the caller names none.
static Result<unsigned> defaultThreads() {
  const char *text = std::getenv("PRISM_NUM_THREADS");
  if (!text || !*text)
    return std::clamp(std::thread::hardware_concurrency(), 1u, maxThreads);
  char *end = nullptr;
  long number = std::strtol(text, &end, 10);
  if (*end || number < 1 || number > long(maxThreads))
    return Failure{"PRISM_NUM_THREADS: expected a number from 1 to " +
                   std::to_string(maxThreads) + ", found " + quote(text)};
  return static_cast<unsigned>(number);
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned threads) {
  if (threads == 0) {
    Result<unsigned> number = defaultThreads();
    if (!number)
      return number.failure();
    threads = *number;
  }
  if (threads > maxThreads)
    return Failure{"expected at most " + std::to_string(maxThreads) +
                   " threads, found " + std::to_string(threads)};
  std::unique_ptr<ThreadPool> pool(new ThreadPool(std::make_unique<State>()));
  State *state = pool->state.get();
  try {
    for (unsigned worker = 1; worker < threads; ++worker)
      state->threads.emplace_back([state, worker] { state->serve(worker); });
  } catch (const std::system_error &error) {
    return Failure{"cannot start thread " + std::to_string(pool->size()) +
                   " of " + std::to_string(threads) + ": " + error.what()};
  }
  return pool;
}

void ThreadPool::run(int64_t items, int64_t grain, const Body &body) {
  if (items <= 0)
    return;
  std::lock_guard<std::mutex> turn(state->turn);
  state->next.store(0, std::memory_order_relaxed);
  // One range only: nobody else would find work.
  if (state->threads.empty() || items <= grain)
    return state->work(0, body, items, grain);
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->body = &body;
    state->items = items;
    state->grain = grain;
    state->open = true;
    ++state->job;
  }
  state->wake.notify_all();
  state->work(0, body, items, grain);
  std::unique_lock<std::mutex> lock(state->mutex);
  state->open = false;
  state->left.wait(lock, [&] { return state->joined == 0; });
}

} // namespace prism::runtime
