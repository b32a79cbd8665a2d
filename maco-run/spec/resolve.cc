// Validation of roots and composition of binds, masks and private directories.
// Contract: maco-run/spec/resolve.h.
#include "maco-run/spec/resolve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"
#include "maco-run/policy/seccomp_policy.h"
#include "maco-run/spec/environment.h"
#include "maco-run/spec/git_link.h"
#include "maco-run/spec/mask.h"
#include "maco-run/spec/path_walk.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kCoverBytes = 4ULL << 20U;  // of a read-only cover: mount points only

class Resolver {
 public:
  Resolver(const Request& request, const Surroundings& surroundings)
      : request_(request), where_(surroundings) {}

  Result<RunSpec> Run() {
    MACO_ASSIGN(spec_.id, RandomId());
    spec_.unit = UnitName(spec_.id);
    spec_.profile = request_.profile;
    spec_.limits = request_.limits;
    spec_.guardian = where_.guardian;
    MACO_ASSIGN(spec_.guardian_identity, IdentityOfPath(spec_.guardian));
    spec_.lane = request_.lane;
    spec_.lane_id = request_.lane_id;
    spec_.validates = request_.validates;
    if (!request_.own_git_dir.empty()) {
      spec_.own_git_dir = Canonical(request_.own_git_dir);
    }
    MACO_TRY(CheckLimits(spec_.limits));
    MACO_TRY(Command());
    AddPrivateDirectories();
    MACO_TRY(AddRoots());
    ChooseAliases(spec_);
    MACO_TRY(ChooseDirectory());
    MACO_TRY(AddMasks());
    spec_.added_variables = request_.variables;
    MACO_ASSIGN(spec_.environment,
                BuildEnvironment(request_.variables, spec_.id, request_.with_result));
    spec_.probes = ExpectedProbes(spec_.profile);
    MACO_ASSIGN(spec_.filter, BuildOfflineFilter());
    spec_.read_only_binds.push_back({spec_.guardian, kGuardianInside, false, false});
    MACO_TRY(CheckNames(spec_));
    return std::move(spec_);
  }

 private:
  Result<void> Command() {
    spec_.command = request_.command;
    if (spec_.command.empty() || spec_.command.front().empty()) {
      return Fail(Code::kUsage, "no command given", "write it after '--'");
    }
    if (request_.profile == Profile::kDiagnostic) {
      if (spec_.command.size() != 2 || spec_.command[1] != "--version") {
        return Fail(Code::kInvalid, "profile 'diagnostic' runs 'PROGRAM --version' only");
      }
      spec_.limits.timeout_seconds = std::min<std::uint64_t>(spec_.limits.timeout_seconds, 30);
      spec_.limits.output_bytes = std::min<std::uint64_t>(spec_.limits.output_bytes, 4096);
    }
    return {};
  }

  // Empty file systems over everything that holds sockets, homes and other people's temporary
  // files; what a run needs of it is bound into them.
  void AddPrivateDirectories() {
    const auto cover = [&](const std::string& path, std::uint64_t bytes, bool writable,
                           unsigned mode) {
      const std::string real = Canonical(path);
      const bool inside = std::ranges::any_of(spec_.private_directories, [&](const auto& other) {
        return PathIsWithin(real, other.path);
      });
      if (!real.empty() && real != "/" && !inside) {
        spec_.private_directories.push_back({real, bytes, writable, mode});
      }
    };
    cover("/run", kCoverBytes, false, 0755);
    cover("/home", kCoverBytes, false, 0755);
    cover("/root", kCoverBytes, false, 0755);
    cover(where_.home, kCoverBytes, false, 0755);
    for (const char* path : {"/tmp", "/var/tmp", "/dev/shm"}) {
      cover(path, spec_.limits.temporary_bytes, true, 01777);
    }
  }

