//===- RunProgram.cpp - A helper program, within a time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/RunProgram.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>

using namespace llvm;

/// How a process ended that waitpid reported; empty for status 0.
static std::string describeEnd(int status) {
  if (WIFSIGNALED(status))
    return std::string("was killed by a signal: ") +
           strsignal(WTERMSIG(status));
  if (int code = WEXITSTATUS(status))
    return "failed with status " + std::to_string(code);
  return "";
}

/// Waits by asking: sys::Wait, even when it polls, touches the alarm's handler.
static std::string waitWithin(pid_t process, unsigned seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  while (true) {
    int status = 0;
    pid_t found = ::waitpid(process, &status, WNOHANG);
    if (found == process)
      return describeEnd(status);
    if (found < 0 && errno != EINTR)
      return std::string("ended, but not how: ") + strerror(errno);
    if (Clock::now() >= end) {
      ::kill(process, SIGKILL);
      while (::waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
      return "did not end within " + std::to_string(seconds) +
             " s and was stopped";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string prism::runProgram(StringRef program, ArrayRef<StringRef> arguments,
                              unsigned seconds, std::string &said) {
  said.clear();
  SmallString<128> log;
  if (std::error_code code =
          sys::fs::createTemporaryFile("prism-run", "txt", log))
    return "cannot make a temporary file: " + code.message();
  SmallVector<StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string problem;
  bool failedToStart = false;
  sys::ProcessInfo process =
      sys::ExecuteNoWait(program, all, std::nullopt, redirects,
                         /*MemoryLimit=*/0, &problem, &failedToStart);
  std::string error;
  if (failedToStart)
    error = "cannot start " + program.str() + ": " + problem;
  else if (error = waitWithin(process.Pid, seconds); !error.empty())
    error = program.str() + " " + error;
  if (auto text = MemoryBuffer::getFile(log))
    said = (*text)->getBuffer().str();
  sys::fs::remove(log);
  return error;
}
