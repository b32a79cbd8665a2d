// One description of the members of each row serves both directions.
// Contract: libcommon/lane/lane_rows.h.
#include "libcommon/lane/lane_rows.h"

#include <algorithm>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/store/json_members.h"

namespace maco {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMaxLaneNameBytes = 48;

// Writes members.
class RowWriter {
 public:
  RowWriter() { row_["v"] = kVersion; }
  RowWriter& Text(const char* name, const std::string& value) {
    row_[name] = value;
    return *this;
  }
  RowWriter& Bytes(const char* name, const std::string& value) {
    row_[name] = EncodeBytes(value);
    return *this;
  }
  RowWriter& Number(const char* name, std::uint64_t value) {
    row_[name] = value;
    return *this;
  }
  RowWriter& List(const char* name, const std::vector<std::string>& values) {
    row_[name] = Json::array();
    for (const auto& value : values) {
      row_[name].push_back(EncodeBytes(value));
    }
    return *this;
  }
  Json Take() { return std::move(row_); }

 private:
  Json row_ = Json::object();
};

// Reads them; the first one that is not as it should be is the error.
class RowReader {
 public:
  RowReader(const std::string& key, const Json& row) : key_(key), row_(row) {
    const auto version = UintMember(row, "v");
    if (!version) {
      Wrong("v");
    } else if (*version > kVersion) {
      error_ = MakeError(Code::kUnsupported, "row '" + key + "' was written by a newer git-maco",
                         "upgrade git-maco");
    }
  }
  RowReader& Text(const char* name, std::string& value) {
    const std::string* text = TextMember(row_, name);
    text != nullptr ? void(value = *text) : Wrong(name);
    return *this;
  }
  RowReader& Bytes(const char* name, std::string& value) {
    const Json* member = Member(row_, name);
    auto bytes = member != nullptr ? DecodeBytes(*member) : Fail(Code::kCorrupt, "");
    bytes ? void(value = *std::move(bytes)) : Wrong(name);
    return *this;
  }
  RowReader& Number(const char* name, std::uint64_t& value) {
    const auto number = UintMember(row_, name);
    number ? void(value = *number) : Wrong(name);
    return *this;
  }
  RowReader& List(const char* name, std::vector<std::string>& values) {
    const Json* member = Member(row_, name);
    if (member == nullptr || !member->is_array()) {
      Wrong(name);
      return *this;
    }
    for (const auto& item : *member) {
      auto bytes = DecodeBytes(item);
      bytes ? values.push_back(*std::move(bytes)) : Wrong(name);
    }
    return *this;
  }
  Result<void> Done() const { return error_ ? Result<void>(Fail(*error_)) : Result<void>(); }

 private:
  void Wrong(const char* name) {
    if (!error_) {
      error_ = MakeError(Code::kCorrupt,
                         "row '" + EscapeControl(key_) + "' of store 'lanes' has no proper '" +
                             std::string(name) + "'",
                         "git maco journal verify store/lanes");
    }
  }
  std::string key_;
  const Json& row_;
  std::optional<Error> error_;
};

template <typename Codec, typename T>
void Members(Codec& row, T& lane, const Lane* /*kind*/) {
  row.Text("id", lane.id)
      .Text("kind", lane.kind)
      .Bytes("path", lane.path)
      .Bytes("git_dir", lane.git_dir)
      .Text("branch", lane.branch)
      .Text("base", lane.base)
      .Text("format", lane.format)
      .Text("state", lane.state)
      .Number("created_us", lane.created_us)
      .Number("changed_us", lane.changed_us)
      .Number("uid", lane.uid)
      .Number("device", lane.device)
      .Number("inode", lane.inode)
      .Bytes("tainted", lane.tainted)
      .Text("candidate", lane.candidate)
      .Bytes("trash", lane.trash);
}

template <typename Codec, typename T>
void Members(Codec& row, T& claim, const Claim* /*kind*/) {
  row.Text("lane", claim.lane)
      .Text("lane_id", claim.lane_id)
      .List("paths", claim.paths)
      .Number("created_us", claim.created_us)
      .Number("renewed_us", claim.renewed_us)
      .Number("expires_us", claim.expires_us)
      .Number("uid", claim.uid)
      .Text("supersedes", claim.supersedes);
}

template <typename Codec, typename T>
void Members(Codec& row, T& intent, const Intent* /*kind*/) {
  row.Text("lane", intent.lane)
      .Text("lane_id", intent.lane_id)
      .Text("kind", intent.kind)
      .List("what", intent.what)
      .Bytes("reason", intent.reason)
      .Number("created_us", intent.created_us)
      .Number("uid", intent.uid);
}

template <typename Codec, typename T>
void Members(Codec& row, T& candidate, const Candidate* /*kind*/) {
  row.Text("lane", candidate.lane)
      .Text("lane_id", candidate.lane_id)
      .Text("state", candidate.state)
      .Text("base", candidate.base)
      .Text("tree", candidate.tree)
      .Text("document_sha256", candidate.document_sha256)
      .Text("patch_sha256", candidate.patch_sha256)
      .Number("captured_us", candidate.captured_us)
      .Number("read_us", candidate.read_us)
      .Number("decided_us", candidate.decided_us)
      .Number("decided_uid", candidate.decided_uid)
      .Bytes("note", candidate.note)
      .Bytes("unverified", candidate.unverified)
      .Number("applied_us", candidate.applied_us)
      .Bytes("applied_to", candidate.applied_to)
      .Text("applied_commit", candidate.applied_commit);
}

template <typename Codec, typename T>
void Members(Codec& row, T& run, const LaneRun* /*kind*/) {
  row.Text("run", run.run)
      .Text("lane_id", run.lane_id)
      .Text("candidate", run.candidate)
      .Number("time_us", run.time_us);
}

template <typename Codec, typename T>
void Members(Codec& row, T& apply, const Apply* /*kind*/) {
  row.Text("candidate", apply.candidate)
      .Text("lane", apply.lane)
      .Text("mode", apply.mode)
      .Bytes("worktree", apply.worktree)
      .Bytes("git_dir", apply.git_dir)
      .Bytes("ref", apply.ref)
      .Text("head", apply.head)
      .Text("commit", apply.commit)
      .Number("uid", apply.uid)
      .Number("started_us", apply.started_us)
      .Number("undo_us", apply.undo_us);
}

template <typename T>
Json EncodeRow(const T& value) {
  RowWriter row;
  Members(row, value, static_cast<const T*>(nullptr));
  return row.Take();
}

template <typename T>
Result<T> DecodeRow(const std::string& key, const Json& json) {
  T value;
  RowReader row(key, json);
  Members(row, value, static_cast<const T*>(nullptr));
  MACO_TRY(row.Done());
  return value;
}

// What stands behind the last slash of a key.
std::string LastPart(const std::string& key) { return key.substr(key.rfind('/') + 1); }

}  // namespace

