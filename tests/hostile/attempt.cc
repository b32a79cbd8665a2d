// Selection of attempts, their output, and what many attempts share.
// Contract: tests/hostile/attempt.h.
#include "tests/hostile/attempt.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace hostile {
namespace {

std::map<std::string, std::string> parameters;

std::string Why(int result) {
  if (result == kIgnored) {
    return "IGNORED";
  }
  if (result > kSignalBase) {
    const char* name = sigabbrev_np(result - kSignalBase);
    return std::string("SIG") + (name != nullptr ? name : "?");
  }
  const char* name = strerrorname_np(result);
  return name != nullptr ? name : "?" + std::to_string(result);
}

std::set<std::string> TakeArguments(int argc, char** argv) {
  std::set<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      chosen.insert(argument);
    } else {
      parameters[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  return chosen;
}

}  // namespace

int RunAttempts(int argc, char** argv, const std::vector<Attempt>& attempts) {
  std::set<std::string> chosen = TakeArguments(argc, argv);
  const bool all = chosen.empty();
  int worked = 0;
  int stopped = 0;
  for (const auto& attempt : attempts) {
    if (!all && chosen.erase(attempt.name) == 0) {
      continue;
    }
    const int result = attempt.run();
    result == 0 ? ++worked : ++stopped;
    const std::string word = result == 0 ? "worked" : "stopped " + Why(result);
    printf("%s %s\n", attempt.name.c_str(), word.c_str());
    fflush(stdout);
  }
  for (const auto& name : chosen) {
    fprintf(stderr, "no attempt '%s'\n", name.c_str());
    return 64;
  }
  return stopped == 0 ? 0 : worked == 0 ? 1 : 2;
}

std::string Parameter(const std::string& key) {
  const auto found = parameters.find(key);
  return found == parameters.end() ? "" : found->second;
}

long Number(const std::string& key) { return strtol(Parameter(key).c_str(), nullptr, 10); }

int Outcome(long result) { return result < 0 ? errno : 0; }

int CloseAfter(long fd) {
  const int result = Outcome(fd);
  if (fd >= 0) {
    close(static_cast<int>(fd));
  }
  return result;
}

int InChild(const std::function<int()>& attempt) {
  int ends[2];
  if (pipe(ends) != 0) {
    return errno;
  }
  const pid_t child = fork();
  if (child < 0) {
    return errno;
  }
  if (child == 0) {
    const int result = attempt();
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  int result = ECHILD;
  const bool told = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!told && WIFSIGNALED(status)) {
    return kSignalBase + WTERMSIG(status);
  }
  return result;
}

int WriteTo(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int result = Outcome(write(fd, "x", 1));
  close(fd);
  return result;
}

}  // namespace hostile
