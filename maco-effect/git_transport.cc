// ls-remote before, push with a lease, ls-remote after; objects come by a fetch that checks them.
// Contract: maco-effect/git_transport.h.
#include "maco-effect/git_transport.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/effect/effect_log.h"
#include "libcommon/git/private_repository.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

constexpr char kNone[] = "none";
constexpr std::size_t kRefHashDigits = 32;

std::string SourceName(const Request& request) {
  const auto digest = Sha256(AsBytes(request.repository + "\n" + request.ref));
  return ToHex(digest).substr(0, kRefHashDigits);
}

// git holds a lock of a ref for milliseconds; one that a kill left would be there for ever.
void AwaitRefLock(const std::string& path) {
  constexpr std::uint64_t kStale = 3'000'000;
  constexpr std::uint64_t kSecond = 1'000'000;
  struct stat status {};
  while (lstat(path.c_str(), &status) == 0) {
    const auto seconds = static_cast<std::uint64_t>(status.st_mtim.tv_sec);
    const std::uint64_t made = seconds * kSecond;
    if (made > WallMicros() || WallMicros() - made > kStale) {
      unlink(path.c_str());
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::string Reason(const SpawnResult& result) {
  std::string line = FirstLine(result.error_output);
  for (const std::string_view prefix : {"fatal: ", "error: "}) {
    if (line.starts_with(prefix)) {
      line.erase(0, prefix.size());
    }
  }
  return line.empty() ? "git ended with status " + std::to_string(result.exit_status)
                      : EscapeControl(line);
}

// "[remote failure] (remote failed to report status)"; over HTTP an older git writes
// "[remote rejected] (expecting report)" for the same.
bool SaysNothing(const std::string& words) {
  return words.find("[remote failure]") != std::string::npos ||
         words.find("(expecting report)") != std::string::npos;
}

bool Succeeded(const SpawnResult& result) { return result.signal == 0 && result.exit_status == 0; }

class GitTransport : public Transport {
 public:
  GitTransport(const StateRoot& state, PrivateRepository git, std::vector<std::string> sources)
      : state_(state), git_(std::move(git)), sources_(std::move(sources)) {}

  Result<Before> Prepare(Request& request, const Effect& /*effect*/) override {
    MACO_TRY(CheckPushUrl(request.repository));
    // The remote is asked while git copies objects.
    auto asked = std::async(std::launch::async,
                            [&] { return RemoteValue(request.repository, request.ref); });
    const auto taken = TakeObjects(request);
    std::string there;
    auto answer = asked.get();
    MACO_TRY(taken);
    MACO_ASSIGN(there, std::move(answer));
    if (!request.expected.empty()) {
      const std::string wanted = request.expected == kNone ? "" : request.expected;
      if (there != wanted && there != request.oid) {
        return Fail(Code::kRefused,
                    "'" + EscapeControl(request.ref) + "' is " +
                        (there.empty() ? "not there" : "at " + there) + ", not " +
                        (wanted.empty() ? "absent" : "at " + wanted),
                    "look at what was pushed there meanwhile");
      }
    } else if (!there.empty() && there != request.oid) {
      MACO_TRY(CheckBehind(request, there));
    }
    request.expected = there.empty() ? kNone : there;
    return Before{"", "", WallMicros()};
  }

  // curl sends a request again, unasked, when the connection that it was to use again ends without
  // a byte. On one that is new for each request it does not.
  Outcome Send(const Request& request, const Effect& /*effect*/) override {
    const std::string lease = request.expected == kNone ? "" : request.expected;
    const auto pushed =
        git_.Run({"-c", "http.version=HTTP/1.1", "-c", "http.extraHeader=Connection: close", "push",
                  "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
                  "--no-signed", "--force-with-lease=" + request.ref + ":" + lease, "--",
                  request.repository, request.oid + ":" + request.ref});
    if (!pushed) {
      return {Outcome::Kind::kUnknown, {}, Describe(pushed.error()), 0};
    }
    return ReadPushReport(pushed->output, request.ref, request.oid, pushed->error_output);
  }

  Result<Found> Find(const Request& request, const Effect& /*effect*/) override {
    std::string there;
    MACO_ASSIGN(there, RemoteValue(request.repository, request.ref));
    Found found;
    found.rival = there != request.oid;  // a ref is seen as it is, without lists that lag
    if (there == request.oid) {
      found.ours.push_back({request.ref + "@" + request.oid, "", 0});
    } else if (!there.empty() && there != request.expected) {
      found.odd.push_back("it was moved to " + there + " meanwhile");
    } else {
      found.odd.push_back("the remote is as it was before; a server may still be working on it");
    }
    return found;
  }

  Result<Look> Fetch(const Effect& effect) override {
    const std::size_t at = effect.receipt.id.rfind('@');
    const std::string oid = at == std::string::npos ? "" : effect.receipt.id.substr(at + 1);
    std::string there;
    MACO_ASSIGN(there, RemoteValue(effect.repository, effect.target));
    if (there == oid) {
      return Look{Look::Kind::kSame, "there"};
    }
    if (there.empty()) {
      return Look{Look::Kind::kGone, "the ref was deleted"};
    }
    bool contains = false;
    MACO_ASSIGN(contains, Contains(effect.repository, there, oid));
    return contains ? Look{Look::Kind::kLater, "superseded by " + there}
                    : Look{Look::Kind::kChanged,
                           "the ref was moved to " + there + ", which does not contain it"};
  }

 private:
  Result<std::string> RemoteValue(const std::string& url, const std::string& ref) const {
    SpawnResult result;
    MACO_ASSIGN(result, git_.Run({"ls-remote", "--refs", "--", url, ref}));
    if (!Succeeded(result)) {
      return Fail(Code::kIo, "'" + EscapeControl(url) + "' does not answer: " + Reason(result),
                  "try 'git ls-remote' yourself; only global and system settings count here");
    }
    return ReadRemoteRef(result.output, ref);
  }

  // Kept below a ref of ours, so that the next push to that ref needs only what is new. One at a
  // time for each.
  Result<void> TakeObjects(const Request& request) const {
    const std::string name = SourceName(request);
    const auto turn = LockEffect(state_, name, LogLock::kWait);
    if (!turn) {
      return Fail(turn.error());
    }
    const std::string ref = "refs/maco/" + name;
    AwaitRefLock(git_.path() + "/" + ref + ".lock");
    auto taken = FetchObjects(request, ref);
    RemoveEffectLock(state_, name);
    return taken;
  }

  Result<void> FetchObjects(const Request& request, const std::string& ref) const {
    std::string reason;
    for (const auto& source : sources_) {
      SpawnResult result;
      MACO_ASSIGN(result,
                  git_.Run({"-c", "transfer.fsckObjects=true", "-c", "protocol.file.allow=always",
                            "-c", "transfer.unpackLimit=1000000", "fetch", "-q", "--no-tags",
                            "--no-write-fetch-head", "--no-recurse-submodules", "--", source,
                            "+" + request.oid + ":" + ref}));
      if (Succeeded(result)) {
        return {};
      }
      reason = Reason(result);
    }
    return Fail(Code::kRefused, "git does not give us " + request.oid + ": " + reason,
                "'git fsck' tells what is wrong with it");
  }

  // Without an explicit --expect nothing that is on the remote may get lost.
  Result<void> CheckBehind(const Request& request, const std::string& there) const {
    SpawnResult result;
    MACO_ASSIGN(result, git_.Run({"merge-base", "--is-ancestor", there, request.oid}));
    if (Succeeded(result)) {
      return {};
    }
    return Fail(Code::kRefused,
                "'" + EscapeControl(request.ref) + "' is at " + there + ", which " + request.oid +
                    " does not contain",
                "merge it first, or replace it with --expect " + there);
  }

  Result<bool> Contains(const std::string& url, const std::string& there,
                        const std::string& oid) const {
    SpawnResult result;
    MACO_ASSIGN(result,
                git_.Run({"-c", "transfer.fsckObjects=true", "fetch", "-q", "--no-tags",
                          "--no-write-fetch-head", "--no-recurse-submodules", "--", url, there}));
    if (!Succeeded(result)) {
      return Fail(Code::kIo, "cannot fetch " + there + ": " + Reason(result));
    }
    MACO_ASSIGN(result, git_.Run({"merge-base", "--is-ancestor", oid, there}));
    return Succeeded(result);
  }

  const StateRoot& state_;
  PrivateRepository git_;
  std::vector<std::string> sources_;
};

}  // namespace

Result<std::unique_ptr<Transport>> MakeGitTransport(const StateRoot& state,
                                                    const std::string& format,
                                                    std::vector<std::string> sources) {
  Directory directory;
  MACO_ASSIGN(directory, OpenEffectDirectory(state));
  auto git = PrivateRepository::OpenOrCreate(directory, "push-" + format, format);
  if (!git) {
    return Fail(std::move(git).error());
  }
  return std::make_unique<GitTransport>(state, *std::move(git), std::move(sources));
}

Result<void> CheckPushUrl(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (url.empty() || url.front() == '-' || !IsUtf8(url) || EscapeControl(url) != url) {
    return Fail(Code::kInvalid, "'" + ShownUrl(url) + "' is no URL to push to");
  }
  if (url.find("::") != std::string::npos &&
      (scheme == std::string::npos || url.find("::") < scheme)) {
    return Fail(Code::kInvalid,
                "'" + ShownUrl(url) + "' names a remote helper, which would be executed",
                "push to an https, ssh or file URL");
  }
  if (scheme == std::string::npos) {
    return {};
  }
  const std::string place = url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = place.rfind('@');
  // Over ssh the name of the user is part of the place, but a password is not.
  const bool ssh = url.starts_with("ssh://") && place.find(':') > at;
  if (at != std::string::npos && !ssh) {
    return Fail(Code::kInvalid, "the URL of the remote holds credentials",
                "take them out of it and give them to git's credential helper");
  }
  return {};
}

Outcome ReadPushReport(const std::string& output, const std::string& ref, const std::string& oid,
                       const std::string& error_output) {
  for (const auto line : Split(output, '\n')) {
    const auto fields = Split(line, '\t');
    if (fields.size() < 3 || fields[0].size() != 1 || fields[1] != oid + ":" + ref) {
      continue;
    }
    if (std::string_view(" +*=").find(fields[0][0]) != std::string_view::npos) {
      return {Outcome::Kind::kApplied, {ref + "@" + oid, "", 0}, "", 0};
    }
    const std::string words = EscapeControl(fields[2]);
    // A server's refusal may be one of a request that a proxy sent again, after the first one was
    // taken.
    if (fields[0] == "!" && !SaysNothing(words)) {
      const bool by_remote = words.find("[remote rejected]") != std::string::npos;
      return {by_remote ? Outcome::Kind::kExists : Outcome::Kind::kNotApplied,
              {},
              "the push was not taken: " + words,
              0};
    }
  }
  const std::string why = FirstLine(error_output);
  return {
      Outcome::Kind::kUnknown,
      {},
      "git did not say what became of the push" + (why.empty() ? "" : ": " + EscapeControl(why)),
      0};
}

std::string ReadRemoteRef(const std::string& output, const std::string& ref) {
  for (const auto line : Split(output, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos && line.substr(tab + 1) == ref) {
      return std::string(line.substr(0, tab));
    }
  }
  return {};
}

}  // namespace maco::effect
