// Roots, masks and the working directory: what may be granted, what is refused, with which words.
// Contract under test: maco-run/spec/resolve.h. Requirements RUN-06, RUN-13, ADM-01, JRN-10.
#include "maco-run/spec/resolve.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

namespace fs = std::filesystem;

// A repository's directories, with a lane (linked worktree) beside it; no git is needed for that.
class Place {
 public:
  Place() {
    for (const char* directory : {"work/.git/maco", "work/.git/worktrees/lane", "work/src/deep",
                                  "lane/src", "home/.ssh", "home/project", "other"}) {
      fs::create_directories(scratch_.Path(directory));
    }
    EXPECT_TRUE(scratch_.dir().OpenFile("guardian", O_WRONLY | O_CREAT, 0700).has_value());
    std::ofstream(scratch_.Path("lane/.git")) << "gitdir: ../work/.git/worktrees/lane\n";
    where.current_directory = Path("work");
    where.worktree = Path("work");
    where.git_dir = Path("work/.git");
    where.common_dir = Path("work/.git");
    where.state_root = Path("work/.git/maco");
    where.home = Path("home");
    where.guardian = Path("guardian");
    request.command = {"true"};
  }

  // Canonical, in case the temporary directory is behind a link.
  std::string Path(const std::string& name) const {
    return fs::canonical(scratch_.path()).string() + (name.empty() ? "" : "/" + name);
  }

  void Write(const std::vector<std::string>& roots) {
    request.profile = Profile::kOfflineWrite;
    request.write_roots = roots;
  }

  RunSpec Resolved() const {
    auto spec = ResolveRun(request, where);
    EXPECT_TRUE(spec.has_value()) << spec.error().message;
    return spec ? *std::move(spec) : RunSpec();
  }

  Error Refused() const {
    const auto spec = ResolveRun(request, where);
    EXPECT_FALSE(spec.has_value());
    return spec ? Error() : spec.error();
  }

  Request request;
  Surroundings where;

 private:
  ScratchDir scratch_;
};

const Root* FindRoot(const RunSpec& spec, const std::string& path) {
  const auto found = std::ranges::find(spec.roots, path, &Root::path);
  return found == spec.roots.end() ? nullptr : &*found;
}

const Mask* FindMask(const RunSpec& spec, const std::string& path) {
  const auto found = std::ranges::find(spec.masks, path, &Mask::path);
  return found == spec.masks.end() ? nullptr : &*found;
}

bool Binds(const std::vector<BindMount>& binds, const std::string& path) {
  return std::ranges::any_of(binds, [&](const BindMount& bind) {
    return bind.source == path && bind.target == path && !bind.ignore_missing && !bind.recursive;
  });
}

TEST(Resolve, TheWorktreeIsReadOnlyByDefault) {
  const Place place;
  const RunSpec spec = place.Resolved();
  const Root* root = FindRoot(spec, place.Path("work"));
  ASSERT_NE(root, nullptr);
  EXPECT_FALSE(root->writable);
  EXPECT_TRUE(root->scan);
  EXPECT_TRUE(Binds(spec.read_only_binds, place.Path("work")));
  EXPECT_TRUE(spec.binds.empty());
  EXPECT_EQ(spec.directory, place.Path("work"));
  EXPECT_EQ(spec.unit, "maco-run-" + spec.id + ".service");
  EXPECT_EQ(spec.id.size(), 32U);
  EXPECT_NE(place.Resolved().id, spec.id);
}

// RUN-06: core.worktree comes with the repository, so it is not the caller's word.
TEST(Resolve, AWorktreeThatOnlyTheRepositoryNamesIsRefused) {
  Place place;
  place.where.worktree = place.Path("other");
  EXPECT_EQ(place.Refused().code, Code::kRefused);
  EXPECT_NE(place.Refused().message.find("chosen by the repository"), std::string::npos);
  EXPECT_NE(place.Refused().remedy.find("--workspace"), std::string::npos);
  place.request.workspace = place.Path("other");
  EXPECT_NE(FindRoot(place.Resolved(), place.Path("other")), nullptr);
  place.request.workspace.clear();
  place.where.worktree_named = true;
  EXPECT_NE(FindRoot(place.Resolved(), place.Path("other")), nullptr);
}

TEST(Resolve, AWorktreeWhoseGitFileLeadsElsewhereIsRefused) {
  Place place;
  place.where.worktree = place.Path("lane");
  EXPECT_EQ(place.Refused().code, Code::kRefused) << "it leads to the lane's own git directory";
  place.where.git_dir = place.Path("work/.git/worktrees/lane");
  EXPECT_NE(FindRoot(place.Resolved(), place.Path("lane")), nullptr);
}

