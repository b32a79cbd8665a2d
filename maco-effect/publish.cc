// `push`, `pr`, `issue`, `comment`, `send`: from options to a request, and on its way.
#include <unistd.h>

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/os/bounded_read.h"
#include "maco-effect/git_transport.h"
#include "maco-effect/lane_payload.h"
#include "maco-effect/place.h"
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

Result<std::string> FullRef(const std::string& name) {
  const std::string ref = name.starts_with("refs/") ? name : kBranches + name;
  if (name.empty() || EscapeControl(ref) != ref ||
      ref.find_first_of(" ~^:?*[\\") != std::string::npos || ref.find("..") != std::string::npos ||
      ref.find("//") != std::string::npos || ref.ends_with('/') || ref.ends_with(".lock")) {
    return Fail(Code::kInvalid, "'" + EscapeControl(name) + "' is no name of a ref");
  }
  return ref;
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
  out.head = options.head;
  out.base = options.base;
  out.draft = options.draft;
  if (lane != nullptr) {
    out.candidate = lane->candidate;
    out.evidence = lane->evidence;
    out.head = out.head.empty() ? lane->branch : out.head;
    out.title = out.title.empty() ? lane->title : out.title;
    out.body = out.body.empty() ? lane->body : out.body;
    if (out.base.empty()) {
      MACO_ASSIGN(out.base, DefaultBase(place, RemoteOf(options)));
    }
  }
  return out;
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
    if (from != nullptr && options.head.empty()) {
      Request push;
      MACO_ASSIGN(push, PushRequest(place, options, from));
      work.requests.push_back(std::move(push));
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

Result<int> PrintPlan(const Effect& plan, const Request& request, bool json) {
  Json shown;
  MACO_ASSIGN(shown, ShowRequest(request, plan.marker));
  if (json) {
    MACO_TRY(PrintDocument("maco.effect-request/1", {{"id", plan.id},
                                                     {"operation", plan.operation},
                                                     {"transport", plan.transport},
                                                     {"repository", plan.repository},
                                                     {"action", plan.action},
                                                     {"candidate", plan.candidate},
                                                     {"evidence", plan.evidence},
                                                     {"request", std::move(shown)}}));
    return kExitOk;
  }
  std::string text;
  MACO_ASSIGN(text, Canonicalize(shown));
  MACO_TRY(Print("would send effect " + plan.id + " of action " + EscapeControl(plan.action) +
                 "\n" + EscapeControl(text) + "\n"));
  return kExitOk;
}

// A refusal before anything was sent is a "no", whatever the cause: the caller may try again.
Result<int> NotSent(const Error& error) {
  if (error.code == Code::kCorrupt || error.code == Code::kTornTail ||
      error.code == Code::kInternal || error.code == Code::kPermission) {
    return Fail(error);
  }
  Report(kTool, error);
  return kExitNo;
}

Result<int> SendOne(const Place& place, const StateRoot& state, const Request& request,
                    const Effect& plan, const Options& options) {
  auto transport =
      TransportOf(place, state, request.transport, request.repository, request.candidate);
  if (!transport) {
    return NotSent(transport.error());
  }
  const Sending sending{&state, transport->get(), std::chrono::seconds(options.settle_seconds)};
  const auto effect = SendEffect(sending, request, plan);
  return effect ? Answer(state, *effect, options.json) : NotSent(effect.error());
}

}  // namespace

Result<int> Publish(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, options.dry_run ? Access::kRead : Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  Work work;
  MACO_ASSIGN(work, WorkOf(place, *state, options));
  for (auto& request : work.requests) {
    const Effect plan = PlanOf(request, state->key(), state->repository_id());
    int status = kExitOk;
    if (options.dry_run) {
      MACO_ASSIGN(status, PrintPlan(plan, request, options.json));
    } else if (options.plan) {
      const auto recorded = RecordPlan(*state, request, plan);
      if (!recorded) {
        return NotSent(recorded.error());
      }
      MACO_TRY(Answer(*state, *recorded, options.json));
    } else {
      MACO_ASSIGN(status, SendOne(place, *state, request, plan, options));
    }
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
  if (options.dry_run) {
    return PrintPlan(effect, request, options.json);
  }
  return SendOne(place, *state, request, effect, options);
}

}  // namespace maco::effect
