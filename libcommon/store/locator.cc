// The locator as a signed document, and the rules that a valid one keeps.
// Contract: libcommon/store/locator.h, docs/formats/store.md.
#include "libcommon/store/locator.h"

#include "libcommon/auth/canonical_json.h"
#include "libcommon/store/json_members.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

constexpr std::string_view kFamily = "maco.store-locator/";
constexpr char kDomain[] = "maco.store-locator/1";  // also the schema
constexpr std::size_t kMembers = 7;
constexpr std::size_t kRetainedMembers = 6;
constexpr std::size_t kArchivedMembers = 3;

Error Bad(const std::string& store, std::string_view reason) {
  return MakeError(Code::kCorrupt,
                   "the locator of store '" + store + "' does not verify: " + std::string(reason),
                   "restore the store's whole directory from a backup");
}

bool IsNull(const Json& document, const char* name) {
  const Json* member = Member(document, name);
  return member && member->is_null();
}

Json RetainedDocument(const RetainedJournal& journal) {
  Json out = Json::object();
  out["n"] = journal.n;
  out["log_id"] = ToHex(journal.log_id);
  out["first_generation"] = journal.first_generation;
  out["last_generation"] = journal.last_generation;
  out["sequence"] = journal.sequence;
  out["mac"] = ToHex(journal.mac);
  return out;
}

std::optional<RetainedJournal> TakeRetained(const Json& document) {
  if (!document.is_object() || document.size() != kRetainedMembers) {
    return std::nullopt;
  }
  const auto n = UintMember(document, "n");
  const auto log_id = HexMember<sizeof(LogId)>(document, "log_id");
  const auto first = UintMember(document, "first_generation");
  const auto last = UintMember(document, "last_generation");
  const auto sequence = UintMember(document, "sequence");
  const auto mac = HexMember<sizeof(Mac)>(document, "mac");
  if (!n || !log_id || !first || !last || !sequence || !mac) {
    return std::nullopt;
  }
  return RetainedJournal{*n, *log_id, *first, *last, *sequence, *mac};
}

bool TakeArchived(const Json& document, Locator& locator) {
  if (IsNull(document, "archived")) {
    return true;
  }
  const Json* member = Member(document, "archived");
  if (!member || !member->is_object() || member->size() != kArchivedMembers) {
    return false;
  }
  const auto through = UintMember(*member, "through");
  const auto last = UintMember(*member, "last_generation");
  const auto mac = HexMember<sizeof(Mac)>(*member, "mac");
  if (!through || !last || !mac) {
    return false;
  }
  locator.archived = ArchivedJournals{*through, *last, *mac};
  return true;
}

bool TakeActive(const Json& document, Locator& locator) {
  const auto active = UintMember(document, "active");
  if (!active || *active > kMaxJournalNumber) {
    return false;
  }
  locator.active = *active;
  const auto prepared = UintMember(document, "prepared");
  if (!IsNull(document, "prepared") && prepared != *active + 1) {
    return false;
  }
  locator.prepared = prepared.has_value();
  if (*active == 0) {
    return locator.prepared && IsNull(document, "active_log_id");
  }
  const auto log_id = HexMember<sizeof(LogId)>(document, "active_log_id");
  locator.active_log_id = log_id.value_or(LogId{});
  return log_id.has_value();
}

bool TakeAllRetained(const Json& document, Locator& locator) {
  const Json* list = Member(document, "retained");
  if (!list || !list->is_array()) {
    return false;
  }
  for (const Json& item : *list) {
    const auto journal = TakeRetained(item);
    if (!journal) {
      return false;
    }
    locator.retained.push_back(*journal);
  }
  return true;
}