TEST(Resolve, TheGitDirectoryIsARootThatIsNeverWritable) {
  Place place;
  place.Write({"."});
  const RunSpec spec = place.Resolved();
  const Root* git = FindRoot(spec, place.Path("work/.git"));
  ASSERT_NE(git, nullptr);
  EXPECT_FALSE(git->writable);
  EXPECT_FALSE(git->scan);
  EXPECT_EQ(std::ranges::count(spec.read_only_inside, place.Path("work/.git"), &ReadOnlyPath::path),
            1);
  EXPECT_TRUE(FindRoot(spec, place.Path("work"))->writable);
  EXPECT_TRUE(Binds(spec.binds, place.Path("work")));
}

TEST(Resolve, ALinkedWorktreeHasTheCommonDirectoryReadOnly) {
  Place place;
  place.where.worktree = place.where.current_directory = place.Path("lane");
  place.where.git_dir = place.Path("work/.git/worktrees/lane");
  place.Write({"."});
  const RunSpec spec = place.Resolved();
  EXPECT_TRUE(FindRoot(spec, place.Path("lane"))->writable);
  const Root* git = FindRoot(spec, place.Path("work/.git"));
  ASSERT_NE(git, nullptr);
  EXPECT_FALSE(git->writable);
  EXPECT_TRUE(Binds(spec.read_only_binds, place.Path("work/.git")));
  // It lies in the common one, and is no root of its own.
  EXPECT_EQ(FindRoot(spec, place.Path("work/.git/worktrees/lane")), nullptr);
}

TEST(Resolve, ASeparateGitDirectoryIsReadOnlyToo) {
  Place place;
  fs::create_directories(place.Path("separate"));
  place.where.git_dir = place.Path("separate");
  place.where.worktree_named = true;
  const RunSpec spec = place.Resolved();
  ASSERT_NE(FindRoot(spec, place.Path("separate")), nullptr);
  EXPECT_TRUE(Binds(spec.read_only_binds, place.Path("separate")));
  place.Write({place.Path("separate")});
  EXPECT_EQ(place.Refused().code, Code::kRefused);
}

TEST(Resolve, AWritableRootInTheReadOnlyWorkspace) {
  Place place;
  place.Write({"src", place.Path("other")});
  const RunSpec spec = place.Resolved();
  EXPECT_FALSE(FindRoot(spec, place.Path("work"))->writable);
  EXPECT_TRUE(FindRoot(spec, place.Path("work/src"))->writable);
  EXPECT_TRUE(FindRoot(spec, place.Path("other"))->writable);
  EXPECT_EQ(spec.binds.size(), 2U);
}

TEST(Resolve, TheSameRootTwiceAndOverlapsAreRefused) {
  for (const std::vector<std::string>& roots : {std::vector<std::string>{"src", "src"},
                                                {"src", "src/deep"},
                                                {"src/deep", "src"},
                                                {".", "src"},
                                                {"src", "./src/../src"}}) {
    Place place;
    place.Write(roots);
    const Error error = place.Refused();
    EXPECT_EQ(error.code, Code::kRefused) << roots.front() << " " << roots.back();
    EXPECT_NE(error.message.find("overlap"), std::string::npos) << error.message;
  }
  Place again;
  again.Write({".", "../work"});
  EXPECT_TRUE(FindRoot(again.Resolved(), again.Path("work"))->writable);
}

TEST(Resolve, ARootAroundTheWorkspaceIsRefused) {
  Place place;
  place.request.workspace = place.Path("work/src/deep");
  place.Write({"src"});
  EXPECT_NE(place.Refused().message.find("overlap"), std::string::npos);
}

TEST(Resolve, ANameThatOnlyBeginsAlikeIsNoOverlap) {
  Place place;
  fs::create_directories(place.Path("work/src2"));
  place.Write({"src", "src2"});
  EXPECT_EQ(place.Resolved().binds.size(), 2U);
}

TEST(Resolve, ASymbolicLinkIsNoRoot) {
  Place place;
  fs::create_directory_symlink(place.Path("other"), place.Path("work/link"));
  for (const char* root : {"link", "./link", "link/", "link//"}) {
    place.Write({root});
    const Error error = place.Refused();
    EXPECT_EQ(error.code, Code::kRefused) << root;
    EXPECT_NE(error.message.find("symbolic link"), std::string::npos) << error.message;
    EXPECT_FALSE(error.remedy.empty());
  }
  place.Write({});
  place.request.workspace = "link";
  EXPECT_EQ(place.Refused().code, Code::kRefused);
}

TEST(Resolve, ARootBehindALinkIsKnownByItsRealPath) {
  Place place;
  fs::create_directory_symlink(place.Path("work"), place.Path("alias"));
  place.Write({place.Path("alias/src")});
  EXPECT_NE(FindRoot(place.Resolved(), place.Path("work/src")), nullptr);
  place.Write({place.Path("alias/.git")});
  EXPECT_EQ(place.Refused().code, Code::kRefused);
}

