// Roots whose paths D-Bus cannot carry (it takes UTF-8 only), or no log should: they appear inside
// under plain names of ours, and outside systemd finds them by symbolic links in the user's runtime
// directory.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::run {

struct PathAlias {
  std::string outside;  // canonical
  std::string inside;   // "/run/maco/root-0"
  std::string link;     // "/run/user/UID/maco-run-ID/0", leads to `outside`
};

struct RunSpec;

// Whether a path can be named to systemd as it is.
bool IsPlainPath(const std::string& path);

// Adds an alias for each root that needs one.
void ChooseAliases(RunSpec& spec);

// How `path` is called inside, and how systemd finds it outside.
std::string InsidePath(const RunSpec& spec, const std::string& path);
std::string SourcePath(const RunSpec& spec, const std::string& path);

// Errors: kRefused, naming a path that must be mounted and still cannot be named.
Result<void> CheckNames(const RunSpec& spec);

// The links of one run, for as long as its unit starts.
class AliasLinks {
 public:
  // Errors: kExists, kPermission, kIo.
  static Result<AliasLinks> Make(const RunSpec& spec);
  AliasLinks(AliasLinks&& other) noexcept;
  AliasLinks& operator=(AliasLinks&&) = delete;
  ~AliasLinks();

  // What a killed maco-run left of them.
  static void RemoveLeftover(const std::string& run_id);

 private:
  AliasLinks() = default;
  std::string run_id_;  // empty: nothing to remove
};

}  // namespace maco::run
