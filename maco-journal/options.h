// The command line of maco-journal. Manual: docs/man/git-maco-journal.1.
// Errors: kUsage.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::journal {

enum class Verb {
  kHelp,
  kList,
  kShow,
  kVerify,
  kRepair,
  kResolve,
  kResume,
  kCheckpoint,
  kRebind,
  kRekey,
  kArchive,
  kAnchor,
  kExport,
};

struct Options {
  Verb verb = Verb::kHelp;
  std::vector<std::string> names;  // what stands without a dash, after the verb
  bool json = false;
  bool ndjson = false;
  bool nul = false;  // list: names, each ended by a zero byte
  bool dry_run = false;
  bool cut_torn_tail = false;
  bool rewrite_head = false;
  bool happened = false;
  bool abandoned = false;
  bool did_not_happen = false;
  std::string note;
  std::string output;      // a file to write
  std::string check;       // a checkpoint to check
  std::string checkpoint;  // a checkpoint to resume from
};

Result<Options> ParseOptions(int argc, const char* const* argv);

std::string Usage();

}  // namespace maco::journal
