// Asking, listing page by page, sending once, and judging answers.
// Contract: maco-effect/forge/forge_transport.h, maco-effect/transport.h.
#include "maco-effect/forge/forge_transport.h"

#include <algorithm>
#include <optional>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/foreign_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "maco-effect/forge/answers.h"
#include "maco-effect/forge/dialect.h"
#include "maco-effect/forge/http.h"
#include "maco-effect/forge/pace.h"
#include "maco-effect/forge/sieve.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

constexpr unsigned kMaxPages = 100;
constexpr char kOtherRepository[] = "another repository has the name now";

class ForgeTransport : public Transport {
 public:
  ForgeTransport(const StateRoot& state, ForgeSettings settings)
      : state_(state), settings_(std::move(settings)), dialect_(MakeDialect(settings_.transport)) {
    limits_.total = settings_.timeout;
    limits_.connect = std::min(limits_.connect, settings_.timeout);
    limits_.ca_file = settings_.ca_file;
  }

  Result<Before> Prepare(Request& request, const Effect& effect) override {
    Answer actor;
    MACO_ASSIGN(actor, Get(dialect_->ActorPath()));
    MACO_ASSIGN(account_, dialect_->ReadActor(actor.json));
    ForgeRepository repository;
    MACO_ASSIGN(repository, GetRepository(request.repository));
    if (Lower(repository.path) != Lower(RepositoryPath(request))) {
      return Fail(Code::kRefused,
                  "'" + RepositoryPath(request) + "' is called '" + EscapeControl(repository.path) +
                      "' now",
                  "name it so: git remote set-url, or --repository");
    }
    MACO_TRY(TakeLabels(request));
    Effect probe = effect;
    probe.actor_id = account_->id;
    probe.since_us = 0;  // from the beginning: our own state may be older than what was sent
    Found found;
    MACO_ASSIGN(found, Find(request, probe));
    if (!found.ours.empty() || !found.odd.empty()) {
      return Fail(Code::kRefused,
                  "the forge has something with the marker of this effect already: " +
                      (found.ours.empty() ? found.odd.front() : found.ours.front().url),
                  "if that is another one, send this with --action NAME");
    }
    // The wait for our turn comes before "started": whoever is killed in it has sent nothing.
    auto pace = Pace::Take(state_, OriginOf(settings_.api));
    if (!pace) {
      return Fail(std::move(pace).error());
    }
    pace_.emplace(*std::move(pace));
    return Before{account_->id, repository.id, actor.date_us};
  }

  Outcome Send(const Request& request, const Effect& effect) override {
    const auto text =
        Canonicalize(dialect_->CreateBody(request, MarkedBody(request, effect.marker), labels_));
    const auto token = TokenText();
    if (!text || !token) {
      const Error& error = !text ? text.error() : token.error();
      return {Outcome::Kind::kNotApplied, {}, Describe(error), 0};
    }
    HttpRequest http{"POST", settings_.api + dialect_->CreatePath(request),
                     dialect_->Headers(**token), *text};
    http.headers.emplace_back("Content-Type: application/json");
    const auto result = Exchange(http, limits_);
    if (pace_) {
      pace_->Sent();
      pace_.reset();
    }
    if (!result) {
      return {Outcome::Kind::kNotApplied, {}, Describe(result.error()), 0};
    }
    if (!result->whole) {
      return {result->failure.sent ? Outcome::Kind::kUnknown : Outcome::Kind::kNotApplied,
              {},
              "no answer from " + settings_.host + ": " + result->failure.reason,
              0};
    }
    return Judge(request, effect, result->response);
  }

  Result<Found> Find(const Request& request, const Effect& effect) override {
    return Search(request, effect, false);
  }

  Result<Found> FindWithRival(const Request& request, const Effect& effect) override {
    return Search(request, effect, true);
  }

  Result<Look> Fetch(const Effect& effect) override {
    bool redirected = false;
    auto answer = GetFollowing(dialect_->ItemPath(effect), redirected);
    if (!answer) {
      return Fail(std::move(answer).error());
    }
    if (IsGone(answer->status)) {
      // A repository that we cannot see answers the same.
      ForgeRepository repository;
      MACO_ASSIGN(repository, GetRepository(effect.repository));
      return repository.id == effect.repository_id ? Look{Look::Kind::kGone, "it was deleted"}
                                                   : Look{Look::Kind::kChanged, kOtherRepository};
    }
    if (!dialect_->Belongs(effect.operation, answer->json)) {
      return Look{Look::Kind::kChanged, "it is no " + effect.operation + " any more"};
    }
    Item item;
    MACO_ASSIGN(item, dialect_->ReadItem(effect.operation, effect.receipt.number, answer->json));
    std::string changed;
    MACO_ASSIGN(changed, Elsewhere(effect, item, redirected));
    if (changed.empty()) {
      changed = Differs(item, effect);
    }
    if (!changed.empty()) {
      return Look{Look::Kind::kChanged, changed};
    }
    const bool same = item.state == "open" || item.state == "there";
    return Look{same && !redirected ? Look::Kind::kSame : Look::Kind::kLater,
                item.state + (redirected ? ", the repository was renamed" : "")};
  }

