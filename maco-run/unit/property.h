// A property of a transient unit in its D-Bus type, and as the evidence shows it.
// Source: org.freedesktop.systemd1(5); encodings are those of systemd 252.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "libcommon/auth/json.h"

namespace maco::run {

struct BindMount {  // a(ssbt)
  std::string source;
  std::string target;
  bool ignore_missing = false;
  bool recursive = true;
};

struct TmpfsMount {  // a(ss)
  std::string path;
  std::string options;
};

using PropertyValue =
    std::variant<bool, std::int32_t, std::uint32_t, std::uint64_t, std::string,
                 std::vector<std::string>, std::vector<BindMount>, std::vector<TmpfsMount>>;

struct UnitProperty {
  std::string name;
  PropertyValue value;
  bool read_back = true;  // false: systemd does not show it again in this form
};

// Strings that are no UTF-8 are escaped, so that the evidence stays JSON.
Json ToJson(const PropertyValue& value);

}  // namespace maco::run
