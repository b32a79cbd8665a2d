// Members of answers, times, and the choice of a dialect.
// Contract: maco-effect/forge/dialect.h.
#include "maco-effect/forge/dialect.h"

#include <ctime>

#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/store/json_members.h"

namespace maco::effect {

std::unique_ptr<Dialect> MakeDialect(const std::string& transport) {
  if (transport == "github") {
    return MakeGithub();
  }
  if (transport == "gitlab") {
    return MakeGitlab();
  }
  return transport == "gitea" ? MakeGitea() : nullptr;
}

Error BadAnswer(const std::string& what) {
  return MakeError(Code::kInvalid, "the forge's answer has no proper '" + what + "'");
}

Result<std::string> TextOf(const Json& object, const char* name) {
  const std::string* text = object.is_object() ? TextMember(object, name) : nullptr;
  return text != nullptr ? Result<std::string>(*text) : Fail(BadAnswer(name));
}

Result<std::uint64_t> NumberOf(const Json& object, const char* name) {
  const auto number = object.is_object() ? UintMember(object, name) : std::nullopt;
  return number ? Result<std::uint64_t>(*number) : Fail(BadAnswer(name));
}

std::string OptionalText(const Json& object, const char* name) {
  return TextOf(object, name).value_or("");
}

std::string OptionalId(const Json& object, const char* name) {
  const auto number = NumberOf(object, name);
  return number ? std::to_string(*number) : "";
}

Result<const Json*> ObjectOf(const Json& object, const char* name) {
  const Json* member = object.is_object() ? Member(object, name) : nullptr;
  if (member == nullptr || !member->is_object()) {
    return Fail(BadAnswer(name));
  }
  return member;
}

Result<std::uint64_t> TimeOf(const Json& object, const char* name) {
  constexpr std::uint64_t kMicros = 1'000'000;
  constexpr int kMinute = 60;
  std::string text;
  MACO_ASSIGN(text, TextOf(object, name));
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) {
    return Fail(BadAnswer(name));
  }
  if (*rest == '.') {
    rest += 1 + std::string_view(rest + 1).find_first_not_of("0123456789");
  }
  std::time_t seconds = timegm(&parts);
  const std::string zone = rest;
  if (zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':') {
    const auto hours = ParseUint(zone.substr(1, 2));
    const auto minutes = ParseUint(zone.substr(4, 2));
    if (!hours || !minutes) {
      return Fail(BadAnswer(name));
    }
    const auto offset = static_cast<std::time_t>((*hours * kMinute + *minutes) * kMinute);
    seconds += zone[0] == '+' ? -offset : offset;
  } else if (zone != "Z") {
    return Fail(BadAnswer(name));
  }
  return seconds < 0 ? Result<std::uint64_t>(Fail(BadAnswer(name)))
                     : Result<std::uint64_t>(static_cast<std::uint64_t>(seconds) * kMicros);
}

std::string SinceText(const std::string& name, const ListQuery& query) {
  return query.since_us == 0 ? "" : name + "=" + Encoded(UtcTime(query.since_us)) + "&";
}

}  // namespace maco::effect
