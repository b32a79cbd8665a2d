// Judges the programs, the repository, its maco state and the room for it.
// Contract: git-maco/doctor/decide.h.
#include "git-maco/doctor/decide.h"
#include "libcommon/base/text.h"

namespace maco::doctor {
namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20U;
constexpr std::uint64_t kRoomForOneRun = 8 * kMebibyte;
constexpr std::uint64_t kRoomToBeEasy = 256 * kMebibyte;
constexpr std::uint64_t kFilesOfOneRun = 16;

Check Git(const ToolFacts& tools) {
  Check check;
  check.id = "git-version";
  if (tools.git_error) {
    check.state = State::kMissing;
    check.observed = tools.git_error->message;
    check.source = "/usr/bin, /bin, /usr/local/bin, /run/current-system/sw/bin";
    check.fix = "sudo apt-get install git   # or the like of your distribution";
    return check;
  }
  check.observed = tools.git_version;
  check.source = tools.git_path + " --version";
  if (!GitIsAtLeast(tools.git_version, 2, 31)) {
    check.state = State::kMissing;
    check.observed += ", older than 2.31";
    check.fix = "install git 2.31 or later in /usr/bin or /usr/local/bin";
  }
  return check;
}

Check Programs(const ToolFacts& tools) {
  Check check;
  check.id = "maco-run";
  check.observed = "installed";
  check.source = tools.directory + "/maco-run, maco-guardian";
  for (const auto& [name, failed] :
       {std::pair{"maco-run", tools.run_errno}, std::pair{"maco-guardian", tools.guardian_errno}}) {
    if (failed != 0) {
      check.state = State::kMissing;
      check.observed = "git-maco is not installed completely";
      check.source = "access(2) of " + tools.directory + "/" + name + ": " + ErrnoText(failed);
      check.fix = "install git-maco again";
      break;
    }
  }
  return check;
}

Check FromError(const char* id, const Error& error, std::string source) {
  Check check;
  check.id = id;
  check.scope = Scope::kRepository;
  check.state = State::kMissing;
  check.observed = error.message;
  check.source = std::move(source);
  check.fix = error.remedy;
  return check;
}

Check Repository(const RepositoryFacts& facts) {
  constexpr char kSource[] = "git rev-parse --git-common-dir";
  if (!facts.find_error) {
    return {"repository", State::kOk, facts.common_dir, kSource, "", Scope::kRepository};
  }
  switch (facts.find_error->code) {
    case Code::kNotFound:
      return {"repository", State::kNote, "not inside one, so only the host is looked at",
              kSource,      "",           Scope::kRepository};
    case Code::kUnsupported:  // no git, or too old a one: its own check says so
      return {"repository", State::kNote, "not looked at: needs git-version",
              "",           "",           Scope::kRepository};
    default:
      return FromError("repository", *facts.find_error, kSource);
  }
}

Check MacoState(const RepositoryFacts& facts) {
  const std::string root = facts.common_dir + "/maco";
  if (facts.find_error) {
    return {"state", State::kNote, "not looked at: needs repository", "", "", Scope::kRepository};
  }
  if (facts.state_error) {
    return FromError("state", *facts.state_error, root);
  }
  if (facts.moved) {
    return {"state",
            State::kMissing,
            "moved, copied or restored: it belongs to '" + facts.recorded_path + "'",
            root + "/repository, compared with stat(2) of " + facts.common_dir,
            "check that no copy is in use, then: git maco journal rebind",
            Scope::kRepository};
  }
  return {"state", State::kOk, "initialized, id " + facts.id, root, "", Scope::kRepository};
}

Check Space(const RepositoryFacts& facts) {
  Check check;
  check.id = "space";
  check.scope = Scope::kRepository;
  if (facts.find_error) {
    check.state = State::kNote;
    check.observed = "not looked at: needs repository";
    return check;
  }
  check.source = "statvfs(3) of " + facts.common_dir;
  if (facts.space_errno != 0) {
    check.state = State::kNote;
    check.observed = "not known";
    check.source += ": " + ErrnoText(facts.space_errno);
    return check;
  }
  check.observed = std::to_string(facts.free_bytes / kMebibyte) + " MiB free";
  check.source += ": " + std::to_string(facts.free_bytes) + " bytes, " +
                  std::to_string(facts.free_inodes) + " inodes";
  const bool no_inodes = facts.counts_inodes && facts.free_inodes < kFilesOfOneRun;
  if (facts.free_bytes < kRoomForOneRun || no_inodes) {
    check.state = State::kMissing;
    check.observed += no_inodes ? ", and too few inodes for a run" : ", too little for a run";
  } else if (facts.free_bytes < kRoomToBeEasy) {
    check.state = State::kNote;
    check.observed += ", little for logs and results";
  }
  if (check.state != State::kOk) {
    check.fix = "make room: du -xh " + facts.common_dir + " | sort -h | tail";
  }
  return check;
}

}  // namespace

bool GitIsAtLeast(std::string_view version, std::uint64_t major, std::uint64_t minor) {
  constexpr std::string_view kPrefix = "git version ";
  if (!version.starts_with(kPrefix)) {
    return false;
  }
  version.remove_prefix(kPrefix.size());
  const std::uint64_t first = MajorVersion(version);
  const auto dot = version.find('.');
  const std::uint64_t second =
      dot == std::string_view::npos ? 0 : MajorVersion(version.substr(dot + 1));
  return first > major || (first == major && second >= minor);
}

Checks DecideTools(const Facts& facts) { return {Git(facts.tools), Programs(facts.tools)}; }

Checks DecideRepository(const Facts& facts) {
  return {Repository(facts.repository), MacoState(facts.repository), Space(facts.repository)};
}

}  // namespace maco::doctor