// Rules 1 to 3 of "A locator is valid if and only if".
bool KeepsRules(const Locator& locator) {
  if (locator.active == 0) {
    return locator.retained.empty() && !locator.archived;
  }
  if (locator.archived && locator.archived->through == 0) {
    return false;
  }
  std::uint64_t n = locator.FirstKept();
  std::uint64_t generation = locator.archived ? locator.archived->last_generation : 0;
  for (const RetainedJournal& journal : locator.retained) {
    if (journal.n != n || journal.first_generation != generation ||
        journal.last_generation < generation || journal.sequence == 0) {
      return false;
    }
    ++n;
    generation = journal.last_generation;
  }
  return n == locator.active;
}

// A document of a later version is signed under another domain, so its schema is looked at first.
bool IsLaterVersion(std::string_view text) {
  const auto document = ParseJson(text, kMaxLocatorBytes);
  const std::string* schema =
      document && document->is_object() ? TextMember(*document, "schema") : nullptr;
  return schema && schema->starts_with(kFamily) && *schema != kDomain;
}

}  // namespace

std::uint64_t Locator::BaseGeneration() const {
  if (!retained.empty()) {
    return retained.back().last_generation;
  }
  return archived ? archived->last_generation : 0;
}

Result<std::string> EncodeLocator(const Locator& locator, const Key& repository_key,
                                  const std::string& repository_id) {
  Json document = Json::object();
  document["schema"] = kDomain;
  document["store"] = locator.store;
  if (locator.epoch != 0) {
    document["epoch"] = locator.epoch;
  }
  document["active"] = locator.active;
  document["active_log_id"] =
      locator.active == 0 ? Json(nullptr) : Json(ToHex(locator.active_log_id));
  document["prepared"] = locator.prepared ? Json(locator.active + 1) : Json(nullptr);
  document["retained"] = Json::array();
  for (const RetainedJournal& journal : locator.retained) {
    document["retained"].push_back(RetainedDocument(journal));
  }
  document["archived"] = nullptr;
  if (locator.archived) {
    Json archived = Json::object();
    archived["through"] = locator.archived->through;
    archived["last_generation"] = locator.archived->last_generation;
    archived["mac"] = ToHex(locator.archived->mac);
    document["archived"] = std::move(archived);
  }
  return SignDocument(std::move(document), repository_key, kDomain, repository_id);
}

std::uint32_t EpochOfLocator(std::string_view text) {
  const auto document = ParseJson(text, kMaxLocatorBytes);
  const auto epoch =
      document && document->is_object() ? UintMember(*document, "epoch") : std::nullopt;
  return epoch && *epoch <= UINT32_MAX ? static_cast<std::uint32_t>(*epoch) : 0;
}

Result<Locator> DecodeLocator(std::string_view text, const std::string& store,
                              const Key& repository_key, const std::string& repository_id) {
  auto document = VerifyDocument(text, kMaxLocatorBytes, repository_key, kDomain, repository_id);
  if (!document) {
    if (IsLaterVersion(text)) {
      return Fail(Code::kUnsupported, "the locator of store '" + store + "' has a later version",
                  "use the git maco that wrote it, or a later one");
    }
    return Fail(Bad(store, document.error().message));
  }
  const std::string* schema = TextMember(*document, "schema");
  const std::string* name = TextMember(*document, "store");
  const auto epoch = UintMember(*document, "epoch");
  const std::size_t members = document->contains("epoch") ? kMembers + 1 : kMembers;
  const bool is_epoch =
      !document->contains("epoch") || (epoch && *epoch > 0 && *epoch <= UINT32_MAX);
  if (!schema || *schema != kDomain || !name || document->size() != members || !is_epoch) {
    return Fail(Bad(store, "it has not the members of one"));
  }
  if (*name != store) {
    return Fail(Bad(store, "it belongs to store '" + EscapeControl(*name) + "'"));
  }
  Locator locator;
  locator.store = store;
  locator.epoch = static_cast<std::uint32_t>(epoch.value_or(0));
  if (!TakeActive(*document, locator) || !TakeAllRetained(*document, locator) ||
      !TakeArchived(*document, locator) || !KeepsRules(locator)) {
    return Fail(Bad(store, "it breaks a rule of its format"));
  }
  return locator;
}

}  // namespace maco