TEST(Resolve, AnEmptyRootIsNotTheCurrentDirectory) {
  Place place;
  place.Write({""});
  EXPECT_EQ(place.Refused().code, Code::kInvalid);
}

TEST(Resolve, AMissingRootOrOneThatIsNoDirectory) {
  Place place;
  place.Write({"none"});
  EXPECT_EQ(place.Refused().code, Code::kNotFound);
  place.Write({place.Path("guardian")});
  EXPECT_EQ(place.Refused().code, Code::kIo);
  place.Write({});
  place.request.workspace = "none";
  EXPECT_EQ(place.Refused().code, Code::kNotFound);
}

TEST(Resolve, RootsThatAreNeverGranted) {
  for (const char* root : {"/", "/proc/self", "/sys", "/dev"}) {
    Place place;
    place.Write({root});
    EXPECT_EQ(place.Refused().code, Code::kRefused) << root;
    place.Write({});
    place.request.workspace = root;
    EXPECT_EQ(place.Refused().code, Code::kRefused) << root;
  }
  for (const char* root : {"home", "work/.git", "work/.git/maco", "work/.git/worktrees/lane"}) {
    Place place;
    place.Write({place.Path(root)});
    EXPECT_EQ(place.Refused().code, Code::kRefused) << root;
  }
}

TEST(Resolve, ARootBelowTheHomeIsGranted) {
  Place place;
  place.Write({place.Path("home/project")});
  EXPECT_TRUE(FindRoot(place.Resolved(), place.Path("home/project"))->writable);
}

TEST(Resolve, ADirectoryThatHoldsAPrivateOneIsRefused) {
  Place place;
  // The whole of it would hold the private home.
  place.Write({});
  place.request.workspace = place.Path("");
  const Error error = place.Refused();
  EXPECT_EQ(error.code, Code::kRefused);
  EXPECT_NE(error.message.find("private to runs"), std::string::npos) << error.message;
}

TEST(Resolve, ARootOfAnotherUserIsRefused) {
  // As root the scratch directory can be given away; others have the root directory's children.
  Place place;
  std::string root = "/usr";
  if (geteuid() == 0) {
    root = place.Path("other");
    ASSERT_EQ(chown(root.c_str(), 65534, 65534), 0);
  }
  place.Write({root});
  const Error error = place.Refused();
  EXPECT_EQ(error.code, Code::kRefused);
  EXPECT_NE(error.message.find("another user"), std::string::npos) << error.message;
}

TEST(Resolve, ANameThatCannotBeShownIsRefusedInAnotherRoot) {
  for (const std::string name : {"a\xFF", "a\nb", "a\x1B[2J"}) {
    Place place;
    fs::create_directories(place.Path("work/" + name));
    place.Write({name});
    EXPECT_EQ(place.Refused().code, Code::kRefused);
  }
  Place place;
  fs::create_directories(place.Path("work/\xC3\xA4 b%c:d\\e"));
  place.Write({"\xC3\xA4 b%c:d\\e"});
  EXPECT_NE(FindRoot(place.Resolved(), place.Path("work/\xC3\xA4 b%c:d\\e")), nullptr);
}

TEST(Resolve, WritableRootsNeedTheirProfile) {
  Place place;
  place.request.write_roots = {"src"};
  EXPECT_EQ(place.Refused().code, Code::kUsage);
}

TEST(Resolve, WithoutAWorktreeAWorkspaceIsNeeded) {
  Place place;
  place.where.worktree = "";
  EXPECT_EQ(place.Refused().code, Code::kInvalid);
  place.request.workspace = place.Path("other");
  const RunSpec spec = place.Resolved();
  EXPECT_EQ(spec.directory, place.Path("other"));
}

TEST(Resolve, TheWorkingDirectoryIsKeptWhereItCanBeSeen) {
  Place place;
  place.where.current_directory = place.Path("work/src/deep");
  EXPECT_EQ(place.Resolved().directory, place.Path("work/src/deep"));
  place.where.current_directory = place.Path("other");
  EXPECT_EQ(place.Resolved().directory, place.Path("work"));
}

TEST(Resolve, TheStateRootIsAlwaysMasked) {
  for (const bool writable : {false, true}) {
    Place place;
    if (writable) {
      place.Write({"."});
    }
    const RunSpec spec = place.Resolved();
    const Mask* mask = FindMask(spec, place.Path("work/.git/maco"));
    ASSERT_NE(mask, nullptr);
    EXPECT_FALSE(mask->by_tmpfs);
    EXPECT_TRUE(
        mask->identity.SameFile(*Directory::OpenPath(place.Path("work/.git/maco"))->Identity()));
  }
}

