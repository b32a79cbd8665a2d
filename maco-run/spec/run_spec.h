// RunSpec: the validated, complete description of one run, before anything is started.
// From it follow the unit's properties, the guardian's plan and the evidence's "requested" part.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/directory.h"
#include "libcommon/state/worktree_state.h"
#include "maco-run/policy/profile.h"
#include "maco-run/spec/alias.h"
#include "maco-run/spec/limits.h"
#include "maco-run/unit/property.h"

namespace maco::run {

// A tree that the run may see, held open from validation on.
struct Root {
  std::string path;  // canonical; the same inside, unless there is an alias
  bool writable = false;
  Directory directory;
  FileIdentity identity;
  bool scan = true;  // the Git administrative directory is not scanned
};

// A path that must not be what it is outside.
struct Mask {
  std::string path;
  FileIdentity identity;
  bool by_tmpfs = false;  // lies in a directory that an empty file system covers
};

// A path in a writable root that stays read-only.
struct ReadOnlyPath {
  std::string path;
  FileIdentity identity;
};

// A directory that is covered by an empty private file system.
struct PrivateDirectory {
  std::string path;
  std::uint64_t bytes = 0;
  bool writable = false;
  unsigned mode = 0755;
};

// Where the result is saved. Held open from before the start: its path may lead elsewhere
// afterwards.
struct ResultPlace {
  Directory directory;
  std::string name;
};

struct RunSpec {
  std::string id;
  std::string unit;  // "maco-run-<id>.service"
  Profile profile = Profile::kOfflineRead;
  Limits limits;
  std::vector<std::string> command;
  std::string lane;  // name; empty: none
  std::string lane_id;
  std::string own_git_dir;  // of a private lane: it may be written, but for what git executes
  std::string validates;    // a candidate
  std::string directory;    // working directory, inside a root
  FileIdentity directory_identity;
  std::vector<std::string> added_variables;  // "NAME=value", the caller's
  std::vector<std::string> environment;      // the whole of it
  std::vector<Root> roots;
  std::vector<PathAlias> aliases;  // of roots that are called otherwise inside
  std::vector<ReadOnlyPath> read_only_inside;
  std::vector<Mask> masks;
  std::vector<PrivateDirectory> private_directories;
  std::vector<BindMount> binds;  // read-write
  std::vector<BindMount> read_only_binds;
  std::string guardian;  // path of the guardian outside
  FileIdentity guardian_identity;
  Directory common_dir;  // of the repository
  ResultPlace result_place;
  std::optional<WorktreePlace> bound_worktree;  // of a step: what its end is to be compared with
  std::map<std::string, std::uint32_t> probes;
  Bytes filter;

  // Layers that a test leaves out on purpose; empty in every real run.
  std::vector<std::string> omitted_properties;
  std::vector<std::string> omitted_paths;  // neither covered nor made inaccessible
  std::uint32_t omitted_steps = 0;
};

// Where the guardian lies inside.
inline constexpr char kGuardianInside[] = "/run/maco/maco-guardian";

inline std::string UnitName(const std::string& run_id) { return "maco-run-" + run_id + ".service"; }

// Device nodes of a private /dev that may be written by anybody.
bool IsHarmlessDevice(std::string_view path);

}  // namespace maco::run
