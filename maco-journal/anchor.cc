// `git maco journal anchor push|check`: the ends of all journals on a Git remote, advanced by
// compare-and-swap, so that a state root that was put back is noticed (JRN-09).
// Contract: git-maco-journal(1), docs/formats/anchor.md.
#include <fcntl.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"
#include "maco-journal/anchor_document.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

constexpr char kFileName[] = "anchor";
constexpr char kAnchored[] = "anchored";
constexpr char kLockName[] = "lock";
constexpr std::size_t kMaxLeftovers = 4096;

// The anchor that a remote holds.
struct RemoteAnchor {
  std::string commit;  // oid; empty if there is none
  AnchorDocument document;
};

class Remote {
 public:
  static Result<Remote> Open(const StateRoot& state, const Place& place, const std::string& name) {
    std::string url;
    const std::string& top = place.repository.worktree;
    MACO_ASSIGN(url, RemoteUrl(name, top.empty() ? place.repository.git_dir : top));
    std::string format;
    MACO_ASSIGN(format, ObjectFormat(place.repository.git_dir));
    Directory temporary;
    MACO_ASSIGN(temporary, state.dir().OpenOrCreate("tmp", 0700));
    UniqueFd lock;
    MACO_ASSIGN(lock, OfdLock::OpenLocked(temporary, kLockName, O_RDWR | O_CREAT | O_NONBLOCK, 0600,
                                          false));
    MACO_TRY(RemoveLeftovers(temporary));
    auto git = PrivateRepository::Create(temporary, format);
    if (!git) {
      return Fail(std::move(git).error());
    }
    return Remote(std::move(lock), *std::move(git), std::move(url),
                  "refs/maco/anchor/" + state.repository_id());
  }

  std::string url() const { return WithoutCredentials(url_); }

  Result<RemoteAnchor> Fetch(const StateRoot& state) const {
    RemoteAnchor out;
    SpawnResult listed;
    MACO_ASSIGN(listed, git_.Run({"ls-remote", "--refs", "--", url_, ref_}));
    if (listed.signal != 0 || listed.exit_status != 0) {
      return Fail(Code::kIo, "cannot ask '" + url() + "': " + FirstLine(listed.error_output),
                  "check the remote and the network");
    }
    if (listed.output.empty()) {
      return out;
    }
    out.commit = listed.output.substr(0, listed.output.find('\t'));
    MACO_TRY(git_.Ask({"-c", "transfer.fsckObjects=true", "fetch", "-q", "--no-tags", "--depth=1",
                       "--", url_, ref_ + ":" + ref_}));
    std::string fetched;
    MACO_ASSIGN(fetched, git_.Ask({"rev-parse", "--verify", ref_}));
    if (fetched != out.commit) {
      return Fail(Code::kBusy, "the anchor on '" + url() + "' was changed meanwhile", "try again");
    }
    SpawnResult text;
    MACO_ASSIGN(text, git_.Run({"cat-file", "blob", out.commit + ":" + kFileName}));
    MACO_ASSIGN(out.document, DecodeAnchor(state, text.output));
    return out;
  }

  // Returns the new commit's oid.
  Result<std::string> Push(const std::string& text, const RemoteAnchor& before) const {
    Directory directory;
    MACO_ASSIGN(directory, Directory::OpenPath(git_.path()));
    MACO_TRY(WriteAtomically(directory, kFileName, AsBytes(text)));
    std::string blob;
    MACO_ASSIGN(blob, git_.Ask({"hash-object", "-w", "--", git_.path() + "/" + kFileName}));
    MACO_TRY(
        git_.Ask({"update-index", "--add", "--cacheinfo", "100644," + blob + "," + kFileName}));
    std::string tree;
    MACO_ASSIGN(tree, git_.Ask({"write-tree"}));
    std::vector<std::string> arguments = {"commit-tree", "-m", "maco anchor"};
    if (!before.commit.empty()) {
      arguments.insert(arguments.end(), {"-p", before.commit});
    }
    arguments.push_back(tree);
    std::string commit;
    MACO_ASSIGN(commit, git_.Ask(std::move(arguments)));
    SpawnResult pushed;
    MACO_ASSIGN(pushed, git_.Run({"push", "-q", "--no-verify", "--atomic",
                                  "--force-with-lease=" + ref_ + ":" + before.commit, "--", url_,
                                  commit + ":" + ref_}));
    if (pushed.signal != 0 || pushed.exit_status != 0) {
      return Fail(Code::kBusy,
                  "the anchor was not taken by '" + url() + "': " + FirstLine(pushed.error_output),
                  "another one may have been pushed meanwhile: try again");
    }
    return commit;
  }

 private:
  // What a killed one left; the lock is held, so nobody uses it.
  static Result<void> RemoveLeftovers(const Directory& temporary) {
    std::vector<std::string> names;
    MACO_ASSIGN(names, temporary.List(kMaxLeftovers));
    for (const auto& name : names) {
      if (name != kLockName) {
        std::error_code ignored;  // one that cannot be removed is in nobody's way
        std::filesystem::remove_all("/proc/self/fd/" + std::to_string(temporary.fd()) + "/" + name,
                                    ignored);
      }
    }
    return {};
  }

  Remote(UniqueFd lock, PrivateRepository git, std::string url, std::string ref)
      : lock_(std::move(lock)), git_(std::move(git)), url_(std::move(url)), ref_(std::move(ref)) {}

