// The tools behind `git maco <verb>`: the one list that usage, dispatch, completion and tests read.
// Manual: git-maco(1).
#pragma once
#include <span>
#include <string_view>

namespace maco {

struct Tool {
  std::string_view verb;
  std::string_view binary;   // in libexec/git-maco
  std::string_view summary;  // one line, lower case, no full stop
  int failure;               // exit status when the binary cannot be executed
};

std::span<const Tool> Tools();

// Null if there is no such verb.
const Tool* FindTool(std::string_view verb);

// The verb that a mistyped one is closest to; empty if none is close.
std::string_view SimilarVerb(std::string_view verb);

}  // namespace maco
