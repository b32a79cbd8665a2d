// The number at the end of what was given.
// Contract: maco-effect/receipt.h.
#include "maco-effect/receipt.h"

#include "libcommon/base/text.h"
#include "libcommon/git/private_repository.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {

Result<Receipt> ReceiptOf(const Effect& effect, const std::string& text) {
  const auto wrong = [&] {
    return Fail(
        Code::kUsage, "'" + ShownUrl(text) + "' is no receipt of a " + effect.operation,
        effect.operation == "push" ? "give the full object id" : "give its number or its URL");
  };
  Receipt out;
  if (effect.operation == "push") {
    const bool is_oid = (text.size() == 40 || text.size() == 64) &&
                        text.find_first_not_of("0123456789abcdef") == std::string::npos;
    out.id = effect.target + "@" + text;
    return is_oid ? Result<Receipt>(out) : wrong();
  }
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::string digits = last == std::string::npos ? text : text.substr(last + 1);
  const auto number = ParseUint(digits);
  if (!number || *number == 0) {
    return wrong();
  }
  if (text.find("://") != std::string::npos) {
    out.url = EscapeControl(WithoutCredentials(text));
  }
  out.id = effect.operation + "/" + std::to_string(*number);
  out.number = *number;
  if (effect.operation == "comment") {
    const auto about = ParseUint(effect.target.substr(1));
    out.number = about ? *about : 0;
  }
  return out;
}

}  // namespace maco::effect
