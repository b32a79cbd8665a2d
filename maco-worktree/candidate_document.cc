// JSON both ways, and files below the lane's directory in the state root.
// Contract: maco-worktree/candidate_document.h.
#include "maco-worktree/candidate_document.h"

#include <fcntl.h>
#include <unistd.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/state/run_event.h"
#include "libcommon/state/run_sight.h"
#include "libcommon/store/json_members.h"

namespace maco::worktree {
namespace {

constexpr char kDomain[] = "maco.candidate/1";
constexpr char kLeaf[] = "patch";
constexpr std::size_t kMaxDocument = std::size_t{64} << 20U;
constexpr std::size_t kMaxPatch = std::size_t{64} << 20U;
constexpr std::size_t kIdDigits = 32;

Error Malformed() {
  return MakeError(Code::kCorrupt, "the candidate's document is malformed", "capture it again");
}

Json ChangesJson(const std::vector<Change>& changes) {
  Json out = Json::array();
  for (const auto& change : changes) {
    out.push_back({{"path", EncodeBytes(change.path)},
                   {"status", change.status},
                   {"old_mode", change.old_mode},
                   {"new_mode", change.new_mode},
                   {"old_oid", change.old_oid},
                   {"new_oid", change.new_oid},
                   {"added", change.added},
                   {"deleted", change.deleted},
                   {"binary", change.binary}});
  }
  return out;
}

// Reads texts and remembers that one was missing.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}
  std::string Text(const char* name) {
    const std::string* text = object_.is_object() ? TextMember(object_, name) : nullptr;
    sound_ = sound_ && text != nullptr;
    return text != nullptr ? *text : "";
  }
  std::string Bytes(const char* name) {
    const Json* member = object_.is_object() ? Member(object_, name) : nullptr;
    auto bytes = member != nullptr ? DecodeBytes(*member) : Result<std::string>(Fail(Malformed()));
    sound_ = sound_ && bytes.has_value();
    return bytes ? *bytes : "";
  }
  std::uint64_t Number(const char* name) {
    const auto number = object_.is_object() ? UintMember(object_, name) : std::nullopt;
    sound_ = sound_ && number.has_value();
    return number.value_or(0);
  }
  bool Flag(const char* name) {
    const Json* member = object_.is_object() ? Member(object_, name) : nullptr;
    sound_ = sound_ && member != nullptr && member->is_boolean();
    return sound_ && member->get<bool>();
  }
  const Json& List(const char* name) {
    static const Json kEmpty = Json::array();
    const Json* member = object_.is_object() ? Member(object_, name) : nullptr;
    sound_ = sound_ && member != nullptr && member->is_array();
    return sound_ ? *member : kEmpty;
  }
  bool sound() const { return sound_; }

