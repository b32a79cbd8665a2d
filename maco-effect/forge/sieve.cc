// By marker, author, kind, time and content.
// Contract: maco-effect/forge/sieve.h.
#include "maco-effect/forge/sieve.h"

#include "libcommon/base/text.h"
#include "maco-effect/forge/answers.h"

namespace maco::effect {

std::string Differs(const Item& item, const Effect& effect) {
  if (item.author_id != effect.actor_id) {
    return "its author is another account";
  }
  if (effect.since_us != 0 && item.created_us + kClockSlack < effect.since_us) {
    return "it is older than the effect";
  }
  if (ContentDigest(item.title, PlainBody(item.body), item.head, item.base) !=
      effect.content_sha256) {
    return item.body.find(MarkerText(effect.marker)) == std::string::npos
               ? "its body was edited, the marker is gone"
               : "title, body, head or base are not what was sent";
  }
  return {};
}

Receipt Bounded(Receipt receipt) {
  constexpr std::size_t kMostUrl = 512;
  const bool address = receipt.url.starts_with("https://") || receipt.url.starts_with("http://");
  if (!address || receipt.url.size() > kMostUrl || EscapeControl(receipt.url) != receipt.url) {
    receipt.url.clear();
  }
  return receipt;
}

// Others' rows may be odd, without an author for one: that is nobody's business here.
void Sieve::Take(const Json& row) {
  if (!dialect_.Belongs(request_.operation, row)) {
    return;
  }
  const std::string marker = MarkerText(effect_.marker);
  const bool marked = OptionalText(row, "body").find(marker) != std::string::npos ||
                      OptionalText(row, "description").find(marker) != std::string::npos;
  if (!marked && request_.operation != "pr") {
    return;
  }
  const auto item = dialect_.ReadItem(request_.operation, request_.number, row);
  if (!marked) {
    found_.rival = found_.rival || (item && item->state == "open" && item->head == request_.head &&
                                    item->base == request_.base);
    return;
  }
  if (item && !seen_.insert(item->receipt.id).second) {
    return;
  }
  const std::string odd = item ? Differs(*item, effect_) : Describe(item.error());
  if (odd.empty()) {
    found_.ours.push_back(Bounded(item->receipt));
  } else {
    found_.odd.push_back((item ? item->receipt.id : "what bears the marker") + ": " + odd);
  }
}

Found Sieve::found() const {
  Found out = found_;
  out.rival = out.rival && out.ours.empty() && out.odd.empty();
  return out;
}

}  // namespace maco::effect
