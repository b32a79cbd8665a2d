// `push`, `pr`, `issue`, `comment`, `send`: from options to a request, and on its way.
#include <strings.h>
#include <unistd.h>

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/os/bounded_read.h"
#include "maco-effect/git_transport.h"
#include "maco-effect/lane_payload.h"
#include "maco-effect/place.h"
#include "maco-effect/ref_name.h"
#include "maco-effect/send.h"
#include "maco-effect/verbs.h"
#include "maco-effect/view.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxInput = kMaxJsonBytes;
constexpr char kDefaultRemote[] = "origin";
constexpr char kBranches[] = "refs/heads/";

Result<std::string> ReadInput(const std::string& file) {
  return file == "-" ? ReadAll(STDIN_FILENO, kMaxInput) : ReadPath(file, kMaxInput);
}

Result<std::string> BodyOf(const Options& options) {
  return options.body_file.empty() ? Result<std::string>(options.body)
                                   : ReadInput(options.body_file);
}

bool IsOid(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string RemoteOf(const Options& options) {
  return options.remote.empty() ? kDefaultRemote : options.remote;
}

Result<std::string> UrlOf(const Place& place, const std::string& remote) {
  return RemoteUrlOf(place.settings, remote, place.top());
}

// The branch that the remote shows as its own, else the one that is checked out.
Result<std::string> DefaultBase(const Place& place, const std::string& remote) {
  const std::string prefix = "refs/remotes/" + remote + "/";
  const auto head = AskGit(place.repository.common_dir, {"symbolic-ref", "-q", prefix + "HEAD"});
  if (head && head->starts_with(prefix)) {
    return head->substr(prefix.size());
  }
  const auto here = AskGit(place.repository.common_dir, {"symbolic-ref", "-q", "HEAD"});
  if (here && here->starts_with(kBranches)) {
    return here->substr(std::string_view(kBranches).size());
  }
  return Fail(Code::kUsage, "it is not known which branch the pull request is for",
              "say it with --base BRANCH");
}

Result<Request> ForgeRequest(const Place& place, const Options& options,
                             const std::string& operation) {
  Request out;
  out.operation = operation;
  std::string url = options.repository;
  if (url.empty()) {
    MACO_ASSIGN(url, UrlOf(place, RemoteOf(options)));
  }
  MACO_ASSIGN(out.repository, ForgeRepositoryOf(url));
  ForgeSettings settings;
  MACO_ASSIGN(settings, ForgeOf(place, out.repository));
  out.transport = settings.transport;
  out.api = settings.api;
  out.action = options.action;
  out.title = options.title;
  MACO_ASSIGN(out.body, BodyOf(options));
  out.labels = options.labels;
  return out;
}

// What is to be done, in order: a lane's pull request needs its branch first.
struct Work {
  std::vector<Request> requests;
};

Result<Request> PushRequest(const Place& place, const Options& options, const LanePayload* lane) {
  Request out;
  out.operation = "push";
  out.transport = kGitTransport;
  out.action = options.action;
  out.expected = options.expect;
  const bool is_pr = options.verb == Verb::kPullRequest;
  MACO_ASSIGN(out.repository, UrlOf(place, is_pr ? RemoteOf(options) : options.names.front()));
  MACO_TRY(CheckPushUrl(out.repository));
  std::string refspec = !is_pr && options.names.size() > 1 ? options.names[1] : "";
  if (lane != nullptr) {
    if (!refspec.empty() && !refspec.starts_with(':')) {
      return Fail(Code::kUsage, "with --from the source is the candidate: give :DST alone");
    }
    out.oid = lane->commit;
    out.candidate = lane->candidate;
    out.evidence = lane->evidence;
    MACO_ASSIGN(out.ref, FullRef(refspec.empty() ? lane->branch : refspec.substr(1)));
    return out;
  }
  const std::size_t colon = refspec.find(':');
  const std::string source = refspec.substr(0, colon);
  if (colon == std::string::npos || source.empty() || source.starts_with('-') ||
      source.starts_with('+')) {
    return Fail(Code::kUsage, "'" + EscapeControl(refspec) + "' is not SRC:DST",
                "refs are not deleted or forced here; --expect OID replaces what is there");
  }
  auto oid = AskGit(place.repository.git_dir,
                    {"rev-parse", "--verify", "--end-of-options", source + "^{object}"});
  if (!oid || !IsOid(*oid)) {
    return Fail(Code::kNotFound, "there is no '" + EscapeControl(source) + "' to push");
  }
  out.oid = *std::move(oid);
  MACO_ASSIGN(out.ref, FullRef(refspec.substr(colon + 1)));
  return out;
}

Result<Request> PullRequest(const Place& place, const Options& options, const LanePayload* lane) {
  Request out;
  MACO_ASSIGN(out, ForgeRequest(place, options, "pr"));
  out.head = lane != nullptr ? lane->branch : options.head;
  out.base = options.base;
  out.draft = options.draft;
  if (lane != nullptr) {
    out.candidate = lane->candidate;
    out.evidence = lane->evidence;
    out.title = out.title.empty() ? lane->title : out.title;
    out.body = out.body.empty() ? lane->body : out.body;
    if (out.base.empty()) {
      MACO_ASSIGN(out.base, DefaultBase(place, RemoteOf(options)));
    }
  }
  return out;
}

// "HOST[:PORT]/OWNER/NAME" without the port: that of ssh is another than that of the API.
std::string WithoutPort(const std::string& repository) {
  const std::size_t slash = repository.find('/');
  const std::size_t colon = repository.find(':');
  return colon < slash ? repository.substr(0, colon) + repository.substr(slash) : repository;
}

// Of a lane's pull request: its branch must be where the pull request is opened. A remote of
// another host may be an alias of it; a remote of the same host names a repository that is or is
// not it.
Result<void> CheckSameRepository(const std::string& pushed, const std::string& repository) {
  const auto found = ForgeRepositoryOf(pushed);
  if (!found) {
    return {};
  }
  const std::string there = WithoutPort(*found);
  const std::string here = WithoutPort(repository);
  const std::size_t host = there.find('/') + 1;
  if (here.compare(0, host, there, 0, host) == 0 && strcasecmp(there.c_str(), here.c_str()) != 0) {
    return Fail(Code::kUsage,
                "the branch would be pushed to '" + EscapeControl(*found) +
                    "', and the pull request opened in '" + EscapeControl(repository) + "'",
                "name the remote of that repository with --remote");
  }
  return {};
}

Result<Work> WorkOf(const Place& place, const StateRoot& state, const Options& options) {
  std::optional<LanePayload> lane;
  if (!options.from.empty()) {
    std::string text;
    MACO_ASSIGN(text, ReadInput(options.from));
    MACO_ASSIGN(lane, TakeLane(place, state, text));
  }
  const LanePayload* from = lane ? &*lane : nullptr;
  Work work;
  Request request;
  if (options.verb == Verb::kPush) {
    MACO_ASSIGN(request, PushRequest(place, options, from));
  } else if (options.verb == Verb::kPullRequest) {
    if (from != nullptr) {
      Request push;
      MACO_ASSIGN(push, PushRequest(place, options, from));
      work.requests.push_back(std::move(push));
    }
    if (from != nullptr && !options.repository.empty()) {
      std::string repository;
      MACO_ASSIGN(repository, ForgeRepositoryOf(options.repository));
      MACO_TRY(CheckSameRepository(work.requests.front().repository, repository));
    }
    MACO_ASSIGN(request, PullRequest(place, options, from));
  } else {
    MACO_ASSIGN(request,
                ForgeRequest(place, options, options.verb == Verb::kComment ? "comment" : "issue"));
    request.number = options.issue != 0 ? options.issue : options.pr;
    request.on_pr = options.pr != 0;
  }
  if (!request.expected.empty() && request.expected != "none" && !IsOid(request.expected)) {
    return Fail(Code::kUsage, "--expect is a full object id or 'none'");
  }
  work.requests.push_back(std::move(request));
  for (const auto& each : work.requests) {
    MACO_TRY(CheckRequest(each));
  }
  return work;
}

// A request and the row that is on record for it, or will be.
struct Planned {
  Effect effect;
  Request request;
};

// Documents "maco.effect-request/1"; what is sent before the last one is in its member "before".
Result<void> PrintDocuments(const std::vector<Planned>& plans) {
  Json before = Json::array();
  for (const auto& plan : plans) {
    Json shown;
    MACO_ASSIGN(shown, ShowRequest(plan.request, plan.effect.marker));
    Json document = {{"id", plan.effect.id},
                     {"operation", plan.effect.operation},
                     {"transport", plan.effect.transport},
                     {"repository", plan.effect.repository},
                     {"action", plan.effect.action},
                     {"candidate", plan.effect.candidate},
                     {"evidence", plan.effect.evidence},
                     {"request", std::move(shown)}};
    if (&plan != &plans.back()) {
      before.push_back(std::move(document));
      continue;
    }
    document["before"] = std::move(before);
    return PrintDocument("maco.effect-request/1", std::move(document));
  }
  return {};
}

Result<int> PrintPlans(const std::vector<Planned>& plans, bool json) {
  if (json) {
    MACO_TRY(PrintDocuments(plans));
    return kExitOk;
  }
  for (const auto& plan : plans) {
    Json shown;
    MACO_ASSIGN(shown, ShowRequest(plan.request, plan.effect.marker));
    std::string text;
    MACO_ASSIGN(text, Canonicalize(shown));
    MACO_TRY(Print("would send effect " + plan.effect.id + " of action " +
                   EscapeControl(plan.effect.action) + "\n" + EscapeControl(text) + "\n"));
  }
  return kExitOk;
}

// Where one command has several steps it prints one document: that of the last step, or of the one
// that ended it.
Result<int> Tell(const StateRoot& state, const Effect& effect, const Options& options, bool last) {
  const std::string goal = options.plan ? "planned" : "completed";
  const int status = effect.state == goal ? kExitOk : StatusOf(effect);
  return options.json && !last && status == kExitOk ? Result<int>(status)
                                                    : Answer(state, effect, options.json, goal);
}

Result<int> SendOne(const Place& place, const StateRoot& state, const Planned& planned,
                    const Options& options, bool last) {
  auto transport = TransportOf(place, state, planned.effect, planned.request.api);
  if (!transport) {
    return SayNo(transport.error());
  }
  const Sending sending{&state, transport->get(), std::chrono::seconds(options.settle_seconds)};
  const auto effect = SendEffect(sending, planned.request, planned.effect);
  return effect ? Tell(state, *effect, options, last) : SayNo(effect.error());
}

Result<int> PlanOne(const StateRoot& state, const Planned& planned, const Options& options,
                    bool last) {
  const auto effect = RecordPlan(state, planned.request, planned.effect);
  return effect ? Tell(state, *effect, options, last) : SayNo(effect.error());
}

}  // namespace

