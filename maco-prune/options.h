// The command line of maco-prune. Manual: docs/man/git-maco-prune.1.
// Errors: kUsage.
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/state/retention.h"

namespace maco::prune {

enum class Verb { kHelp, kPrune, kInspect, kRestore, kDiscard };

struct Options {
  Verb verb = Verb::kHelp;
  std::vector<std::string> names;  // of quarantine entries
  RetentionPolicy policy;          // what the command line says
  bool dry_run = false;
  bool json = false;
  bool nul = false;
};

Result<Options> ParseOptions(int argc, const char* const* argv);

std::string Usage();

}  // namespace maco::prune
