// The rules of git-check-ref-format(1), in their order.
// Contract: maco-effect/ref_name.h.
#include "maco-effect/ref_name.h"

#include <algorithm>

#include "libcommon/base/text.h"

namespace maco::effect {
namespace {

constexpr std::string_view kFull = "refs/";
constexpr std::string_view kBranches = "refs/heads/";

bool IsComponent(std::string_view part) {
  return !part.empty() && !part.starts_with('.') && !part.ends_with(".lock");
}

bool IsForbidden(char c) {
  constexpr unsigned char kBlank = ' ';
  constexpr unsigned char kDelete = 127;
  const auto byte = static_cast<unsigned char>(c);
  return byte <= kBlank || byte == kDelete ||
         std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
}

}  // namespace

bool IsRefName(std::string_view name) {
  // An empty component is a '/' at either end, or two of them together.
  return std::ranges::all_of(Split(name, '/'), IsComponent) &&
         name.find('/') != std::string_view::npos && name.find("..") == std::string_view::npos &&
         std::ranges::none_of(name, IsForbidden) && !name.ends_with('.') &&
         name.find("@{") == std::string_view::npos;
}

Result<std::string> FullRef(const std::string& name) {
  const std::string ref = name.starts_with(kFull) ? name : std::string(kBranches) + name;
  // "@" alone is HEAD by another name. Names are kept as text, so they are UTF-8.
  if (name == "@" || !IsRefName(ref) || EscapeControl(ref) != ref) {
    return Fail(Code::kUsage, "'" + EscapeControl(name) + "' is no name of a ref",
                "git-check-ref-format(1) says what is one");
  }
  return ref;
}

}  // namespace maco::effect