 private:
  Result<const std::string*> TokenText() {
    if (!token_) {
      auto token = FetchToken(settings_.token, settings_.host);
      if (!token) {
        return Fail(std::move(token).error());
      }
      token_.emplace(*std::move(token));
    }
    return &token_->text();
  }

  Result<void> KnowAccount() {
    if (!account_) {
      Answer actor;
      MACO_ASSIGN(actor, Get(dialect_->ActorPath()));
      MACO_ASSIGN(account_, dialect_->ReadActor(actor.json));
    }
    return {};
  }

  // One GET; an answer of any status. Errors: kIo, kTimeout, kInvalid.
  Result<HttpResponse> Ask(const std::string& url) {
    const std::string* token = nullptr;
    MACO_ASSIGN(token, TokenText());
    HttpResult result;
    MACO_ASSIGN(result, Exchange({"GET", url, dialect_->Headers(*token), ""}, limits_));
    if (!result.whole) {
      return Fail(Code::kIo, "no answer from " + settings_.host + ": " + result.failure.reason,
                  "try again");
    }
    return std::move(result.response);
  }

  // A redirect leads to the same forge or nowhere: the token goes to no other.
  Result<Answer> GetFollowing(const std::string& path, bool& redirected) {
    std::string url = settings_.api + path;
    HttpResponse response;
    MACO_ASSIGN(response, Ask(url));
    if (IsRedirect(response.status)) {
      std::string next = response.headers["location"];
      if (next.starts_with('/') && !next.starts_with("//")) {
        next.insert(0, OriginOf(url));
      }
      if (OriginOf(next) != OriginOf(url)) {
        return Fail(Code::kRefused, "the forge leads elsewhere: " + ShownUrl(next));
      }
      redirected = true;
      MACO_ASSIGN(response, Ask(next));
    }
    if (!IsGood(response.status) && !IsGone(response.status)) {
      return Fail(RefusalOf(settings_.host, response));
    }
    return ReadAnswer(response, IsGood(response.status));
  }

  Result<Answer> Get(const std::string& path) {
    bool redirected = false;
    auto answer = GetFollowing(path, redirected);
    if (answer && !IsGood(answer->status)) {
      return Fail(Code::kNotFound,
                  settings_.host + " has no '" + path.substr(0, path.find('?')) +
                      "', or does not show it to us",
                  "check the name, and what the token may do");
    }
    return answer;
  }

  Result<ForgeRepository> GetRepository(const std::string& repository) {
    const std::string path = repository.substr(repository.find('/') + 1);
    Answer answer;
    MACO_ASSIGN(answer, Get(dialect_->RepositoryPathOf(path)));
    return dialect_->ReadRepository(answer.json);
  }

  // Page by page. Where the list descends by time, what follows an old row is older still; `rivals`
  // may be of any age.
  Result<Found> Search(const Request& request, const Effect& effect, bool rivals) {
    MACO_TRY(KnowAccount());
    if (account_->id != effect.actor_id) {
      return Fail(Code::kRefused,
                  "the token is now one of '" + EscapeControl(account_->name) +
                      "', who did not send effect " + effect.id,
                  "look with a token of account " + effect.actor_id);
    }
    ListQuery query;
    query.actor_name = account_->name;
    const std::string path = RepositoryPath(request);
    query.owner = path.substr(0, path.find('/'));
    query.since_us = effect.since_us > kClockSlack ? effect.since_us - kClockSlack : 0;
    Sieve sieve(*dialect_, request, effect);
    for (query.page = 1;; ++query.page) {
      Answer page;
      MACO_ASSIGN(page, Get(dialect_->ListPath(request, query)));
      if (!page.json.is_array()) {
        return Fail(BadAnswer("list"));
      }
      for (const auto& row : page.json) {
        sieve.Take(row);
      }
      const bool past = IsPast(request, query, page.json);
      if (!page.more || !dialect_->paged(request) || (past && !rivals)) {
        return sieve.found();
      }
      if (query.page == kMaxPages && (past || effect.since_us == 0)) {
        return sieve.found();  // hardly older than that
      }
      if (query.page == kMaxPages) {
        return Fail(Code::kLimit, "the list has more than " + std::to_string(kMaxPages) + " pages");
      }
    }
  }

