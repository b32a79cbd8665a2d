// A walk over a run's directory, and comparing it with what is on record.
// Contract: libcommon/state/finalization.h.
#include "libcommon/state/finalization.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"
#include "libcommon/state/run_event.h"
#include "libcommon/store/json_members.h"

namespace maco {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 40U;
constexpr char kProducer[] = "git maco " MACO_VERSION;
constexpr char kTemporaryPrefix[] = ".tmp-";

struct Walk {
  std::vector<FinalFile> files;
  bool publishable = false;
};

Error Unfit(const std::string& path, const std::string& why) {
  return MakeError(Code::kPermission, "'" + EscapeControl(path) + "' in a run's directory " + why);
}

Result<void> TakeFile(const Directory& directory, const std::string& name, const std::string& path,
                      const FileIdentity& seen, Walk& walk) {
  MACO_TRY(RequirePrivateFile(seen, path));
  if (walk.files.size() == kMaxFinalFiles) {
    return Fail(Code::kLimit, "a run has more than " + std::to_string(kMaxFinalFiles) + " files");
  }
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(name, O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  if (!identity.SameFile(seen)) {
    return Fail(Unfit(path, "was exchanged while it was read"));
  }
  FinalFile file;
  file.path = path;
  file.bytes = identity.size;
  Digest digest;
  MACO_ASSIGN(digest, Sha256OfFile(fd.get(), kMaxFileBytes));
  file.sha256 = ToHex(digest);
  // What a run hands out is its evidence and its result; what it said may hold anything.
  const bool handed_out = path == kEvidencePath || path.starts_with("incoming/");
  file.disposition = walk.publishable && handed_out ? "publishable" : "private";
  walk.files.push_back(std::move(file));
  return {};
}

Result<void> TakeDirectory(const Directory& directory, const std::string& prefix, std::size_t depth,
                           Walk& walk) {
  if (depth > kMaxFinalDepth) {
    return Fail(Code::kLimit, "a run's directory is nested too deeply");
  }
  std::vector<std::string> names;
  MACO_ASSIGN(names, directory.List(kMaxFinalFiles + 1));
  std::ranges::sort(names);
  for (const auto& name : names) {
    const std::string path = prefix + name;
    if (path == kRunLogName) {
      continue;  // it speaks for itself
    }
    if (!IsUtf8(name)) {
      return Fail(Unfit(path, "has a name that is not UTF-8"));
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, directory.Stat(name));
    if (name.starts_with(kTemporaryPrefix)) {
      MACO_TRY(RequirePrivateFile(identity, path));
      continue;  // a document that was cut short means nothing
    }
    if (S_ISDIR(identity.mode)) {
      MACO_TRY(RequirePrivateDirectory(identity, path));
      Directory inner;
      MACO_ASSIGN(inner, directory.Open(name));
      MACO_TRY(TakeDirectory(inner, path + "/", depth + 1, walk));
    } else if (S_ISREG(identity.mode)) {
      MACO_TRY(TakeFile(directory, name, path, identity, walk));
    } else {
      return Fail(Unfit(path, "is no plain file"));
    }
  }
  return {};
}

Result<std::uint64_t> JournalInode(const Directory& run) {
  FileIdentity identity;
  MACO_ASSIGN(identity, run.Stat(kRunLogName));
  return identity.inode;
}

Error Different(const std::string& what) {
  return MakeError(Code::kCorrupt, what + " is not as the final record says");
}

}  // namespace

std::uint64_t Finalization::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& file : files) {
    sum += file.bytes;
  }
  return sum;
}

