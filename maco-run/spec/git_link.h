// Where the small files of git lead: ".git" ("gitdir: PATH") and "commondir".
// Source: gitrepository-layout(5), git's read_gitfile and get_common_dir.
#pragma once
#include <optional>
#include <string>

namespace maco::run {

// What a path leads to as git reads it: the directory itself, or what the file says, absolute but
// not resolved. Nothing where there is none, or git would not take it.
std::optional<std::string> GitDirOf(const std::string& git_entry);

// What `<git_dir>/commondir` says, absolute but not resolved; nothing where there is none.
std::optional<std::string> CommonDirOf(const std::string& git_dir);

// Whether `<worktree>/.git` is the git directory, or leads to it (device and inode are compared).
bool LeadsTo(const std::string& worktree, const std::string& git_dir);

}  // namespace maco::run
