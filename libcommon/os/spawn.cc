// posix_spawn(3), a poll loop over two pipes and a pidfd, and a kill at the deadline.
// Contract: libcommon/os/spawn.h.
#include "libcommon/os/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libcommon/base/clock.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Owns a child: killed and reaped when it is given up.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const auto& text : strings) {
    out.push_back(const_cast<char*>(text.c_str()));  // the exec family takes char*, changes nothing
  }
  out.push_back(nullptr);
  return out;
}

// Drains one pipe. Returns false at end of file.
Result<bool> Drain(int fd, std::string& out, std::size_t limit) {
  std::array<char, 16384> buffer;
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n < 0) {
    if (errno == EINTR) {
      return true;
    }
    return FailOs(errno, "read a program's output");
  }
  if (out.size() + static_cast<std::size_t>(n) > limit) {
    return Fail(Code::kLimit, "a program's output is longer than " + std::to_string(limit));
  }
  out.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

Result<void> Capture(Pipe& out, Pipe& err, const SpawnRequest& request, SpawnResult& result) {
  const auto deadline = Monotonic::now() + request.timeout;
  while (out.read_end.valid() || err.read_end.valid()) {
    std::array<pollfd, 2> wait{{{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}}};
    const int ready = poll(wait.data(), wait.size(), PollMillis(deadline));
    if (ready == 0) {
      return Fail(Code::kTimeout, "'" + request.program + "' did not end in time");
    }
    for (std::size_t i = 0; ready > 0 && i < wait.size(); ++i) {
      if (wait[i].revents == 0) {
        continue;
      }
      UniqueFd& end = i == 0 ? out.read_end : err.read_end;
      bool more = false;
      MACO_ASSIGN(more, Drain(end.get(), i == 0 ? result.output : result.error_output,
                              request.output_limit));
      if (!more) {
        end.Reset();
      }
    }
  }
  return {};
}

}  // namespace

Result<SpawnResult> RunProgram(const SpawnRequest& request) {
  Pipe out;
  Pipe err;
  MACO_ASSIGN(out, MakePipe());
  MACO_ASSIGN(err, MakePipe());
  FileActions actions;
  posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), out.write_end.get(), 1);
  posix_spawn_file_actions_adddup2(actions.get(), err.write_end.get(), 2);
  if (!request.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(actions.get(), request.directory.c_str());
  }
  std::vector<std::string> arguments{request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, request.program.c_str(), actions.get(), nullptr,
                                 Pointers(arguments).data(), Pointers(request.environment).data());
  if (failed != 0) {
    return FailOs(failed, "run", request.program);
  }
  Child child(pid);
  out.write_end.Reset();
  err.write_end.Reset();
  SpawnResult result;
  MACO_TRY(Capture(out, err, request, result));
  const int status = child.Wait();
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace maco