bool IsLaneName(std::string_view text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= kMaxLaneNameBytes && text.front() != '.' &&
         text.front() != '-' && text.back() != '.' && !text.ends_with(".lock") &&
         text.find("..") == std::string_view::npos &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string LaneKey(const std::string& name) { return "lane/" + name; }
std::string ClaimKey(const std::string& id) { return "claim/" + id; }
std::string IntentKey(const std::string& id) { return "intent/" + id; }
std::string CandidateKey(const std::string& id) { return "candidate/" + id; }
std::string WriterKey(const std::string& lane_id, const std::string& run) {
  return "writer/" + lane_id + "/" + run;
}
std::string ValidationKey(const std::string& candidate, const std::string& run) {
  return "validation/" + candidate + "/" + run;
}
std::string ApplyKey(const std::string& id) { return "apply/" + id; }

Json EncodeBytes(const std::string& bytes) {
  return IsUtf8(bytes) ? Json(bytes) : Json{{"hex", ToHex(AsBytes(bytes))}};
}

Result<std::string> DecodeBytes(const Json& value) {
  if (const auto* text = value.get_ptr<const std::string*>()) {
    return *text;
  }
  const std::string* hex = value.is_object() ? TextMember(value, "hex") : nullptr;
  const auto bytes = hex != nullptr ? FromHex(*hex) : std::nullopt;
  if (!bytes) {
    return Fail(Code::kCorrupt, "a text is neither UTF-8 nor hex");
  }
  return std::string(bytes->begin(), bytes->end());
}

Json Encode(const Lane& lane) { return EncodeRow(lane); }
Json Encode(const Claim& claim) { return EncodeRow(claim); }
Json Encode(const Intent& intent) { return EncodeRow(intent); }
Json Encode(const Candidate& candidate) { return EncodeRow(candidate); }
Json Encode(const LaneRun& run) { return EncodeRow(run); }
Json Encode(const Apply& apply) { return EncodeRow(apply); }

Result<Lane> DecodeLane(const std::string& key, const Json& row) {
  auto lane = DecodeRow<Lane>(key, row);
  if (lane) {
    lane->name = LastPart(key);
  }
  return lane;
}

Result<Claim> DecodeClaim(const std::string& key, const Json& row) {
  auto claim = DecodeRow<Claim>(key, row);
  if (claim) {
    claim->id = LastPart(key);
  }
  return claim;
}

Result<Intent> DecodeIntent(const std::string& key, const Json& row) {
  auto intent = DecodeRow<Intent>(key, row);
  if (intent) {
    intent->id = LastPart(key);
  }
  return intent;
}

Result<Candidate> DecodeCandidate(const std::string& key, const Json& row) {
  auto candidate = DecodeRow<Candidate>(key, row);
  if (candidate) {
    candidate->id = LastPart(key);
  }
  return candidate;
}

Result<LaneRun> DecodeLaneRun(const std::string& key, const Json& row) {
  return DecodeRow<LaneRun>(key, row);
}

Result<Apply> DecodeApply(const std::string& key, const Json& row) {
  auto apply = DecodeRow<Apply>(key, row);
  if (apply) {
    apply->id = LastPart(key);
  }
  return apply;
}

}  // namespace maco
