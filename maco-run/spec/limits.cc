// Ranges of the limits.
// Contract: maco-run/spec/limits.h.
#include "maco-run/spec/limits.h"

namespace maco::run {
namespace {

struct Range {
  const char* option;
  std::uint64_t Limits::*field;
  std::uint64_t low;
  std::uint64_t high;
};

constexpr Range kRanges[] = {
    {"--memory", &Limits::memory_bytes, 16ULL << 20U, 1ULL << 44U},
    {"--tasks", &Limits::tasks, 8, 32768},
    {"--cpu", &Limits::cpu_percent, 1, 100000},
    {"--nofile", &Limits::open_files, 256, 1U << 20U},  // the guardian's own descriptors fit
    {"--fsize", &Limits::file_bytes, 1, 1ULL << 44U},
    {"--tmp", &Limits::temporary_bytes, 1U << 20U, 1ULL << 44U},
    {"--timeout", &Limits::timeout_seconds, 1, 7ULL * 24 * 3600},
    {"--output-limit", &Limits::output_bytes, 1, 1ULL << 32U},
    {"--result-limit", &Limits::result_bytes, 1, 64ULL << 20U},
    {"--scan-entries", &Limits::scan_entries, 1, 10'000'000},
};

}  // namespace

Result<void> CheckLimits(const Limits& limits) {
  for (const auto& range : kRanges) {
    const std::uint64_t value = limits.*range.field;
    if (value < range.low || value > range.high) {
      return Fail(Code::kInvalid, std::string(range.option) + " " + std::to_string(value) +
                                      " is out of range (" + std::to_string(range.low) + " to " +
                                      std::to_string(range.high) + ")");
    }
  }
  return {};
}

}  // namespace maco::run
