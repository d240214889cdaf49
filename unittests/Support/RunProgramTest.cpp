//===- RunProgramTest.cpp - Helper programs, within a time ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/RunProgram.h"
#include "gtest/gtest.h"
#include <chrono>
#include <csignal>
#include <thread>

using namespace prism;

namespace {

std::string shell(const char *command, unsigned seconds, std::string &said) {
  return runProgram("/bin/sh", {"-c", command}, seconds, said);
}

double secondsOf(llvm::function_ref<void()> what) {
  auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST(RunProgram, HandsBackWhatWasSaid) {
  std::string said;
  EXPECT_EQ(shell("echo out; echo err >&2", 10, said), "");
  EXPECT_EQ(said, "out\nerr\n");
}

TEST(RunProgram, SaysHowItEnded) {
  std::string said;
  EXPECT_EQ(shell("echo no; exit 3", 10, said), "/bin/sh failed with status 3");
  EXPECT_EQ(said, "no\n");
  EXPECT_EQ(shell("kill -TERM $$", 10, said),
            "/bin/sh was killed by a signal: Terminated");
}

TEST(RunProgram, SaysThatItCannotStart) {
  std::string said;
  EXPECT_EQ(runProgram("/no/such/program", {}, 10, said)
                .find("cannot start /no/such/program: "),
            0u);
}

TEST(RunProgram, InputIsEmpty) {
  std::string said;
  EXPECT_EQ(shell("cat", 10, said), "");
  EXPECT_EQ(said, "");
}

TEST(RunProgram, StopsWhatDoesNotEnd) {
  std::string said, error;
  EXPECT_LT(
      secondsOf([&] { error = shell("echo on; exec sleep 30", 1, said); }), 10);
  EXPECT_EQ(error, "/bin/sh did not end within 1 s and was stopped");
  EXPECT_EQ(said, "on\n");
}

/// Limits of several threads do not touch each other, nor the host's alarm.
TEST(RunProgram, ThreadsHaveLimitsOfTheirOwn) {
  static volatile sig_atomic_t alarms;
  alarms = 0;
  auto before = std::signal(SIGALRM, [](int) { alarms = alarms + 1; });
  std::vector<std::string> errors(8);
  std::vector<std::thread> threads;
  double took = secondsOf([&] {
    for (size_t i = 0; i < errors.size(); ++i)
      threads.emplace_back([&errors, i] {
        std::string said;
        errors[i] = i % 2 ? shell("exec sleep 0.1", 20, said)
                          : shell("exec sleep 30", 1, said);
      });
    for (std::thread &thread : threads)
      thread.join();
  });
  EXPECT_LT(took, 10);
  for (size_t i = 0; i < errors.size(); ++i)
    EXPECT_EQ(errors[i].empty(), i % 2 == 1) << errors[i];
  EXPECT_EQ(alarms, 0);
  std::raise(SIGALRM);
  EXPECT_EQ(alarms, 1); // the handler is still ours
  std::signal(SIGALRM, before);
}

/// A host that ignores the end of its children takes their status away.
TEST(RunProgram, ALostStatusIsAnError) {
  auto before = std::signal(SIGCHLD, SIG_IGN);
  std::string said, error = shell("exit 0", 10, said);
  std::signal(SIGCHLD, before);
  EXPECT_EQ(error, "/bin/sh ended, but not how: No child processes");
}

} // namespace
