// Observations as members of the evidence document: from the report, from systemd, from cgroup
// files and from /proc outside. Members: docs/formats/evidence.md.
#pragma once
#include <sys/types.h>

#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-run/gate/report.h"
#include "maco-run/spec/limits.h"
#include "maco-run/unit/cgroup.h"

namespace maco::run {

// "inside": what the guardian reported. Errors: kInvalid (a status text that is none).
Result<Json> DescribeReport(const Report& report);

// "outside": the same process as /proc of the host shows it, and its two ancestors. `sender` is the
// PID that the kernel attached to the report. Errors: kNotFound, kPermission, kInvalid, kIo.
Result<Json> ObserveOutside(pid_t sender);

// "cgroup": limit files, population and processes before release. Errors: kUnsupported, naming the
// controller whose file is missing; kIo.
Result<Json> ObserveCgroup(const Cgroup& cgroup, const Limits& limits);

// "host": what the other side of each comparison is: namespaces, mounted devices, user, kernel.
Result<Json> DescribeHost(const std::string& systemd_version);

// memory.peak, memory.events, pids.events, cpu.stat and the like, as text by file name; files that
// this kernel does not have are left out.
Json ReadCounters(const Cgroup& cgroup);

std::string_view PopulationName(Population population);

}  // namespace maco::run