 private:
  const Json& object_;
  bool sound_ = true;
};

Result<CandidateDocument> Decode(const Json& json) {
  CandidateDocument out;
  Fields top(json);
  out.lane = top.Text("lane");
  out.lane_id = top.Text("lane_id");
  out.format = top.Text("format");
  out.base = top.Text("base");
  out.base_tree = top.Text("base_tree");
  out.tree = top.Text("tree");
  out.patch_sha256 = top.Text("patch_sha256");
  out.patch_bytes = top.Number("patch_bytes");
  bool sound = true;
  for (const auto& item : top.List("changes")) {
    Fields fields(item);
    Change change;
    change.path = fields.Bytes("path");
    change.status = fields.Text("status");
    change.old_mode = fields.Text("old_mode");
    change.new_mode = fields.Text("new_mode");
    change.old_oid = fields.Text("old_oid");
    change.new_oid = fields.Text("new_oid");
    change.added = fields.Number("added");
    change.deleted = fields.Number("deleted");
    change.binary = fields.Flag("binary");
    sound = sound && fields.sound();
    out.changes.push_back(std::move(change));
  }
  for (const auto& item : top.List("runs")) {
    Fields fields(item);
    out.runs.push_back(
        {fields.Text("run"), fields.Text("evidence_sha256"), fields.Flag("publishable"), ""});
    sound = sound && fields.sound();
  }
  for (const auto& item : top.List("risks")) {
    Fields fields(item);
    out.risks.push_back({fields.Bytes("path"), fields.Text("risk")});
    sound = sound && fields.sound();
  }
  for (const auto& item : top.List("ignored")) {
    auto path = DecodeBytes(item);
    sound = sound && path.has_value();
    out.ignored.push_back(path ? *std::move(path) : "");
  }
  return sound && top.sound() ? Result<CandidateDocument>(std::move(out)) : Fail(Malformed());
}

// Its command was never released: it was refused, or died before. A start is on record first.
bool NeverStarted(const RunSight& sight) {
  const bool planned_only = sight.last_event.empty() || sight.last_event == kRunPlanned ||
                            sight.last_event == kRunRefused;
  return !sight.error && !sight.held && planned_only && sight.unnamed_event != kCommandStarted;
}

Result<UniqueFd> OpenLeaf(const Directory& files, const std::string& name, int how = O_RDONLY) {
  UniqueFd fd;
  MACO_ASSIGN(fd, files.OpenFile(name, how | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, name));
  return fd;
}

}  // namespace

std::vector<RunOfLane> RunsOf(const StateRoot& state, const LaneTable& table,
                              const std::string& lane_id) {
  std::vector<RunOfLane> out;
  for (const auto& [key, writer] : table.writers) {
    if (writer.lane_id != lane_id) {
      continue;
    }
    const RunSight sight = LookAtRun(state, writer.run);
    if (NeverStarted(sight)) {
      continue;
    }
    RunOfLane run{writer.run, sight.evidence_sha256, sight.publishable, ""};
    if (sight.error) {
      run.why_not = ::maco::Describe(*sight.error);
    } else if (!sight.evidence_failure.empty()) {
      run.why_not = sight.evidence_failure;
    } else if (sight.evidence_sha256.empty()) {
      run.why_not = sight.last_event.empty() ? "it was never begun" : "it is not finished";
    } else if (!sight.publishable) {
      run.why_not = "its evidence says that it is not publishable";
    }
    run.publishable = run.why_not.empty();
    if (!run.publishable) {
      run.evidence_sha256 = sight.evidence_failure.empty() ? sight.evidence_sha256 : "";
    }
    out.push_back(std::move(run));
  }
  return out;
}

Json Describe(const CandidateDocument& document) {
  Json out = {{"lane", document.lane},
              {"lane_id", document.lane_id},
              {"format", document.format},
              {"base", document.base},
              {"base_tree", document.base_tree},
              {"tree", document.tree},
              {"patch_sha256", document.patch_sha256},
              {"patch_bytes", document.patch_bytes},
              {"changes", ChangesJson(document.changes)}};
  out["runs"] = Json::array();
  for (const auto& run : document.runs) {
    out["runs"].push_back({{"run", run.run},
                           {"evidence_sha256", run.evidence_sha256},
                           {"publishable", run.publishable}});
  }
  out["risks"] = Json::array();
  for (const auto& risk : document.risks) {
    out["risks"].push_back({{"path", EncodeBytes(risk.path)}, {"risk", risk.risk}});
  }
  out["ignored"] = Json::array();
  for (const auto& path : document.ignored) {
    out["ignored"].push_back(EncodeBytes(path));
  }
  return out;
}

std::string CandidateId(const std::string& repository_id, const CandidateDocument& document) {
  Json json = Describe(document);
  json["repository"] = repository_id;
  json["schema"] = kDomain;
  const auto text = Canonicalize(json);
  return ToHex(Sha256(AsBytes(text ? *text : ""))).substr(0, kIdDigits);
}

