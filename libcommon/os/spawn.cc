// posix_spawn(3), a poll loop over two pipes and a pidfd, and a kill at the deadline.
// Contract: libcommon/os/spawn.h.
#include "libcommon/os/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/proc_status.h"

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

// The program starts with no signal blocked and none ignored, whatever we do with ours.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
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

// Until the program has ended and nothing more is in the pipes: a process that it left behind may
// hold them open for ever, and the program may close them long before it ends.
Result<void> Capture(Pipe& out, Pipe& err, int pidfd, const SpawnRequest& request,
                     SpawnResult& result) {
  const auto deadline = Monotonic::now() + request.timeout;
  for (;;) {
    std::array<pollfd, 3> wait{
        {{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}, {pidfd, POLLIN, 0}}};
    const int ready = poll(wait.data(), wait.size(), PollMillis(deadline));
    if (ready == 0) {
      return Fail(Code::kTimeout, "'" + request.program + "' did not end in time");
    }
    if (ready < 0) {
      continue;  // interrupted
    }
    if (wait[0].revents == 0 && wait[1].revents == 0) {
      return {};
    }
    for (std::size_t i = 0; i < 2; ++i) {
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
}

// A file in memory that holds `text`, at its beginning: no pipe has to be fed meanwhile.
Result<UniqueFd> InputOf(const std::string& text) {
  UniqueFd fd(memfd_create("input", MFD_CLOEXEC));
  if (!fd.valid()) {
    return FailOs(errno, "create a file in memory");
  }
  MACO_TRY(WriteAll(fd.get(), AsBytes(text)));
  if (lseek(fd.get(), 0, SEEK_SET) != 0) {
    return FailOs(errno, "rewind a file in memory");
  }
  return fd;
}

}  // namespace

Result<SpawnResult> RunProgram(const SpawnRequest& request) {
  Pipe out;
  Pipe err;
  MACO_ASSIGN(out, MakePipe());
  MACO_ASSIGN(err, MakePipe());
  FileActions actions;
  Attributes attributes;
  UniqueFd input;
  if (request.input) {
    MACO_ASSIGN(input, InputOf(*request.input));
    posix_spawn_file_actions_adddup2(actions.get(), input.get(), 0);
  } else {
    posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(actions.get(), out.write_end.get(), 1);
  posix_spawn_file_actions_adddup2(actions.get(), err.write_end.get(), 2);
  posix_spawn_file_actions_addclosefrom_np(actions.get(), 3);
  if (!request.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(actions.get(), request.directory.c_str());
  }
  std::vector<std::string> arguments{request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, request.program.c_str(), actions.get(), attributes.get(),
                                 Pointers(arguments).data(), Pointers(request.environment).data());
  if (failed != 0) {
    return FailOs(failed, "run", request.program);
  }
  Child child(pid);
  out.write_end.Reset();
  err.write_end.Reset();
  UniqueFd pidfd;
  MACO_ASSIGN(pidfd, OpenPidfd(pid));
  SpawnResult result;
  MACO_TRY(Capture(out, err, pidfd.get(), request, result));
  const int status = child.Wait();
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace maco
