// ScratchDir: a private temporary directory of one test, removed with all below it at the end.
// For unit tests only; nothing outside tests/ includes it.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "libcommon/os/directory.h"

namespace maco {

class ScratchDir {
 public:
  ScratchDir() {
    std::string pattern = std::filesystem::temp_directory_path() / "maco-test-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    auto dir = Directory::OpenPath(path_);
    EXPECT_TRUE(dir.has_value());
    dir_ = *std::move(dir);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  ~ScratchDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  const Directory& dir() const { return dir_; }

 private:
  std::string path_;
  Directory dir_;
};

}  // namespace maco
