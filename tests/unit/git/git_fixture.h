// Scratch repositories of the real git, found by nothing of the caller's environment.
// For the tests of libcommon/git only.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "libcommon/git/git_program.h"
#include "libcommon/os/spawn.h"
#include "tests/unit/scratch_dir.h"

namespace maco {

class GitFixture : public ::testing::Test {
 protected:
  GitFixture() {
    ForgetVariables();
    setenv("HOME", scratch_.path().c_str(), 1);
  }
  ~GitFixture() override { ForgetVariables(); }

  static void Git(const std::vector<std::string>& arguments) {
    SpawnRequest request;
    request.program = *FindGitProgram();
    request.arguments = arguments;
    request.environment = CleanGitEnvironment();
    const auto result = RunProgram(request);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->exit_status, 0) << result->error_output;
  }
  std::string MakeRepository(const std::string& name,
                             const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"init", "-q", scratch_.Path(name)};
    arguments.insert(arguments.begin() + 2, options.begin(), options.end());
    Git(arguments);
    return scratch_.Path(name);
  }

  ScratchDir scratch_;

 private:
  static void ForgetVariables() {
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR",
                             "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}) {
      unsetenv(name);
    }
  }
};

}  // namespace maco
