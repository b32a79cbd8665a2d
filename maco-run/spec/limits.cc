// The table of limits, and their ranges.
// Contract: maco-run/spec/limits.h.
#include "maco-run/spec/limits.h"

#include "libcommon/base/text.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kMib = 1ULL << 20U;
constexpr std::uint64_t kTib = 1ULL << 40U;

constexpr LimitInfo kLimits[] = {
    {"memory", "memory", &Limits::memory_bytes, true, 16 * kMib, 16 * kTib},
    {"tasks", "tasks", &Limits::tasks, false, 8, 32768},
    {"cpu", "cpu", &Limits::cpu_percent, false, 1, 100000},
    // the guardian's own descriptors fit
    {"nofile", "nofile", &Limits::open_files, false, 256, 1U << 20U},
    {"fsize", "fsize", &Limits::file_bytes, true, 1, 16 * kTib},
    {"tmp", "tmp", &Limits::temporary_bytes, true, kMib, 16 * kTib},
    {"disk", "disk", &Limits::disk_bytes, true, kMib, 1024 * kTib},
    {"timeout", "timeout", &Limits::timeout_seconds, false, 1, 7ULL * 24 * 3600},
    {"output-limit", "outputlimit", &Limits::output_bytes, true, 1, 1ULL << 32U},
    {"result-limit", "resultlimit", &Limits::result_bytes, true, 1, 64 * kMib},
    {"scan-entries", "scanentries", &Limits::scan_entries, false, 1, 10'000'000},
};

Result<void> CheckRange(const LimitInfo& info, std::uint64_t value, const std::string& source) {
  if (value < info.low || value > info.high) {
    return Fail(Code::kInvalid, source + " " + std::to_string(value) + " is out of range (" +
                                    std::to_string(info.low) + " to " + std::to_string(info.high) +
                                    ")");
  }
  return {};
}

}  // namespace

std::span<const LimitInfo> AllLimits() { return kLimits; }

Result<std::uint64_t> ParseLimit(const LimitInfo& info, const std::string& text,
                                 const std::string& source) {
  const auto value = info.bytes ? ParseSize(text) : ParseUint(text);
  if (!value) {
    return Fail(Code::kUsage, source + " '" + text + "' is not a number",
                info.bytes ? "digits, with k, m, g or t after them" : "digits only");
  }
  MACO_TRY(CheckRange(info, *value, source));
  return *value;
}

Result<void> CheckLimits(const Limits& limits) {
  for (const auto& info : kLimits) {
    MACO_TRY(CheckRange(info, limits.*info.field, std::string("--") + info.option));
  }
  return {};
}

}  // namespace maco::run
