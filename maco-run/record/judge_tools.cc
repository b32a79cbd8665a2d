// Member access and blame.
// Contract: maco-run/record/judge_tools.h.
#include "maco-run/record/judge_tools.h"

#include <algorithm>

#include "libcommon/base/text.h"

namespace maco::run {
namespace {

std::string Dotted(std::string_view pointer) {
  std::string out(pointer.substr(pointer.starts_with('/') ? 1 : 0));
  std::ranges::replace(out, '/', '.');
  return out;
}

const Json kNothing;

}  // namespace

std::string Shown(const Json& value) {
  constexpr std::size_t kMaxShown = 160;
  std::string text =
      value.is_null() ? "missing" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMaxShown) {
    text.resize(kMaxShown);
    text.append("...");
  }
  return text;
}

const Json& Member(const Json& value, const std::string& name) {
  if (!value.is_object()) {
    return kNothing;
  }
  const auto found = value.find(name);
  return found == value.end() ? kNothing : *found;
}

const Json& Judgement::Document(const std::string& pointer) const {
  // Walked by hand: json_pointer throws on members that are not there.
  const Json* at = &document_;
  std::size_t start = 1;
  while (start <= pointer.size()) {
    const std::size_t end = std::min(pointer.find('/', start), pointer.size());
    at = &Member(*at, pointer.substr(start, end - start));
    start = end + 1;
  }
  return *at;
}

const Json& Judgement::Observed(const std::string& pointer) const {
  return Document("/observations" + pointer);
}

void Judgement::Equal(const std::string& pointer, const Json& expected) {
  const Json& value = Observed(pointer);
  if (value != expected || value.is_null()) {
    Blame(Dotted(pointer), "is " + Shown(value) + ", expected " + Shown(expected));
  }
}

void Judgement::Same(const std::string& pointer, const std::string& document_pointer) {
  const Json& expected = Document(document_pointer);
  const Json& value = Observed(pointer);
  if (value.is_null() || expected.is_null() || value != expected) {
    Blame(Dotted(pointer), "is " + Shown(value) + ", expected " + Shown(expected));
  }
}

void Judgement::Blame(std::string_view observation, std::string_view why) {
  reasons_.push_back(EscapeControl(observation) + ": " + EscapeControl(why));
}

}  // namespace maco::run
