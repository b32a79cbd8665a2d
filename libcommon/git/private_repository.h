// A bare repository of our own for talking to remotes: none of the user's repository's settings,
// hooks or helpers apply, only what the operator has in global and system configuration.
// Sources: git-init(1), git-push(1), git-ls-remote(1).
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/git/config.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/spawn.h"

namespace maco {

// Movable.
class PrivateRepository {
 public:
  // Makes it in a new directory below `parent`, which is removed with the object. `object_format`
  // is "sha1" or "sha256". Errors: kUnsupported (no git), kLimit, kIo.
  static Result<PrivateRepository> Create(const Directory& parent,
                                          const std::string& object_format);
  // One that stays: makes it below `parent` if it is not there or was not finished. Errors: as
  // Create.
  static Result<PrivateRepository> OpenOrCreate(const Directory& parent, const std::string& name,
                                                const std::string& object_format);
  PrivateRepository(PrivateRepository&& other) noexcept;
  PrivateRepository& operator=(PrivateRepository&&) = delete;
  ~PrivateRepository();

  // Runs git in it, without prompts, hooks and replace objects. Its exit status is the caller's
  // business. Errors: those of RunProgram.
  Result<SpawnResult> Run(std::vector<std::string> arguments,
                          std::chrono::minutes timeout = std::chrono::minutes(10)) const;

  // As Run, but a status other than 0 is kInvalid with git's own words; returns standard output
  // without its last newline.
  Result<std::string> Ask(std::vector<std::string> arguments) const;

  const std::string& path() const { return path_; }

 private:
  PrivateRepository(std::string path, bool stays) : path_(std::move(path)), stays_(stays) {}
  std::string path_;  // empty when it was moved from
  bool stays_;
};

// "sha1" or "sha256": the object format of the repository with that Git directory. Errors:
// kInvalid, kUnsupported, kIo.
Result<std::string> ObjectFormat(const std::string& git_dir);

// The URL to push to that `remote` names in the configuration of the current repository, or
// `remote` itself if it is a URL or a path. A relative path counts from `directory`, as git counts
// it from the top of the worktree. Errors: kNotFound, those of ReadConfig.
Result<std::string> RemoteUrl(const std::string& remote, const std::string& directory);
// The same from settings that were read already.
Result<std::string> RemoteUrlOf(const std::vector<ConfigValue>& settings, const std::string& remote,
                                const std::string& directory);

// The first line of what git wrote to standard error.
std::string FirstLine(const std::string& text);

// `url` without a password or token in it, for messages and records.
std::string WithoutCredentials(const std::string& url);

}  // namespace maco
