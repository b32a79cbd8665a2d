// The words of a command line by a table of options. cxxopts is known to words.cc alone.
// Errors: kUsage, with the words of the caller's manual.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcommon/base/result.h"

namespace maco {

enum class Takes { kNothing, kText, kAnyText };  // kText: one that is not empty

struct OptionRule {
  const char* names;  // "json", or "n,dry-run"; then it is known by the long one
  Takes takes = Takes::kNothing;
};

class Words {
 public:
  bool Has(std::string_view option) const;
  std::string Text(std::string_view option) const;                // the last; empty: not given
  std::vector<std::string> Texts(std::string_view option) const;  // in the order given
  // Every option that was given, in order; may hold one twice.
  const std::vector<std::pair<std::string, std::string>>& options() const { return options_; }
  // What stands without a dash, and all behind "--".
  const std::vector<std::string>& names() const { return names_; }

 private:
  friend Result<Words> ReadWords(const std::string&, std::span<const OptionRule>, int,
                                 const char* const*);
  std::vector<std::pair<std::string, std::string>> options_;
  std::vector<std::string> names_;
};

// Reads argv[1] and what follows. "-h" and "--help" are in every table. `tool`: "git maco effect",
// as in the hint to its help.
// "--json" and "-z", the two forms of a list for programs, exclude each other wherever both are.
Result<Words> ReadWords(const std::string& tool, std::span<const OptionRule> table, int argc,
                        const char* const* argv);

// An error about the use of `tool`.
Error Misused(const std::string& tool, std::string what);

}  // namespace maco
