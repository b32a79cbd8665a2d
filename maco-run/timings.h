// Timings: named moments of a run, for the evidence and the benchmarks. Never asserted.
// Unit: microseconds since the start of the process's work.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/clock.h"

namespace maco::run {

class Timings {
 public:
  void Mark(const char* name) {
    moments_.emplace_back(
        name,
        std::chrono::duration_cast<std::chrono::microseconds>(Monotonic::now() - start_).count());
  }

  Json ToJson() const {
    Json out = Json::object();
    for (const auto& [name, micros] : moments_) {
      out[name] = micros;
    }
    return out;
  }

 private:
  Monotonic::time_point start_ = Monotonic::now();
  std::vector<std::pair<std::string, std::int64_t>> moments_;
};

}  // namespace maco::run
