// Config, hooks and info before and after a run: each kind of change has a name.
// Contract under test: maco-run/record/administrative.h. Requirement ADM-01.
#include "maco-run/record/administrative.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

namespace fs = std::filesystem;

class AdministrativeTest : public testing::Test {
 protected:
  AdministrativeTest() {
    fs::create_directories(scratch_.Path("hooks"));
    fs::create_directories(scratch_.Path("info"));
    Write("config", "[core]\n");
    Write("hooks/pre-commit", "#!/bin/sh\n");
    Write("info/exclude", "*.o\n");
    before_ = Digest();
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(scratch_.Path(name)) << text;
  }

  AdministrativeFiles Digest() const { return DigestAdministrativeFiles(scratch_.dir()); }
  Json Changed() const { return ChangedFiles(before_, Digest()); }

  ScratchDir scratch_;
  AdministrativeFiles before_;
};

TEST_F(AdministrativeTest, NothingChangedIsNothing) { EXPECT_EQ(Changed(), Json::array()); }

TEST_F(AdministrativeTest, ChangedNewAndMissingFilesAreNamed) {
  Write("config", "[core]\n\tfsmonitor = x\n");
  Write("hooks/post-checkout", "x");
  fs::remove(scratch_.Path("info/exclude"));
  EXPECT_EQ(Changed(), (Json{"config", "hooks/post-checkout", "info/exclude"}));
}

TEST_F(AdministrativeTest, AnotherTextOfTheSameLengthIsAChange) {
  Write("config", "[Core]\n");
  EXPECT_EQ(Changed(), Json{"config"});
}

TEST_F(AdministrativeTest, OtherFilesOfTheDirectoryAreNoConcern) {
  Write("HEAD", "x");
  Write("index", "x");
  EXPECT_EQ(Changed(), Json::array());
}

TEST_F(AdministrativeTest, WhatCannotBeReadIsSaidAndDoesNotBlock) {
  fs::remove(scratch_.Path("config"));
  ASSERT_EQ(mkfifo(scratch_.Path("config").c_str(), 0600), 0);
  fs::remove(scratch_.Path("hooks/pre-commit"));
  fs::create_symlink("/etc/passwd", scratch_.Path("hooks/pre-commit"));
  const auto after = Digest();
  EXPECT_EQ(after.at("config"), "unreadable");
  EXPECT_EQ(after.at("hooks/pre-commit"), "unreadable");
  EXPECT_EQ(Changed(), (Json{"config", "hooks/pre-commit"}));
}

TEST_F(AdministrativeTest, AMissingFolderIsAChange) {
  fs::remove_all(scratch_.Path("hooks"));
  EXPECT_EQ(Changed(), (Json{"hooks", "hooks/pre-commit"}));
}

TEST_F(AdministrativeTest, AFileThatIsTooLargeIsUnreadable) {
  Write("info/large", std::string((1U << 20U) + 1, 'x'));
  EXPECT_EQ(Digest().at("info/large"), "unreadable");
}

TEST_F(AdministrativeTest, NamesAreShownOnOneLine) {
  Write("hooks/a\nb\xFF", "x");
  EXPECT_EQ(Changed(), Json{"hooks/a\\x0ab\\xff"});
}

}  // namespace
}  // namespace maco::run