  UniqueFd lock_;  // given up after the repository is removed
  PrivateRepository git_;
  std::string url_;
  std::string ref_;
};

// The number of the last anchor that was pushed to this place, by the audit journals; 0 if none.
Result<std::uint64_t> LastPushed(const StateRoot& state, const std::string& url) {
  std::uint64_t number = 0;
  for (std::uint32_t epoch = 0; epoch <= state.epoch(); ++epoch) {
    auto reader = OpenForReading(state, Journal::OfAudit(epoch));
    if (!reader && reader.error().code == Code::kNotFound) {
      continue;
    }
    if (!reader) {
      return Fail(std::move(reader).error());
    }
    for (;;) {
      std::optional<LogEntry> entry;
      MACO_ASSIGN(entry, reader->Next());
      if (!entry) {
        break;
      }
      Json event;
      MACO_ASSIGN(event, ParseEvent(entry->payload, entry->sequence));
      if (EventText(event, "event") == kAnchored && EventText(event, "remote") == url) {
        number = EventUint(event, "number");
      }
    }
  }
  return number;
}

struct Comparison {
  RemoteAnchor anchor;
  std::vector<std::string> losses;
};

Result<Comparison> Compare(const StateRoot& state, const Remote& remote) {
  Comparison out;
  MACO_ASSIGN(out.anchor, remote.Fetch(state));
  std::uint64_t pushed = 0;
  MACO_ASSIGN(pushed, LastPushed(state, EscapeControl(remote.url())));
  const std::uint64_t there = out.anchor.commit.empty() ? 0 : out.anchor.document.number;
  if (there < pushed) {
    out.losses.push_back("the remote has anchor " + std::to_string(there) + ", but anchor " +
                         std::to_string(pushed) + " was pushed to it");
  }
  if (there != 0) {
    std::vector<std::string> lost;
    MACO_ASSIGN(lost, LostSince(state, out.anchor.document));
    out.losses.insert(out.losses.end(), lost.begin(), lost.end());
  }
  return out;
}

Result<int> Answer(const Options& options, const Comparison& comparison, const std::string& words) {
  if (options.json) {
    Json losses = Json::array();
    for (const auto& loss : comparison.losses) {
      losses.push_back(EscapeControl(loss));
    }
    const bool none = comparison.anchor.commit.empty();
    MACO_TRY(PrintDocument("maco.anchor-report/1",
                           {{"commit", none ? Json(nullptr) : Json(comparison.anchor.commit)},
                            {"number", none ? 0 : comparison.anchor.document.number},
                            {"time_us", comparison.anchor.document.time_us},
                            {"journals", comparison.anchor.document.journals.size()},
                            {"ok", comparison.losses.empty() && !none},
                            {"losses", std::move(losses)}}));
  } else {
    std::string text;
    for (const auto& loss : comparison.losses) {
      text += "LOST: " + EscapeControl(loss) + "\n";
    }
    MACO_TRY(Print(text + words));
  }
  return comparison.losses.empty() && !comparison.anchor.commit.empty() ? kExitOk : kExitNo;
}

Result<int> Check(const Options& options, const Comparison& comparison) {
  if (comparison.anchor.commit.empty() && comparison.losses.empty()) {
    return Answer(options, comparison, "the remote holds no anchor; push one\n");
  }
  const std::string which = "anchor " + std::to_string(comparison.anchor.document.number) + " of " +
                            UtcTime(comparison.anchor.document.time_us);
  return Answer(options, comparison,
                comparison.losses.empty()
                    ? which + ": everything that it names is there\n"
                    : which + ": the state was put back to an older one, or lost journals\n" +
                          "    fix: find out who did; restore 'maco' in the Git directory from a "
                          "backup\n");
}

}  // namespace

Result<int> Anchor(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = StateRoot::Open(place.common_dir, IfMoved::kRefuse, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  auto remote = Remote::Open(*state, place, options.names[1]);
  if (!remote) {
    return Fail(std::move(remote).error());
  }
  Comparison comparison;
  MACO_ASSIGN(comparison, Compare(*state, *remote));
  if (options.names[0] == "check" || !comparison.losses.empty()) {
    return Check(options, comparison);
  }
  AnchorDocument next;
  MACO_ASSIGN(next, PresentAnchor(*state));
  next.number = comparison.anchor.commit.empty() ? 1 : comparison.anchor.document.number + 1;
  if (options.dry_run) {
    MACO_TRY(Print("would push anchor " + std::to_string(next.number) + " of " +
                   std::to_string(next.journals.size()) + " journals to " +
                   EscapeControl(remote->url()) + "\n"));
    return kExitOk;
  }
  std::string text;
  MACO_ASSIGN(text, EncodeAnchor(*state, next));
  std::string commit;
  MACO_ASSIGN(commit, remote->Push(text, comparison.anchor));
  MACO_TRY(Audit(*state, {{"event", kAnchored},
                          {"remote", EscapeControl(remote->url())},
                          {"number", next.number},
                          {"commit", commit}}));
  comparison.anchor = {commit, std::move(next)};
  return Answer(options, comparison,
                "anchor " + std::to_string(comparison.anchor.document.number) + " of " +
                    std::to_string(comparison.anchor.document.journals.size()) +
                    " journals pushed to " + EscapeControl(remote->url()) + "\n");
}

}  // namespace maco::journal