TEST(Resolve, CredentialsOfTheHomeAreMasked) {
  const Place place;
  const RunSpec spec = place.Resolved();
  const Mask* mask = FindMask(spec, place.Path("home/.ssh"));
  ASSERT_NE(mask, nullptr);
  EXPECT_TRUE(mask->by_tmpfs);
  EXPECT_EQ(FindMask(spec, place.Path("home/.aws")), nullptr) << "it does not exist";
}

TEST(Resolve, ARootThatIsItselfMaskedIsRefused) {
  Place place;
  place.Write({place.Path("home/.ssh")});
  const Error error = place.Refused();
  EXPECT_EQ(error.code, Code::kRefused);
  EXPECT_NE(error.message.find("home/.ssh"), std::string::npos) << error.message;
}

TEST(Resolve, AMaskBesideARootIsCovered) {
  Place place;
  place.where.home = place.Path("work/src");
  fs::create_directories(place.Path("work/src/.ssh"));
  place.request.workspace = place.Path("work/src/deep");
  EXPECT_TRUE(FindMask(place.Resolved(), place.Path("work/src/.ssh"))->by_tmpfs);
}

TEST(Resolve, PrivateDirectoriesCoverTheUsualPlaces) {
  const Place place;
  const RunSpec spec = place.Resolved();
  const auto find = [&](const std::string& path) {
    return std::ranges::find(spec.private_directories, path, &PrivateDirectory::path);
  };
  const auto temporary = find("/tmp");
  ASSERT_NE(temporary, spec.private_directories.end());
  EXPECT_TRUE(temporary->writable);
  EXPECT_EQ(temporary->mode, 01777U);
  EXPECT_EQ(temporary->bytes, Limits{}.temporary_bytes);
  const auto run = find("/run");
  ASSERT_NE(run, spec.private_directories.end());
  EXPECT_FALSE(run->writable);
  for (const auto& a : spec.private_directories) {
    EXPECT_EQ(std::ranges::count(spec.private_directories, a.path, &PrivateDirectory::path), 1);
  }
}

TEST(Resolve, TheGuardianIsBoundReadOnly) {
  const Place place;
  const RunSpec spec = place.Resolved();
  const auto& bind = spec.read_only_binds.back();
  EXPECT_EQ(bind.source, place.Path("guardian"));
  EXPECT_EQ(bind.target, kGuardianInside);
  Place none;
  none.where.guardian = none.Path("nothing");
  EXPECT_EQ(none.Refused().code, Code::kNotFound);
}

TEST(Resolve, ADiagnosticRunHasNoWorkspace) {
  Place place;
  place.request.profile = Profile::kDiagnostic;
  place.request.command = {"/bin/sh", "--version"};
  const RunSpec spec = place.Resolved();
  EXPECT_EQ(spec.directory, "/");
  EXPECT_TRUE(spec.binds.empty());
  EXPECT_LE(spec.limits.timeout_seconds, 30U);
  EXPECT_LE(spec.limits.output_bytes, 4096U);
  EXPECT_EQ(spec.command[0], fs::canonical("/bin/sh").string());
}

TEST(Resolve, ADiagnosticRunAsksForTheVersionOnly) {
  Place place;
  place.request.profile = Profile::kDiagnostic;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"/bin/sh"},
                                                  {"/bin/sh", "-c"},
                                                  {"/bin/sh", "--version", "x"},
                                                  {"sh", "--version"},
                                                  {"./sh", "--version"}}) {
    place.request.command = command;
    EXPECT_EQ(place.Refused().code, Code::kInvalid) << command.front();
  }
  place.request.command = {"/no/such/program", "--version"};
  EXPECT_EQ(place.Refused().code, Code::kNotFound);
  place.request.command = {"/bin/sh", "--version"};
  place.request.write_roots = {"src"};
  EXPECT_EQ(place.Refused().code, Code::kUsage);
  place.request.write_roots.clear();
  place.request.workspace = place.Path("other");
  EXPECT_EQ(place.Refused().code, Code::kUsage);
}

TEST(Resolve, CommandVariablesAndLimitsAreChecked) {
  Place place;
  place.request.command = {};
  EXPECT_EQ(place.Refused().code, Code::kUsage);
  place.request.command = {""};
  EXPECT_EQ(place.Refused().code, Code::kUsage);
  place.request.command = {"true"};
  place.request.variables = {"LD_PRELOAD=x"};
  EXPECT_EQ(place.Refused().code, Code::kInvalid);
  place.request.variables.clear();
  place.request.limits.tasks = 0;
  EXPECT_EQ(place.Refused().code, Code::kInvalid);
}

}  // namespace
}  // namespace maco::run
