// Check: one prerequisite of a verified run, what was seen of it, and the command that fixes it.
// Printed by git-maco/doctor/answer.h; ids and members are documented in git-maco-doctor(1).
#pragma once
#include <string>
#include <vector>

namespace maco::doctor {

enum class State {
  kOk,
  kMissing,  // verified runs will be refused
  kNote,     // worth knowing, or could not be looked at because something else is missing
};

enum class Scope { kHost, kRepository };

struct Check {
  std::string id;  // lower case, with hyphens; never changes its meaning
  State state = State::kOk;
  std::string observed;  // one line for people
  std::string source;    // the exact file or system call, and its value
  std::string fix;       // empty if there is nothing to do
  Scope scope = Scope::kHost;
};

using Checks = std::vector<Check>;

}  // namespace maco::doctor
