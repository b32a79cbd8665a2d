// The files of an apply, byte for byte: what each one was and what it is to become. What git makes
// of a file depends on attributes, which the same apply may change; bytes do not.
// Errors: kPermission, kIo, kCorrupt (the list is not as it was written).
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco::worktree {

struct FileChange {
  std::string path;
  std::string old_state;  // as StateOfFile has it
  std::string new_state;
};

// Kind, whether it is executable, and a digest; empty: no file is there. A directory is no file,
// and a file behind a symbolic link is not there.
Result<std::string> StateOfFile(const Directory& top, const std::string& path);

// Copies a file or link with its mode to the same path below `to`.
Result<void> CopyAside(const Directory& top, const std::string& path, const Directory& to);

Result<void> WriteFileChanges(const std::string& file, const std::vector<FileChange>& changes);
Result<std::vector<FileChange>> ReadFileChanges(const std::string& file);

}  // namespace maco::worktree
