// Runs a piece of a test in a child process: as another user, in its own mounts, with other limits.
// For unit tests only; what the piece returns is the answer, as text.
#pragma once
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"

namespace maco {

// What `piece` returned in the child; a text that begins with "child" if it did not get so far.
template <typename Piece>
std::string InChild(Piece piece) {
  auto pipe = MakePipe();
  if (!pipe) {
    return "child not made: " + pipe.error().message;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string answer = piece();
    const bool told = WriteAll(pipe->write_end.get(), AsBytes(answer)).has_value();
    _exit(told ? 0 : 1);
  }
  pipe->write_end.Reset();
  const auto answer = ReadAll(pipe->read_end.get(), 1UL << 20U);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!answer || status != 0) {
    return "child ended with status " + std::to_string(status);
  }
  return *answer;
}

// In the child only: mounts of its own, by being root or root of a user namespace.
inline bool EnterOwnMounts() {
  const int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
  return unshare(flags) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// In the child only: a user to whom permission bits apply.
inline bool BecomeOrdinaryUser() {
  constexpr uid_t kNobody = 65534;
  return geteuid() != 0 || (setgid(kNobody) == 0 && setuid(kNobody) == 0);
}

// "ok", or the error with its code.
template <typename T>
std::string Answer(const Result<T>& result) {
  return result ? "ok" : std::string(CodeName(result.error().code)) + ": " + result.error().message;
}

}  // namespace maco