  Result<Root> OpenRoot(const std::string& given, bool writable) const {
    if (given.empty()) {
      return Fail(Code::kInvalid, "the name of a root is empty", "name a directory");
    }
    const std::string absolute =
        given.front() == '/' ? given : where_.current_directory + "/" + given;
    // Without the slashes at its end, which would make lstat follow a link.
    const std::string name = absolute.substr(0, absolute.find_last_not_of('/') + 1);
    struct stat link {};
    if (lstat(name.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
      return Fail(Code::kRefused, "root '" + given + "' is a symbolic link",
                  "name what it leads to");
    }
    Root root;
    root.path = Canonical(absolute);
    root.writable = writable;
    if (root.path.empty()) {
      return FailOs(errno, "open root", given);
    }
    MACO_ASSIGN(root.directory, Directory::OpenPath(root.path));
    MACO_ASSIGN(root.identity, root.directory.Identity());
    return root;
  }

  Result<void> CheckRoot(const Root& root) const {
    const std::string quoted = "root '" + root.path + "'";
    if (root.path == "/" || root.path == Canonical(where_.home)) {
      return Fail(Code::kRefused, quoted + " is '/' or your home directory",
                  "name a directory below it");
    }
    if (root.identity.uid != geteuid()) {
      return Fail(Code::kRefused, quoted + " belongs to another user");
    }
    if (root.identity.inode == 0) {
      return Fail(Code::kRefused, quoted + " lies on a file system without inode numbers");
    }
    for (const auto& cover : spec_.private_directories) {
      if (PathIsWithin(cover.path, root.path)) {
        return Fail(Code::kRefused,
                    quoted + " holds '" + cover.path + "', which is private to runs",
                    "name a directory below it");
      }
    }
    for (const char* system : {"/dev", "/proc", "/sys"}) {
      if (PathIsWithin(root.path, system)) {
        return Fail(Code::kRefused, quoted + " lies in '" + system + "'");
      }
    }
    if (root.writable && PathIsWithin(where_.guardian, root.path)) {
      return Fail(Code::kRefused, quoted + " holds maco-run's own programs",
                  "run those that are installed elsewhere");
    }
    if (PathIsWithin(root.path, where_.common_dir) || PathIsWithin(root.path, where_.git_dir)) {
      return Fail(Code::kRefused, quoted + " lies in the repository's administrative directory",
                  "no run may be granted it");
    }
    return {};
  }

  Result<void> AddRoot(Root root) {
    MACO_TRY(CheckRoot(root));
    for (const auto& other : spec_.roots) {
      const bool inside = PathIsWithin(root.path, other.path);
      const bool around = PathIsWithin(other.path, root.path);
      // A writable root inside the read-only workspace is the usual case; all else is a mistake.
      if (around || (inside && (!root.writable || other.writable))) {
        return Fail(Code::kRefused, "roots '" + root.path + "' and '" + other.path + "' overlap",
                    "name the outer one only");
      }
    }
    auto& binds = root.writable ? spec_.binds : spec_.read_only_binds;
    binds.push_back({root.path, root.path, false, false});
    spec_.roots.push_back(std::move(root));
    return {};
  }

  Result<void> AddRoots() {
    if (request_.profile == Profile::kDiagnostic) {
      return AddDiagnosticProgram();
    }
    if (request_.profile == Profile::kOfflineRead && !request_.write_roots.empty()) {
      return Fail(Code::kUsage, "profile 'offline-read' has no writable roots",
                  "use --profile offline-write");
    }
    const std::string workspace = request_.workspace.empty() ? where_.worktree : request_.workspace;
    if (workspace.empty()) {
      return Fail(Code::kInvalid, "this repository has no worktree", "use --workspace DIR");
    }
    // core.worktree may come with the repository: it is not the caller's word (RUN-06).
    if (request_.workspace.empty() && !where_.worktree_named &&
        !LeadsTo(where_.worktree, where_.git_dir)) {
      return Fail(Code::kRefused,
                  "worktree '" + workspace + "' was chosen by the repository's own configuration",
                  "name it with --workspace, if it is meant");
    }
    Root main;
    MACO_ASSIGN(main, OpenRoot(workspace, false));
    std::vector<Root> writable;
    for (const auto& path : request_.write_roots) {
      Root root;
      MACO_ASSIGN(root, OpenRoot(path, true));
      if (root.path == main.path) {
        main.writable = true;
      } else {
        writable.push_back(std::move(root));
      }
    }
    MACO_TRY(AddRoot(std::move(main)));
    for (auto& root : writable) {
      MACO_TRY(AddRoot(std::move(root)));
    }
    return AddGitDirectories();
  }

  Result<void> AddDiagnosticProgram() {
    if (!request_.write_roots.empty() || !request_.workspace.empty()) {
      return Fail(Code::kUsage, "profile 'diagnostic' has no workspace and no writable roots");
    }
    const std::string& program = spec_.command.front();
    if (program.front() != '/') {
      return Fail(Code::kInvalid, "profile 'diagnostic' needs the absolute path of a program");
    }
    const std::string real = Canonical(program);
    if (real.empty()) {
      return FailOs(errno, "find program", program);
    }
    if (IsCovered(spec_, real)) {
      spec_.read_only_binds.push_back({real, real, false, false});
    }
    spec_.command.front() = real;
    return {};
  }

  // The scanned root that decides whether `path` may be written: a writable one may lie in another.
  const Root* InnermostRoot(const std::string& path) const {
    const Root* found = nullptr;
    for (const auto& root : spec_.roots) {
      if (root.scan && PathIsWithin(path, root.path) &&
          (found == nullptr || root.path.size() > found->path.size())) {
        found = &root;
      }
    }
    return found;
  }

  // ADM-01: read-only in every run, wherever it lies. (Entries named .git are found by the scan.)
  Result<void> AddGitDirectories() {
    std::vector<std::string> paths{where_.common_dir};
    if (!PathIsWithin(where_.git_dir, where_.common_dir)) {
      paths.push_back(where_.git_dir);
    }
    for (const auto& path : paths) {
      Root root;
      MACO_ASSIGN(root, OpenRoot(path, false));
      root.scan = false;
      const Root* outer = InnermostRoot(root.path);
      if (outer == nullptr) {
        spec_.read_only_binds.push_back({root.path, root.path, false, false});
      } else if (outer->writable) {
        spec_.read_only_inside.push_back({root.path, root.identity});
      }
      spec_.roots.push_back(std::move(root));
    }
    return {};
  }

  Result<void> ChooseDirectory() {
    spec_.directory = "/";
    const std::string current = Canonical(where_.current_directory);
    if (!spec_.roots.empty()) {
      const auto inside = std::ranges::any_of(spec_.roots, [&](const auto& root) {
        return root.scan && PathIsWithin(current, root.path);
      });
      spec_.directory = inside ? current : spec_.roots.front().path;
    }
    MACO_ASSIGN(spec_.directory_identity, IdentityOfPath(spec_.directory));
    return {};
  }

  Result<void> AddMasks() {
    const std::string runtime = "/run/user/" + std::to_string(geteuid());
    for (const char* name : {"/bus", "/systemd", "/gnupg", "/keyring", "/docker.sock", "/podman",
                             "/containerd", "/wayland-0", "/pipewire-0", "/pulse", "/libvirt"}) {
      MACO_TRY(HidePath(spec_, runtime + name));
    }
    for (const char* path :
         {"/run/dbus", "/run/systemd", "/run/docker.sock", "/run/podman", "/run/containerd",
          "/run/crio", "/run/libvirt", "/run/credentials", "/run/secrets", "/run/keys",
          "/run/snapd.socket", "/run/cups", "/run/avahi-daemon", "/run/nscd", "/run/postgresql",
          "/run/mysqld", "/nix/var/nix/daemon-socket", "/var/lib/snapd/secrets"}) {
      MACO_TRY(HidePath(spec_, path));
    }
    for (const char* name : {"/.ssh", "/.gnupg", "/.config", "/.netrc", "/.git-credentials",
                             "/.aws", "/.docker", "/.kube", "/.codex", "/.npmrc"}) {
      MACO_TRY(HidePath(spec_, where_.home + name));
    }
    return HideStateRoots(spec_, {where_.state_root});
  }

  const Request& request_;
  const Surroundings& where_;
  RunSpec spec_;
};

}  // namespace

Result<RunSpec> ResolveRun(const Request& request, const Surroundings& surroundings) {
  return Resolver(request, surroundings).Run();
}

}  // namespace maco::run
