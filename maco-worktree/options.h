// The command line of maco-worktree. Manual: docs/man/git-maco-worktree.1.
// Errors: kUsage.
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::worktree {

enum class Verb {
  kHelp,
  kCreate,
  kList,
  kClaim,
  kRelease,
  kOwner,
  kIntent,
  kCapture,
  kShow,
  kAccept,
  kReject,
  kCheck,
  kApply,
  kRemove,
  kRestore,
  kGc,
  kRepair,
  kHook,
};

struct Options {
  Verb verb = Verb::kHelp;
  std::vector<std::string> names;  // what stands without a dash, after the verb
  bool json = false;
  bool nul = false;
  bool dry_run = false;
  std::string base;
  std::vector<std::string> claims;
  bool is_private = false;
  std::string include;
  std::uint64_t expires_seconds = 0;
  bool take_over = false;
  bool staged = false;                // owner: of what a commit would hold
  bool rehash = false;                // capture: believe no time stamp
  bool stat = false;                  // show: no patch, and not read by that
  std::string reason;                 // reject, intent
  std::string note;                   // accept
  std::string unverified;             // accept, apply: the operator's word
  std::string candidate;              // check
  std::string kind;                   // intent
  std::string untaint;                // repair: the operator's word
  std::string mode;                   // apply: "commit", "index", "worktree"; empty: index
  std::string message;                // apply --commit
  bool proceed = false;               // apply --continue
  bool abort = false;                 // apply --abort
  bool discard = false;               // remove: what was changed and not applied may go
  std::uint64_t max_age_seconds = 0;  // gc
};

Result<Options> ParseOptions(int argc, const char* const* argv);

std::string Usage();

}  // namespace maco::worktree
