// Lines of `git maco status`: a word in the first column, then text that is escaped.
#pragma once

#include <algorithm>
#include <string>

#include "libcommon/base/text.h"

namespace maco::status {

inline constexpr std::size_t kColumn = 12;

inline std::string Line(std::string name, const std::string& text) {
  name.resize(std::max(kColumn, name.size() + 1), ' ');
  return name + EscapeControl(text) + "\n";
}

inline std::string Fix(const std::string& text) {
  return text.empty() ? "" : std::string(kColumn + 2, ' ') + "fix: " + EscapeControl(text) + "\n";
}

inline std::string Next(const std::string& text) {
  return text.empty() ? "" : std::string(kColumn + 2, ' ') + "next: " + EscapeControl(text) + "\n";
}

}  // namespace maco::status
