// Words and numbers for how a run ended.
// Contract: maco-run/record/outcome.h.
#include "maco-run/record/outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

const char* EndedByName(EndedBy by) {
  switch (by) {
    case EndedBy::kTarget:
      return "target";
    case EndedBy::kTimeout:
      return "timeout";
    case EndedBy::kSignal:
      return "signal to maco-run";
    case EndedBy::kMemory:
      return "memory limit";
    case EndedBy::kDisk:
      return "disk limit";
    case EndedBy::kLostGuardian:
      return "loss of the guardian";
  }
  return "";
}

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

}  // namespace

Json DescribeOutcome(const TargetEnd& end) {
  Json out = {{"ended_by", EndedByName(end.by)}};
  if (end.signal != 0) {
    out["forwarded_signal"] = end.signal;
  }
  if (end.exec_errno != 0) {
    out["exec_errno"] = end.exec_errno;
  }
  if (end.wait_status) {
    const int status = static_cast<int>(*end.wait_status);
    out["target"] = WIFEXITED(status) ? Json{{"exited", WEXITSTATUS(status)}}
                                      : Json{{"signaled", WTERMSIG(status)}};
  }
  return out;
}

std::uint64_t TaskLimitHits(const Json& counters) {
  constexpr std::string_view kPrefix = "max ";
  const std::string text = counters.value("pids.events", "");
  for (const auto line : Split(text, '\n')) {
    if (line.starts_with(kPrefix)) {
      return ParseUint(line.substr(kPrefix.size())).value_or(0);
    }
  }
  return 0;
}

std::optional<std::string> OutcomeNote(const TargetEnd& end, const RunSpec& spec) {
  const std::string& command = spec.command.front();
  if (end.exec_errno != 0) {
    return "cannot execute '" + command + "' inside the run: " + strerror(end.exec_errno);
  }
  switch (end.by) {
    case EndedBy::kTimeout:
      return "'" + command + "' timed out after " + std::to_string(spec.limits.timeout_seconds) +
             " s and was ended; --timeout sets the limit";
    case EndedBy::kMemory:
      return "'" + command + "' ran out of memory (limit " +
             std::to_string(spec.limits.memory_bytes) +
             " bytes) and was ended; --memory sets the limit";
    case EndedBy::kDisk:
      return "'" + command + "' took " + std::to_string(end.disk_bytes) + " bytes of disk, " +
             std::to_string(end.disk_bytes - spec.limits.disk_bytes) + " more than the limit of " +
             std::to_string(spec.limits.disk_bytes) + ", and was ended; --disk sets the limit";
    case EndedBy::kSignal:
      return "'" + command + "' was ended by " + SignalName(end.signal);
    case EndedBy::kLostGuardian:
      return "the guardian of '" + command + "' was lost; how the command ended is not known";
    case EndedBy::kTarget:
      break;
  }
  if (end.wait_status && WIFSIGNALED(static_cast<int>(*end.wait_status))) {
    return "'" + command + "' was killed by " +
           SignalName(WTERMSIG(static_cast<int>(*end.wait_status)));
  }
  return std::nullopt;
}

int OutcomeStatus(const TargetEnd& end) {
  if (!end.wait_status) {
    return kExitUnproven;
  }
  if (end.exec_errno != 0) {
    return end.exec_errno == ENOENT ? kExitNoCommand : kExitCannotExecute;
  }
  if (end.by == EndedBy::kTimeout) {
    return kExitTimedOut;
  }
  const int status = static_cast<int>(*end.wait_status);
  if (end.by == EndedBy::kSignal && status == 0) {
    return kExitSignalBase + end.signal;  // it was cut short, whatever it made of it
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalBase + WTERMSIG(status);
}

}  // namespace maco::run
