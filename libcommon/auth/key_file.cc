// Encoding of the key file, its safe opening and its creation.
// Contract: libcommon/auth/key_file.h, docs/formats/key.md.
#include "libcommon/auth/key_file.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

constexpr std::string_view kMagic{"MACOKEY\0", 8};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kCheckBytes = 16;
constexpr std::size_t kFileBytes = kHeaderBytes + Key::kBytes + kCheckBytes;

// The file in memory; secret, so it has a fixed place and is wiped.
struct Image {
  std::array<std::uint8_t, kFileBytes + 1> bytes{};  // one more, to notice a longer file
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { WipeBytes(bytes); }

  auto Key() const { return std::span(bytes).subspan<kHeaderBytes, maco::Key::kBytes>(); }
  auto Check() const { return std::span(bytes).subspan<kFileBytes - kCheckBytes, kCheckBytes>(); }
  Digest ExpectedCheck() const {
    return Sha256(std::span(bytes).first<kFileBytes - kCheckBytes>());
  }
};

Error Damaged(std::string_view reason) {
  return MakeError(Code::kCorrupt, "the key of this repository is damaged: " + std::string(reason),
                   "restore 'maco/key' in the Git directory from a backup");
}

Result<void> CheckImage(const Image& image, std::size_t size) {
  if (size != kFileBytes) {
    return Fail(Damaged("wrong size"));
  }
  ByteReader header(std::span(image.bytes).first<kHeaderBytes>());
  if (AsText(header.Raw(kMagic.size())) != kMagic) {
    return Fail(Damaged("wrong magic"));
  }
  const std::uint32_t version = header.U32();
  if (version > kVersion) {
    return Fail(Code::kUnsupported, "the key of this repository was made by a newer git-maco",
                "upgrade git-maco");
  }
  if (version != kVersion) {
    return Fail(Damaged("wrong header"));
  }
  const Digest expected = image.ExpectedCheck();
  if (!std::ranges::equal(image.Check(), std::span(expected).first<kCheckBytes>())) {
    return Fail(Damaged("wrong check bytes"));
  }
  return {};
}

std::uint32_t EpochOf(const Image& image) {
  constexpr std::size_t kEpochOffset = 12;
  return ByteReader(std::span(image.bytes).subspan<kEpochOffset>()).U32();
}

void FillImage(Image& image, const EpochKey& key) {
  ByteWriter header;
  header.Raw(AsBytes(kMagic));
  header.U32(kVersion);
  header.U32(key.epoch);
  auto out = std::ranges::copy(header.bytes(), image.bytes.begin()).out;
  out = std::ranges::copy(key.key.bytes(), out).out;
  const Digest check = image.ExpectedCheck();
  std::ranges::copy(std::span(check).first<kCheckBytes>(), out);
}

Result<EpochKey> NewKey(std::uint32_t epoch) {
  MACO_TRY(ForbidDumping());
  auto key = Key::Random();
  if (!key) {
    return Fail(std::move(key).error());
  }
  return EpochKey{epoch, *std::move(key)};
}

Result<void> WriteImage(const Directory& state_root, const std::string& name, const EpochKey& key,
                        bool must_be_new) {
  Image image;
  FillImage(image, key);
  auto file = AtomicFile::Create(state_root, name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), std::span(image.bytes).first<kFileBytes>()));
  return must_be_new ? file->CommitNew() : file->Commit();
}

}  // namespace

Result<void> ForbidDumping() {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return FailOs(errno, "make the process non-dumpable");
  }
  return {};
}

std::string RetiredKeyName(std::uint32_t epoch) {
  return std::string(kKeyFileName) + "." + std::to_string(epoch);
}

Result<EpochKey> LoadKeyFile(const Directory& state_root, const std::string& name) {
  MACO_TRY(ForbidDumping());
  UniqueFd fd;
  // Non-blocking, so that a FIFO put there by someone else cannot hold us before it is refused.
  MACO_ASSIGN(fd, state_root.OpenFile(name, O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, "maco/" + name));
  Image image;
  std::size_t size = 0;
  MACO_ASSIGN(size, PreadFull(fd.get(), image.bytes, 0));
  MACO_TRY(CheckImage(image, size));
  auto key = Key::FromBytes(image.Key());
  if (!key) {
    return Fail(std::move(key).error());
  }
  return EpochKey{EpochOf(image), *std::move(key)};
}

Result<EpochKey> CreateKeyFile(const Directory& state_root) {
  auto key = NewKey(0);
  if (key) {
    MACO_TRY(WriteImage(state_root, kKeyFileName, *key, true));
  }
  return key;
}

Result<void> RetireKeyFile(const Directory& state_root, const EpochKey& key) {
  const std::string name = RetiredKeyName(key.epoch);
  const auto kept = LoadKeyFile(state_root, name);
  if (kept && kept->epoch == key.epoch && std::ranges::equal(kept->key.bytes(), key.key.bytes())) {
    return {};
  }
  return WriteImage(state_root, name, key, true);
}

Result<EpochKey> CreateNextKeyFile(const Directory& state_root, std::uint32_t epoch) {
  auto key = NewKey(epoch);
  if (key) {
    MACO_TRY(WriteImage(state_root, kNextKeyFileName, *key, true));
  }
  return key;
}

}  // namespace maco
