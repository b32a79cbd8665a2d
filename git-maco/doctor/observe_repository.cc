// The programs that a run needs, the repository, its maco state and the room for it.
// Contract: git-maco/doctor/observe.h.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "git-maco/doctor/observe.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/git/git_program.h"
#include "libcommon/git/repository.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/spawn.h"

namespace maco::doctor {
namespace {

void ObserveGit(ToolFacts& facts) {
  auto program = FindGitProgram();
  if (!program) {
    facts.git_error = program.error();
    return;
  }
  facts.git_path = *program;
  SpawnRequest request;
  request.program = *std::move(program);
  request.arguments = {"--version"};
  request.environment = CleanGitEnvironment();
  const auto answer = RunProgram(request);
  if (!answer) {
    facts.git_error = answer.error();
    return;
  }
  facts.git_version = answer->output.substr(0, answer->output.find('\n'));
}

void ObserveState(const Directory& common_dir, RepositoryFacts& facts) {
  const auto state = StateRoot::Open(common_dir, IfMoved::kReport);
  if (!state) {
    facts.state_error = state.error();
    return;
  }
  facts.id = state->repository_id();
  facts.moved = state->moved();
  facts.recorded_path = state->identity().place.path;
}

void ObserveSpace(RepositoryFacts& facts) {
  struct statvfs space {};
  if (statvfs(facts.common_dir.c_str(), &space) != 0) {
    facts.space_errno = errno;
    return;
  }
  facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  facts.free_inodes = space.f_favail;
  facts.counts_inodes = space.f_files != 0;
}

}  // namespace

ToolFacts ObserveTools(const std::string& program) {
  ToolFacts facts;
  ObserveGit(facts);
  facts.directory = program.substr(0, program.rfind('/'));
  const auto executable = [&facts](const char* name) {
    return access((facts.directory + name).c_str(), X_OK) == 0 ? 0 : errno;
  };
  facts.run_errno = executable("/maco-run");
  facts.guardian_errno = executable("/maco-guardian");
  return facts;
}

RepositoryFacts ObserveRepository() {
  RepositoryFacts facts;
  auto repository = FindRepository();
  if (!repository) {
    facts.find_error = repository.error();
    return facts;
  }
  facts.common_dir = repository->common_dir;
  const auto directory = Directory::OpenPath(facts.common_dir);
  if (!directory) {
    facts.find_error = directory.error();
    return facts;
  }
  ObserveState(*directory, facts);
  ObserveSpace(facts);
  return facts;
}

}  // namespace maco::doctor
