// The command line of maco-effect. Manual: docs/man/git-maco-effect.1.
// Errors: kUsage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::effect {

enum class Verb {
  kHelp,
  kPush,
  kPullRequest,
  kIssue,
  kComment,
  kSend,
  kList,
  kShow,
  kRecover,
  kReconcile,
  kVerify,
  kArchive,
  kHook,
};

struct Options {
  Verb verb = Verb::kHelp;
  std::vector<std::string> names;  // what stands without a dash, after the verb
  bool plan = false;               // record, do not send
  bool dry_run = false;
  bool json = false;
  bool nul = false;
  std::string action;
  std::string from;  // a file or "-": the document of a lane's candidate
  std::uint64_t settle_seconds = 0;
  std::string expect;  // push: "none" or an oid
  std::string remote;
  std::string repository;  // "HOST/OWNER/NAME" or a URL
  std::string title;
  std::string body;
  std::string body_file;  // or "-"
  std::string head;
  std::string base;
  bool draft = false;
  std::vector<std::string> labels;
  std::uint64_t issue = 0;
  std::uint64_t pr = 0;
  std::string adopt;
  bool abandon = false;
  std::string note;
  bool all = false;                   // list: also what is in archives
  std::uint64_t max_age_seconds = 0;  // archive
  bool check = false;                 // hook: called by git
};

Result<Options> ParseOptions(int argc, const char* const* argv);

std::string Usage();

}  // namespace maco::effect