Result<int> Publish(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, options.dry_run ? Access::kRead : Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  auto work = WorkOf(place, *state, options);
  if (!work) {
    return SayNo(work.error());
  }
  std::vector<Planned> plans;
  for (auto& request : work->requests) {
    Effect plan = PlanOf(request, state->key(), state->repository_id());
    plans.push_back({std::move(plan), std::move(request)});
  }
  if (options.dry_run) {
    return PrintPlans(plans, options.json);
  }
  for (const auto& plan : plans) {
    const bool last = &plan == &plans.back();
    int status = kExitOk;
    MACO_ASSIGN(status, options.plan ? PlanOne(*state, plan, options, last)
                                     : SendOne(place, *state, plan, options, last));
    if (status != kExitOk) {
      return status;
    }
  }
  return kExitOk;
}

Result<int> Send(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, options.dry_run ? Access::kRead : Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*state));
  Effect effect;
  MACO_ASSIGN(effect, table.Choose(options.names.front()));
  const Json* document = table.RequestOf(effect.id);
  if (effect.state != "planned" && effect.state != "failed") {
    return Answer(*state, effect, options.json);
  }
  if (document == nullptr) {
    return Fail(Code::kCorrupt, "the request of effect " + effect.id + " is missing",
                "git maco journal verify store/effects");
  }
  Request request;
  MACO_ASSIGN(request, DecodeRequest(*document));
  const Planned planned{std::move(effect), std::move(request)};
  return options.dry_run ? PrintPlans({planned}, options.json)
                         : SendOne(place, *state, planned, options, true);
}

}  // namespace maco::effect