  // Whether everything after that page is older than what is looked for.
  bool IsPast(const Request& request, const ListQuery& query, const Json& page) const {
    const std::uint64_t time = page.empty() ? 0 : dialect_->DescendingTime(request, page.back());
    return time != 0 && time < query.since_us;
  }

  // Why what was fetched is not in the effect's place; empty if it is. A redirect is that of a
  // renamed repository, or that of one item which was moved to another repository.
  Result<std::string> Elsewhere(const Effect& effect, const Item& item, bool redirected) {
    constexpr char kMoved[] = "it was moved to another repository";
    if (item.receipt.id != effect.receipt.id) {
      return kMoved + std::string(", as ") + item.receipt.id;
    }
    if (!item.repository_id.empty() && item.repository_id != effect.repository_id) {
      return redirected ? kMoved : kOtherRepository;
    }
    if (!redirected) {
      return std::string();
    }
    ForgeRepository repository;
    MACO_ASSIGN(repository, GetRepository(effect.repository));
    if (repository.id != effect.repository_id) {
      return kOtherRepository;
    }
    const bool there =
        item.repository_path.empty() || Lower(item.repository_path) == Lower(repository.path);
    return there ? std::string() : kMoved;
  }

  Result<void> TakeLabels(const Request& request) {
    labels_.clear();
    const std::string path = dialect_->LabelPath(request);
    if (path.empty() || request.labels.empty()) {
      return {};
    }
    std::map<std::string, std::uint64_t> known;
    for (unsigned page = 1; page <= kMaxPages; ++page) {
      Answer answer;
      MACO_ASSIGN(answer, Get(path + std::to_string(page)));
      for (const auto& row : answer.json) {
        std::uint64_t id = 0;
        MACO_ASSIGN(id, NumberOf(row, "id"));
        known[OptionalText(row, "name")] = id;
      }
      if (!answer.more) {
        break;
      }
    }
    for (const auto& label : request.labels) {
      const auto id = known.find(label);
      if (id == known.end()) {
        return Fail(Code::kRefused, "there is no label '" + EscapeControl(label) + "'",
                    "make it in the forge first");
      }
      labels_.push_back(id->second);
    }
    return {};
  }

  Outcome Judge(const Request& request, const Effect& effect, const HttpResponse& response) {
    if (IsGood(response.status)) {
      const auto answer = ReadAnswer(response, true);
      auto item = answer ? dialect_->ReadItem(request.operation, request.number, answer->json)
                         : Result<Item>(Fail(answer.error()));
      if (!item) {
        return {Outcome::Kind::kUnknown, {}, Describe(item.error()), 0};
      }
      const std::string odd = Differs(*item, effect);
      if (!odd.empty()) {
        return {
            Outcome::Kind::kUnknown, {}, "the forge made " + item->receipt.id + ", but " + odd, 0};
      }
      return {Outcome::Kind::kApplied, Bounded(item->receipt), "", 0};
    }
    const std::string words = Describe(RefusalOf(settings_.host, response));
    if (request.operation == "pr" && dialect_->SaysExists(response.status, response.body)) {
      return {Outcome::Kind::kExists, {}, words, 0};
    }
    if (!IsDefiniteNo(response.status)) {
      return {Outcome::Kind::kUnknown, {}, words, 0};
    }
    return {Outcome::Kind::kNotApplied, {}, words, WaitUntil(response, WallMicros())};
  }

  const StateRoot& state_;
  ForgeSettings settings_;
  std::unique_ptr<Dialect> dialect_;
  HttpLimits limits_;
  std::optional<Token> token_;
  std::optional<Account> account_;
  std::vector<std::uint64_t> labels_;
  std::optional<Pace> pace_;  // our turn, from Prepare to Send
};

}  // namespace

std::unique_ptr<Transport> MakeForgeTransport(const StateRoot& state, ForgeSettings settings) {
  return std::make_unique<ForgeTransport>(state, std::move(settings));
}

Result<Json> ShowRequest(const Request& request, const std::string& marker) {
  const auto dialect = MakeDialect(request.transport);
  if (!dialect) {
    return Json{{"url", request.repository},
                {"refspec", request.oid + ":" + request.ref},
                {"expected", request.expected.empty() ? Json(nullptr) : Json(request.expected)}};
  }
  return Json{{"method", "POST"},
              {"url", request.api + dialect->CreatePath(request)},
              {"body", dialect->CreateBody(request, MarkedBody(request, marker), {})},
              {"labels", request.labels}};
}

}  // namespace maco::effect
