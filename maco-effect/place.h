// Where a verb works: the repository, its state, its settings; and the forge that a URL belongs to.
// Manual: git-maco-effect(1), "CONFIGURATION". Errors: those of FindRepository, ReadConfig and
// StateRoot::Open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/git/config.h"
#include "libcommon/git/repository.h"
#include "maco-effect/forge/forge_transport.h"
#include "maco-effect/request.h"
#include "maco-effect/transport.h"

namespace maco::effect {

inline constexpr char kTool[] = "git maco effect";

struct Place {
  Repository repository;
  Directory common_dir;
  std::vector<ConfigValue> settings;

  // The last value, of whoever wrote it. Empty if there is none.
  std::string Setting(const std::string& key) const;
  // The last value that the operator wrote: a repository may not say where a token goes. A value of
  // the repository's own is passed over with a note.
  std::string ProtectedSetting(const std::string& key) const;
  std::string top() const;  // where relative names count from
};

Result<Place> FindPlace();
// The same without settings, for what asks nobody: one git less.
Result<Place> FindRepositoryPlace();
Result<StateRoot> OpenState(const Place& place, Access access);

// "host/owner/name" of a URL or a path as git takes it. Errors: kInvalid (no forge has such a URL;
// what may be a secret in it is not repeated).
Result<std::string> ForgeRepositoryOf(const std::string& url);

// Errors: kNotFound (nothing says what kind of forge it is), kInvalid (a setting; one that holds
// credentials is not repeated).
Result<ForgeSettings> ForgeOf(const Place& place, const std::string& repository);

// What sends that effect and looks for it. `api`: that of its request, empty if there is none any
// more; a request goes to no other than it was recorded with. `state` must outlive it. Errors: as
// ForgeOf, kRefused (provider or API is another one now), those of making the repository that
// pushes.
Result<std::unique_ptr<Transport>> TransportOf(const Place& place, const StateRoot& state,
                                               const Effect& effect, const std::string& api);

// The answer of git in the repository, without its last newline. Errors: kInvalid with git's words.
Result<std::string> AskGit(const std::string& git_dir, std::vector<std::string> arguments,
                           const std::vector<std::string>& environment = {});

// Another program of the suite, of the same build. Errors: kIo.
Result<std::string> SiblingProgram(const std::string& name);

}  // namespace maco::effect
