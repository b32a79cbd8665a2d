// The payload that the append driver writes as record number N, so that a checker knows all of
// them. For tests/crash only. Sizes: from 0 bytes to 56 KiB, so that appends grow the file.
#pragma once
#include <cstdint>
#include <string>

namespace maco {

inline std::string RecordPattern(std::uint64_t sequence) {
  constexpr std::uint64_t kLarge = 56 << 10;
  const std::uint64_t size = sequence % 7 == 0   ? kLarge
                             : sequence % 5 == 0 ? 0
                                                 : sequence * 37 % 600 + 20;
  const std::string unit = "record " + std::to_string(sequence) + "; ";
  std::string out;
  while (out.size() < size) {
    out += out.empty() ? unit : out;
  }
  out.resize(size);
  return out;
}

}  // namespace maco
