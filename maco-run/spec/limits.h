// The limits of a run: names, defaults, ranges, units (RUN-10). Zero never means "no limit".
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "libcommon/base/result.h"

namespace maco::run {

struct Limits {
  std::uint64_t memory_bytes = 4ULL << 30U;
  std::uint64_t tasks = 512;                    // processes and threads
  std::uint64_t cpu_percent = 400;              // of one CPU
  std::uint64_t open_files = 8192;              // descriptors of one process
  std::uint64_t file_bytes = 2ULL << 30U;       // of one file
  std::uint64_t temporary_bytes = 1ULL << 30U;  // of /tmp, of /var/tmp and of /dev/shm; in memory
  // That the writable roots may grow by, with what /tmp, /var/tmp and /dev/shm hold (RUN-14).
  std::uint64_t disk_bytes = 64ULL << 30U;
  std::uint64_t timeout_seconds = 3600;
  std::uint64_t output_bytes = 8ULL << 20U;  // kept of stdout, and of stderr
  std::uint64_t result_bytes = 8ULL << 20U;
  std::uint64_t scan_entries = 200000;
};

// Not for the caller to choose. No core file is this small; 0 would still start a handler, which
// the host runs as root: see core(5), "Piping core dumps to a program", and fs/coredump.c.
inline constexpr std::uint64_t kCoreBytes = 1;
inline constexpr std::uint64_t kPendingSignals = 512;  // the kernel counts those of a user

struct LimitInfo {
  const char* option;   // "--output-limit" without the dashes
  const char* setting;  // "maco.run.outputlimit" without "maco.run.", as git prints it
  std::uint64_t Limits::*field;
  bool bytes;  // a suffix k, m, g or t is allowed
  std::uint64_t low;
  std::uint64_t high;
};

std::span<const LimitInfo> AllLimits();

// `source` names what the text was given for, as "--memory". Errors: kUsage (no number), kInvalid
// (out of range).
Result<std::uint64_t> ParseLimit(const LimitInfo& info, const std::string& text,
                                 const std::string& source);

// Errors: kInvalid, naming the limit and its range.
Result<void> CheckLimits(const Limits& limits);

}  // namespace maco::run
