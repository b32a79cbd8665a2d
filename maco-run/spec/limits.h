// The limits of a run: defaults, ranges, units (RUN-10). Zero never means "no limit".
#pragma once
#include <cstdint>
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
  std::uint64_t timeout_seconds = 3600;
  std::uint64_t output_bytes = 8ULL << 20U;  // kept of stdout, and of stderr
  std::uint64_t result_bytes = 8ULL << 20U;
  std::uint64_t scan_entries = 200000;
};

// Errors: kInvalid, naming the limit and its range.
Result<void> CheckLimits(const Limits& limits);

}  // namespace maco::run
