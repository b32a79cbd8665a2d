// Finds a repository of the plainest kind without starting git; whatever is not plain is git's
// business. Source: git-init(1), gitrepository-layout(5), git-config(1) "safe.directory"; git's own
// order of discovery. tests/unit/git/plain_repository_test.cc compares every answer with git's.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"

namespace maco {

// The same answer as FindRepository for the current directory, in a tenth of the time where that
// is a plain one. Not noticed then is a git that is missing or too old, and a setting that git dies
// of, in the repository's configuration or the operator's. Errors: as FindRepository.
Result<Repository> LocateRepository();

// The repository of `directory` (empty: the current one), which has no links in its path then; or
// nothing: git has to be asked. Plain is: no variable of the environment redirects git; the first
// directory upwards with `.git` or `HEAD`, on one file system, has a real directory `.git`; that
// has `HEAD`, and `objects` and `refs` that may be searched, and no `commondir`; both belong to the
// effective user; and `.git/config`, of at most 64 KiB, is plain. Never fails: what cannot be read
// is git's business too.
std::optional<Repository> PlainRepository(const std::string& directory = {});

// Whether the content of a repository's configuration file is as git writes it, without quotes,
// continued lines, inclusions and extensions, says that the repository is not bare, and does not
// move its worktree. Any other, valid or not, is not plain.
bool IsPlainConfig(std::string_view content);

}  // namespace maco
