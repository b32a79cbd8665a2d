// The outcome of a run for the evidence, for people, and as an exit status.
// Exit statuses: libcommon/base/exit_code.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/auth/json.h"
#include "maco-run/spec/run_spec.h"
#include "maco-run/supervise/unit_run.h"

namespace maco::run {

// {"ended_by": ..., "target": {"exited": n} | {"signaled": n}, ...}.
Json DescribeOutcome(const TargetEnd& end);

// How often the kernel refused a process or thread for the limit on tasks, by pids.events.
std::uint64_t TaskLimitHits(const Json& counters);

// One line for standard error when the end was not the target's own exit.
std::optional<std::string> OutcomeNote(const TargetEnd& end, const RunSpec& spec);

// The exit status when both facts were proven: the target's own, 128 + n for signal n, 124 timed
// out, 126 and 127 not executed.
int OutcomeStatus(const TargetEnd& end);

}  // namespace maco::run
