// `git maco init`: gives a repository its key and identity, or shows that it has them.
// Manual: git-maco-init(1). Formats: docs/formats/key.md, docs/formats/repository.md.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco {

struct InitOptions {
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool help = false;
};

// Arguments without the program's name. Errors: kUsage.
Result<InitOptions> ParseInitOptions(const std::vector<std::string>& arguments);

std::string InitUsage();

// Runs in the current directory; prints usage, the repository id or the JSON document on standard
// output. Errors: those of FindRepository and StateRoot, kIo (standard output).
Result<void> RunInit(const InitOptions& options);

}  // namespace maco
