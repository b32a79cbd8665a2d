// Pushes to any remote that git can push to, from a repository of ours with our settings only.
// Sources: git-push(1) (--porcelain, --force-with-lease), git-ls-remote(1). Requirement EFF-03.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "maco-effect/transport.h"

namespace maco::effect {

// `state` must outlive it. `format`: of the repository's objects, as git names it. `sources`: Git
// directories that may hold what is pushed, the first one that does is taken. Errors: those of
// making the repository that pushes.
Result<std::unique_ptr<Transport>> MakeGitTransport(const StateRoot& state,
                                                    const std::string& format,
                                                    std::vector<std::string> sources);

// Whether git would put a secret of this URL on a command line, or execute what it says. Errors:
// kInvalid, with the remedy.
Result<void> CheckPushUrl(const std::string& url);

// The answer of `git push --porcelain` about one ref. Pure.
Outcome ReadPushReport(const std::string& output, const std::string& ref, const std::string& oid,
                       const std::string& error_output);

// The value that `git ls-remote` printed for exactly that ref; empty if there is none. Pure.
std::string ReadRemoteRef(const std::string& output, const std::string& ref);

}  // namespace maco::effect
