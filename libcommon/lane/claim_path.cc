// Component by component; links are read one by one, so that none leads out of the tree unseen.
// Contract: libcommon/lane/claim_path.h.
#include "libcommon/lane/claim_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <deque>

#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel has it, see path_resolution(7)

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameLetters(std::string_view a, std::string_view b, Letters letters) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = letters == Letters::kMatch ? Lower(a[i]) == Lower(b[i]) : a[i] == b[i];
    if (!same) {
      return false;
    }
  }
  return true;
}

std::string Joined(const std::vector<std::string>& components) {
  std::string out;
  for (const auto& component : components) {
    out += out.empty() ? component : "/" + component;
  }
  return out;
}

// Where the link leads, or nothing if it is none.
std::optional<std::string> LinkAt(const Directory& tree, const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const UniqueFd link(openat(tree.fd(), path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const ssize_t size = link.valid() ? readlinkat(link.get(), "", target.data(), target.size()) : -1;
  if (size <= 0 || static_cast<std::size_t>(size) == target.size()) {
    return std::nullopt;
  }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

// Puts the components of `path` in front of what is still to be walked.
void PutInFront(std::deque<std::string>& rest, std::string_view path) {
  std::deque<std::string> components;
  for (const auto component : Split(path, '/')) {
    if (!component.empty() && component != ".") {
      components.emplace_back(component);
    }
  }
  rest.insert(rest.begin(), components.begin(), components.end());
}

// The part of an absolute path below the top.
std::optional<std::string> Below(const std::string& top, const std::string& path) {
  if (path == top || path == top + "/") {
    return "";
  }
  return path.starts_with(top + "/") ? std::optional(path.substr(top.size() + 1)) : std::nullopt;
}

Error Outside(const std::string& path) {
  return MakeError(Code::kInvalid, "'" + EscapeControl(path) + "' leads out of the working tree");
}

bool IsGitsOwn(std::string_view component) {
  return SameLetters(component, ".git", Letters::kMatch);
}

}  // namespace

Result<std::string> CanonicalClaimPath(const Directory& tree, const std::string& top,
                                       const std::string& prefix, const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return Fail(Code::kInvalid, "an empty path claims nothing");
  }
  std::deque<std::string> rest;
  if (path.front() == '/') {
    const auto below = Below(top, path);
    if (!below) {
      return Fail(Outside(path));
    }
    PutInFront(rest, *below);
  } else {
    PutInFront(rest, prefix + "/" + path);
  }
  std::vector<std::string> walked;
  for (int links = 0; !rest.empty();) {
    const std::string component = rest.front();
    rest.pop_front();
    if (component == "..") {
      if (walked.empty()) {
        return Fail(Outside(path));
      }
      walked.pop_back();
      continue;
    }
    if (IsGitsOwn(component)) {
      return Fail(Code::kInvalid, "'" + EscapeControl(path) + "' is git's own");
    }
    walked.push_back(component);
    const auto target = LinkAt(tree, Joined(walked));
    if (!target) {
      continue;
    }
    walked.pop_back();
    const auto below = target->front() == '/' ? Below(top, *target) : std::optional(*target);
    if (!below || ++links > kMaxLinks) {
      return Fail(Outside(path));
    }
    if (target->front() == '/') {
      walked.clear();
    }
    PutInFront(rest, *below);
  }
  std::string out = walked.empty() ? kWholeTree : Joined(walked);
  if (out.size() > kMaxClaimPathBytes) {
    return Fail(Code::kInvalid, "a path of a claim is longer than " +
                                    std::to_string(kMaxClaimPathBytes) + " bytes");
  }
  return out;
}

bool ClaimCovers(std::string_view claim, std::string_view path, Letters letters) {
  if (claim == kWholeTree) {
    return true;
  }
  return path.size() >= claim.size() && SameLetters(path.substr(0, claim.size()), claim, letters) &&
         (path.size() == claim.size() || path[claim.size()] == '/');
}

bool ClaimsOverlap(std::string_view a, std::string_view b, Letters letters) {
  return ClaimCovers(a, b, letters) || ClaimCovers(b, a, letters);
}

}  // namespace maco
