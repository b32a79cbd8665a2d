// Observation of a Git directory, and the identity document's encoding.
// Contract: libcommon/auth/repository_identity.h, docs/formats/repository.md.
#include "libcommon/auth/repository_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr char kDomain[] = "maco.repository/1";
constexpr char kSchema[] = "maco.repository/1";
constexpr char kSchemaPrefix[] = "maco.repository/";

Error Malformed() {
  return MakeError(Code::kCorrupt, "the identity of this repository is malformed",
                   "restore 'maco/repository' in the Git directory from a backup");
}

// The path as hex: bytes that need not be UTF-8, decoded without loss. The readable twin is only
// for people.
Json EncodePlace(const RepositoryPlace& place) {
  Json out = Json::object();
  out["path"] = EscapeControl(place.path);
  out["path_hex"] = ToHex(AsBytes(place.path));
  out["device"] = place.device;
  out["inode"] = place.inode;
  out["birth_ns"] = place.birth_ns;
  return out;
}

// Reads members of one object; any that is missing or of another type fails the whole.
class Members {
 public:
  explicit Members(const Json& object) : object_(object), ok_(object.is_object()) {}

  std::string String(const char* name) {
    const Json* value = Find(name);
    const auto* text = value != nullptr ? value->get_ptr<const std::string*>() : nullptr;
    ok_ = ok_ && text != nullptr;
    return ok_ ? *text : std::string();
  }
  std::uint64_t Uint(const char* name) {
    const Json* value = Find(name);
    ok_ = ok_ && value != nullptr && value->is_number_unsigned();
    return ok_ ? *value->get_ptr<const std::uint64_t*>() : 0;
  }
  RepositoryPlace Place(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr) {
      ok_ = false;
      return {};
    }
    Members members(*value);
    RepositoryPlace place;
    const auto path = FromHex(members.String("path_hex"));
    place.path = path ? std::string(AsText(*path)) : std::string();
    place.device = members.Uint("device");
    place.inode = members.Uint("inode");
    place.birth_ns = members.Uint("birth_ns");
    ok_ = ok_ && members.ok() && path.has_value();
    return place;
  }
  bool Has(const char* name) const { return ok_ && object_.contains(name); }
  bool ok() const { return ok_; }

 private:
  const Json* Find(const char* name) const {
    if (!Has(name)) {
      return nullptr;
    }
    return &*object_.find(name);
  }
  const Json& object_;
  bool ok_;
};

}  // namespace

bool RepositoryPlace::SamePlace(const RepositoryPlace& other) const {
  if (path != other.path || inode != other.inode) {
    return false;
  }
  if (birth_ns != 0 && other.birth_ns != 0) {
    return birth_ns == other.birth_ns;
  }
  return device == other.device;
}

Result<RepositoryPlace> ObservePlace(const Directory& common_dir) {
  struct statx st {};
  if (statx(common_dir.fd(), "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0) {
    return FailOs(errno, "stat the Git directory");
  }
  const std::string link = "/proc/self/fd/" + std::to_string(common_dir.fd());
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  if (length < 0) {
    return FailOs(errno, "read", link);
  }
  RepositoryPlace place;
  place.path.assign(path.data(), static_cast<std::size_t>(length));
  if (!place.path.starts_with('/') || st.stx_nlink == 0) {
    return Fail(Code::kUnsupported, "the Git directory was removed or has no path here");
  }
  place.device = makedev(st.stx_dev_major, st.stx_dev_minor);
  place.inode = st.stx_ino;
  if ((st.stx_mask & STATX_BTIME) != 0 && st.stx_btime.tv_sec > 0) {
    constexpr std::uint64_t kNanos = 1'000'000'000;
    place.birth_ns =
        static_cast<std::uint64_t>(st.stx_btime.tv_sec) * kNanos + st.stx_btime.tv_nsec;
  }
  return place;
}

Result<RepositoryIdentity> NewIdentity(RepositoryPlace place) {
  RepositoryIdentity identity;
  MACO_ASSIGN(identity.id, RandomId());
  identity.created_us = WallMicros();
  identity.place = std::move(place);
  return identity;
}

Result<std::string> EncodeIdentity(const RepositoryIdentity& identity, const Key& key) {
  if (identity.place.path.size() > PATH_MAX || identity.previous.path.size() > PATH_MAX) {
    return Fail(Code::kInvalid, "the path of the Git directory is too long");
  }
  Json document = Json::object();
  document["schema"] = kSchema;
  document["id"] = identity.id;
  document["created_us"] = identity.created_us;
  document["rebinds"] = identity.rebinds;
  document["place"] = EncodePlace(identity.place);
  if (!identity.previous.path.empty()) {
    document["previous"] = EncodePlace(identity.previous);
  }
  // The repository id is a member here, not context: this document is what defines it.
  std::string text;
  MACO_ASSIGN(text, SignDocument(std::move(document), key, kDomain, ""));
  return text + "\n";
}

Result<RepositoryIdentity> DecodeIdentity(std::string_view text, const Key& key) {
  // Read before the MAC, only to tell a newer format from damage.
  auto parsed = ParseJson(text, kMaxRepositoryFileBytes);
  if (!parsed) {
    return Fail(Malformed());
  }
  const std::string schema = Members(*parsed).String("schema");
  if (schema.starts_with(kSchemaPrefix) && schema != kSchema) {
    return Fail(Code::kUnsupported,
                "the identity of this repository was written as '" + schema + "'",
                "use the git-maco version that wrote it, or a newer one");
  }
  auto document = VerifyDocument(text, kMaxRepositoryFileBytes, key, kDomain, "");
  if (!document) {
    return Fail(Code::kCorrupt, "the identity of this repository does not verify with its key",
                "restore 'maco/key' and 'maco/repository' in the Git directory from one backup");
  }
  Members members(*document);
  RepositoryIdentity identity;
  identity.id = members.String("id");
  identity.created_us = members.Uint("created_us");
  identity.rebinds = members.Uint("rebinds");
  identity.place = members.Place("place");
  if (members.Has("previous")) {
    identity.previous = members.Place("previous");
  }
  if (!members.ok() || members.String("schema") != kSchema || !IsRandomId(identity.id)) {
    return Fail(Malformed());
  }
  return identity;
}

}  // namespace maco
