// Resolution of a path, component by component.
// Contract: maco-run/spec/path_walk.h. Source: path_resolution(7).
#include "maco-run/spec/path_walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <vector>

#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"

namespace maco::run {
namespace {

constexpr unsigned kMaxLinks = 40;  // the kernel's own limit

struct FreeText {
  void operator()(char* text) const { free(text); }
};

class Walk {
 public:
  Walk(const RunSpec& spec, const std::string& holder) : spec_(spec), holder_(holder) {}

  Result<WalkedPath> Run(const std::string& path) {
    Push(path);
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.back());
      rest_.pop_back();
      if (name == "..") {
        MACO_TRY(Up());
      } else {
        bool there = false;
        MACO_ASSIGN(there, Down(name));
        if (!there) {
          return WalkedPath{current_, false};
        }
      }
    }
    return WalkedPath{current_.empty() ? "/" : current_, true};
  }

 private:
  // The components of a path, to be taken next.
  void Push(const std::string& path) {
    const auto parts = Split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (!part->empty() && *part != ".") {
        rest_.emplace_back(*part);
      }
    }
  }

  // Directories above the holder stay in their places; a detour over others could lead elsewhere.
  Result<void> Up() {
    if (IsWritableInside(spec_, current_) && !PathIsWithin(holder_, current_)) {
      return Replaceable(current_);
    }
    current_ = current_.substr(0, current_.empty() ? 0 : current_.rfind('/'));
    return {};
  }

  Result<bool> Down(const std::string& name) {
    const std::string next = current_ + "/" + name;
    struct stat st {};
    if (lstat(next.c_str(), &st) != 0) {
      if (IsWritableInside(spec_, current_)) {
        return Fail(Code::kRefused,
                    "'" + holder_ + "' leads to '" + next +
                        "', which is not there and could be made by the run",
                    "make it, or remove what leads there");
      }
      current_ = next;
      return false;
    }
    if (!S_ISLNK(st.st_mode)) {
      current_ = next;
      return true;
    }
    if (IsWritableInside(spec_, current_)) {
      return Replaceable(next);
    }
    std::array<char, PATH_MAX> target{};
    const ssize_t length = readlink(next.c_str(), target.data(), target.size());
    if (length <= 0 || ++links_ > kMaxLinks) {
      current_ = next;
      return false;
    }
    const std::string text(target.data(), static_cast<std::size_t>(length));
    Push(text);
    if (text.starts_with('/')) {
      current_.clear();
    }
    return true;
  }

  tl::unexpected<Error> Replaceable(const std::string& path) const {
    return Fail(Code::kRefused,
                "'" + holder_ + "' leads over '" + path + "', which the run could replace",
                "write the path that it leads to instead");
  }

  const RunSpec& spec_;
  const std::string& holder_;
  std::string current_;  // canonical; empty: "/"
  std::vector<std::string> rest_;
  unsigned links_ = 0;
};

}  // namespace

std::string Canonical(const std::string& path) {
  const std::unique_ptr<char, FreeText> real(realpath(path.c_str(), nullptr));
  return real ? std::string(real.get()) : std::string();
}

bool IsWritableInside(const RunSpec& spec, const std::string& path) {
  const Root* innermost = nullptr;
  for (const auto& root : spec.roots) {
    if (root.scan && PathIsWithin(path, root.path) &&
        (innermost == nullptr || root.path.size() > innermost->path.size())) {
      innermost = &root;
    }
  }
  return innermost != nullptr && innermost->writable &&
         std::ranges::none_of(spec.read_only_inside,
                              [&](const auto& inside) { return PathIsWithin(path, inside.path); });
}

Result<WalkedPath> WalkFixedPath(const RunSpec& spec, const std::string& path,
                                 const std::string& holder) {
  return Walk(spec, holder).Run(path);
}

}  // namespace maco::run