Result<std::string> WriteCandidate(const StateRoot& state, const Directory& files,
                                   const std::string& id, const CandidateDocument& document) {
  Json json = Describe(document);
  json["repository"] = state.repository_id();
  json["schema"] = kDomain;
  json["epoch"] = state.epoch();
  std::string text;
  MACO_ASSIGN(text, SignDocument(std::move(json), state.key(), kDomain, state.repository_id()));
  text += "\n";
  if (text.size() > kMaxDocument) {
    return Fail(Code::kLimit, "the candidate has too many changes to be described");
  }
  MACO_TRY(WriteAtomically(files, id + ".json", AsBytes(text)));
  return ToHex(Sha256(AsBytes(text)));
}

Result<CandidateDocument> ReadCandidate(const StateRoot& state, const Directory& files,
                                        const Candidate& row) {
  UniqueFd file;
  MACO_ASSIGN(file, OpenLeaf(files, row.id + ".json"));
  std::string text;
  MACO_ASSIGN(text, ReadAll(file.get(), kMaxDocument));
  if (ToHex(Sha256(AsBytes(text))) != row.document_sha256) {
    return Fail(Code::kCorrupt, "the document of candidate " + row.id + " was changed",
                "capture it again");
  }
  Json unverified;
  MACO_ASSIGN(unverified, ParseJson(text, kMaxDocument));
  const auto epoch = unverified.is_object() ? UintMember(unverified, "epoch") : std::nullopt;
  if (!epoch || *epoch > ~0U) {
    return Fail(Malformed());
  }
  const Key* key = nullptr;
  MACO_ASSIGN(key, state.KeyOf(static_cast<std::uint32_t>(*epoch)));
  Json json;
  MACO_ASSIGN(json, VerifyDocument(text, kMaxDocument, *key, kDomain, state.repository_id()));
  CandidateDocument document;
  MACO_ASSIGN(document, Decode(json));
  UniqueFd patch;
  MACO_ASSIGN(patch, OpenLeaf(files, row.id + ".patch"));
  Digest digest;
  MACO_ASSIGN(digest, Sha256OfFile(patch.get(), kMaxPatch));
  if (ToHex(digest) != document.patch_sha256 || document.patch_sha256 != row.patch_sha256) {
    return Fail(Code::kCorrupt, "the patch of candidate " + row.id + " was changed",
                "capture it again");
  }
  return document;
}

Result<void> WritePatch(const Directory& files, const std::string& patch,
                        CandidateDocument& document) {
  if (patch.size() > kMaxPatch) {
    return Fail(Code::kLimit, "the patch is larger than 64 MiB", "split the work");
  }
  // Reserved already, but for a crash just after the last one got its name.
  MACO_TRY(files.OpenFile(kLeaf, O_RDWR | O_CREAT, 0600));
  UniqueFd leaf;
  MACO_ASSIGN(leaf, OpenLeaf(files, kLeaf, O_RDWR));
  if (ftruncate(leaf.get(), 0) != 0) {
    return FailOs(errno, "empty", kLeaf);
  }
  MACO_TRY(WriteAll(leaf.get(), AsBytes(patch)));
  MACO_TRY(Sync(leaf.get()));
  document.patch_sha256 = ToHex(Sha256(AsBytes(patch)));
  document.patch_bytes = patch.size();
  return {};
}

Result<void> NamePatch(const Directory& files, const std::string& id) {
  MACO_TRY(files.Rename(kLeaf, id + ".patch"));
  MACO_TRY(files.OpenFile(kLeaf, O_RDWR | O_CREAT | O_EXCL, 0600));
  return files.Sync();
}

Result<std::string> ReadPatch(const Directory& files, const std::string& id) {
  UniqueFd patch;
  MACO_ASSIGN(patch, OpenLeaf(files, id + ".patch"));
  return ReadAll(patch.get(), kMaxPatch);
}

}  // namespace maco::worktree
