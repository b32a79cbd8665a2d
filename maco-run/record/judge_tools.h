// Judgement: safe access to members of an evidence document, and the reasons found so far.
// Used by the judge only; a missing member is null, never an error.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/json.h"

namespace maco::run {

// A member of any value; null where there is none.
const Json& Member(const Json& value, const std::string& name);

// A value for a reason: one line, not too long.
std::string Shown(const Json& value);

class Judgement {
 public:
  explicit Judgement(const Json& document) : document_(document) {}

  // By JSON pointer (RFC 6901) from the root, or from "observations".
  const Json& Document(const std::string& pointer) const;
  const Json& Observed(const std::string& pointer) const;

  // The observation must be there and equal the value.
  void Equal(const std::string& pointer, const Json& expected);
  // The observation must be there and equal the member of the document.
  void Same(const std::string& pointer, const std::string& document_pointer);

  // Escapes control bytes and what is no UTF-8, so that the reasons can be signed and printed.
  void Blame(std::string_view observation, std::string_view why);
  std::vector<std::string> TakeReasons() { return std::move(reasons_); }

 private:
  const Json& document_;
  std::vector<std::string> reasons_;
};

}  // namespace maco::run