Result<Finalization> TakeFinalization(const Directory& run, std::uint64_t rebinds, bool publishable,
                                      const std::string& outcome) {
  Walk walk;
  walk.publishable = publishable;
  MACO_TRY(TakeDirectory(run, "", 0, walk));
  Finalization out;
  out.files = std::move(walk.files);
  std::ranges::sort(out.files, {}, &FinalFile::path);
  MACO_ASSIGN(out.journal_inode, JournalInode(run));
  out.rebinds = rebinds;
  const auto evidence = std::ranges::find(out.files, kEvidencePath, &FinalFile::path);
  if (evidence != out.files.end() && evidence->bytes != 0) {
    out.evidence_sha256 = evidence->sha256;
  }
  out.publishable = publishable;
  out.outcome = outcome;
  out.producer = kProducer;
  return out;
}

Json Encode(const Finalization& finalization) {
  Json files = Json::array();
  for (const auto& file : finalization.files) {
    files.push_back({{"path", file.path},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256},
                     {"disposition", file.disposition}});
  }
  return {{"event", kRunFinalized},
          {"files", std::move(files)},
          {"journal_inode", finalization.journal_inode},
          {"rebinds", finalization.rebinds},
          {"evidence_sha256", finalization.evidence_sha256},
          {"publishable", finalization.publishable},
          {"outcome", finalization.outcome},
          {"producer", finalization.producer}};
}

Result<Finalization> DecodeFinalization(const Json& event) {
  const auto wrong = [] {
    return Fail(Code::kCorrupt, "a run's final record has not the form of one");
  };
  const Json* files = Member(event, "files");
  const auto inode = UintMember(event, "journal_inode");
  const auto rebinds = UintMember(event, "rebinds");
  if (files == nullptr || !files->is_array() || !inode || !rebinds) {
    return wrong();
  }
  Finalization out;
  for (const auto& item : *files) {
    if (!item.is_object()) {
      return wrong();
    }
    const auto bytes = UintMember(item, "bytes");
    const std::string* path = TextMember(item, "path");
    const std::string* sha256 = TextMember(item, "sha256");
    const std::string* disposition = TextMember(item, "disposition");
    if (!bytes || path == nullptr || sha256 == nullptr || disposition == nullptr) {
      return wrong();
    }
    out.files.push_back({*path, *bytes, *sha256, *disposition});
  }
  out.journal_inode = *inode;
  out.rebinds = *rebinds;
  out.evidence_sha256 = EventText(event, "evidence_sha256");
  out.publishable = EventFlag(event, "publishable");
  out.outcome = EventText(event, "outcome");
  out.producer = EventText(event, "producer");
  out.finalized_us = EventUint(event, "time_us");
  return out;
}

bool CopiedSince(const Finalization& finalization, std::uint64_t inode, std::uint64_t rebinds) {
  return inode != finalization.journal_inode && rebinds > finalization.rebinds;
}

Result<void> CheckFinalization(const Directory& run, std::uint64_t rebinds,
                               const Finalization& finalization) {
  std::uint64_t inode = 0;
  MACO_ASSIGN(inode, JournalInode(run));
  if (inode != finalization.journal_inode && !CopiedSince(finalization, inode, rebinds)) {
    return Fail(Code::kCorrupt, "its journal is another file than its writer had");
  }
  Walk walk;
  MACO_TRY(TakeDirectory(run, "", 0, walk));
  std::ranges::sort(walk.files, {}, &FinalFile::path);
  auto there = walk.files.begin();
  for (const auto& file : finalization.files) {
    if (there == walk.files.end() || there->path != file.path) {
      const bool extra = there != walk.files.end() && there->path < file.path;
      return extra ? Fail(Different("'" + EscapeControl(there->path) + "', which is new,"))
                   : Fail(Different("'" + EscapeControl(file.path) + "', which is gone,"));
    }
    if (there->bytes != file.bytes || there->sha256 != file.sha256) {
      return Fail(Different("'" + EscapeControl(file.path) + "'"));
    }
    ++there;
  }
  return there == walk.files.end()
             ? Result<void>()
             : Fail(Different("'" + EscapeControl(there->path) + "', which is new,"));
}

}  // namespace maco
