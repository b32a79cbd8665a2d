// Nettle's HMAC, HKDF, SHA-256 and SHA-1 behind the contract of the header; no other file includes
// it. Contract: libcommon/auth/mac.h. Source: the Nettle manual, "Hash functions", "Keyed hash
// functions" and "Key derivation functions". Its calls allocate nothing, load nothing, cannot fail.
#include "libcommon/auth/mac.h"

#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "libcommon/auth/blob_id.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;  // 256 KiB
static_assert(sizeof(Mac) == SHA256_DIGEST_SIZE && sizeof(Digest) == SHA256_DIGEST_SIZE);

// Hands small fields to the hash together: a call costs as much as hashing some ten bytes.
class Gathered {
 public:
  explicit Gathered(hmac_sha256_ctx& context) : context_(context) {}
  void Integer(std::uint64_t value, unsigned width) {
    std::array<std::uint8_t, 8> bytes{};
    for (unsigned i = 0; i < width; ++i) {
      bytes.at(i) = static_cast<std::uint8_t>(value >> 8 * i);
    }
    Raw(std::span(bytes).first(width));
  }
  void Raw(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > held_.size() - used_) {
      Flush();
    }
    if (bytes.size() > held_.size()) {
      Update(bytes);
      return;
    }
    std::ranges::copy(bytes, held_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += bytes.size();
  }
  void Flush() {
    Update(std::span(held_).first(used_));
    used_ = 0;
  }

 private:
  void Update(std::span<const std::uint8_t> bytes) {
    hmac_sha256_update(&context_, bytes.size(), bytes.data());
  }
  hmac_sha256_ctx& context_;
  std::size_t used_ = 0;
  std::array<std::uint8_t, 1024> held_;
};

// A state that a key can be read from, wiped when it goes.
struct HmacState {
  HmacState() = default;
  HmacState(const HmacState&) = delete;
  HmacState& operator=(const HmacState&) = delete;
  ~HmacState() { explicit_bzero(&context, sizeof context); }
  hmac_sha256_ctx context{};
};

// Nettle pads the key on the stack and leaves it there.
[[gnu::noinline]] void WipeStackBelow() {
  std::array<std::uint8_t, 2048> below;
  explicit_bzero(below.data(), below.size());
}

void SetKey(hmac_sha256_ctx& context, std::span<const std::uint8_t> key) {
  hmac_sha256_set_key(&context, key.size(), key.data());
  WipeStackBelow();
}

// Of one of Git's two hash functions: reads the file at `fd` into it from the start.
template <typename Context, typename Update>
Result<void> HashBlob(Context& context, Update update, int fd, std::uint64_t size) {
  const std::string head = "blob " + std::to_string(size) + '\0';
  update(&context, head.size(), AsBytes(head).data());
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, size + 1)));
  std::uint64_t offset = 0;
  for (;;) {
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, buffer, offset));
    update(&context, got, buffer.data());
    offset += got;
    if (got < buffer.size() || offset > size) {
      break;
    }
  }
  if (offset != size) {
    return Fail(Code::kBusy, "a file changed while it was read");
  }
  return {};
}

// RFC 5869. No salt is a salt of one hash length of zeros (2.2), which HMAC pads an empty key to.
void HkdfInto(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt,
              std::span<const std::uint8_t> info, std::span<std::uint8_t> out) {
  const auto update = [](void* context, std::size_t size, const std::uint8_t* bytes) {
    hmac_sha256_update(static_cast<hmac_sha256_ctx*>(context), size, bytes);
  };
  const auto digest = [](void* context, std::size_t size, std::uint8_t* bytes) {
    hmac_sha256_digest(static_cast<hmac_sha256_ctx*>(context), size, bytes);
  };
  HmacState state;
  SetKey(state.context, salt);
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> middle{};
  hkdf_extract(&state.context, update, digest, middle.size(), secret.size(), secret.data(),
               middle.data());
  SetKey(state.context, middle);
  hkdf_expand(&state.context, update, digest, middle.size(), info.size(), info.data(), out.size(),
              out.data());
  WipeBytes(middle);
}

}  // namespace

Result<Key> Key::FromBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kBytes) {
    return Fail(Code::kInvalid, "a key has 32 bytes");
  }
  Key key;
  std::ranges::copy(bytes, key.bytes_.begin());
  return key;
}

Result<Key> Key::Random() {
  Key key;
  MACO_TRY(FillRandom(key.bytes_));
  return key;
}

Key::Key(Key&& other) noexcept : bytes_(other.bytes_) { WipeBytes(other.bytes_); }

Key& Key::operator=(Key&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    WipeBytes(other.bytes_);
  }
  return *this;
}

Key::~Key() { WipeBytes(bytes_); }

Key Key::Subkey(std::string_view domain) const {
  Key key;
  HkdfInto(bytes_, {}, AsBytes(domain), key.bytes_);
  return key;
}

struct KeyedMac::State : HmacState {};

KeyedMac::KeyedMac(const Key& key) : state_(std::make_unique<State>()) {
  SetKey(state_->context, key.bytes());
}
KeyedMac::KeyedMac(KeyedMac&&) noexcept = default;
KeyedMac& KeyedMac::operator=(KeyedMac&&) noexcept = default;
KeyedMac::~KeyedMac() = default;

Mac KeyedMac::Compute(std::string_view domain,
                      std::initializer_list<std::span<const std::uint8_t>> fields) const {
  Gathered input(state_->context);
  input.Integer(domain.size(), 4);
  input.Raw(AsBytes(domain));
  input.Integer(fields.size(), 4);
  for (const auto& field : fields) {
    input.Integer(field.size(), 8);
    input.Raw(field);
  }
  input.Flush();
  Mac out{};
  hmac_sha256_digest(&state_->context, out.size(), out.data());  // and back to the key alone
  return out;
}

Mac ComputeMac(const Key& key, std::string_view domain,
               std::initializer_list<std::span<const std::uint8_t>> fields) {
  return KeyedMac(key).Compute(domain, fields);
}

bool SameMac(const Mac& a, const Mac& b) { return memeql_sec(a.data(), b.data(), a.size()) == 1; }

Result<void> Hkdf(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt,
                  std::span<const std::uint8_t> info, std::span<std::uint8_t> out) {
  if (out.empty() || out.size() > std::size_t{255} * 32) {
    return Fail(Code::kInvalid, "HKDF gives 1 to 8160 bytes");
  }
  HkdfInto(secret, salt, info, out);
  return {};
}

void WipeBytes(std::span<std::uint8_t> bytes) { explicit_bzero(bytes.data(), bytes.size()); }

// What was hashed last stands in it: of a key file, the key.
struct Sha256Stream::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { explicit_bzero(&context, sizeof context); }
  sha256_ctx context{};
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Update(std::span<const std::uint8_t> bytes) {
  sha256_update(&state_->context, bytes.size(), bytes.data());
}

Digest Sha256Stream::Finish() {
  Digest out{};
  sha256_digest(&state_->context, out.size(), out.data());
  return out;
}

Digest Sha256(std::span<const std::uint8_t> bytes) {
  Sha256Stream stream;
  stream.Update(bytes);
  return stream.Finish();
}

Result<std::string> BlobIdOfFile(int fd, std::uint64_t size, std::size_t id_bytes) {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> id{};
  if (id_bytes != SHA1_DIGEST_SIZE && id_bytes != SHA256_DIGEST_SIZE) {
    return Fail(Code::kInvalid, "the id of a blob has 20 or 32 bytes");
  }
  if (id_bytes == SHA256_DIGEST_SIZE) {
    sha256_ctx context{};
    sha256_init(&context);
    MACO_TRY(HashBlob(context, sha256_update, fd, size));
    sha256_digest(&context, id.size(), id.data());
  } else {
    sha1_ctx context{};
    sha1_init(&context);
    MACO_TRY(HashBlob(context, sha1_update, fd, size));
    sha1_digest(&context, SHA1_DIGEST_SIZE, id.data());
  }
  return std::string(id.begin(), id.begin() + static_cast<std::ptrdiff_t>(id_bytes));
}

Result<Digest> Sha256OfFile(int fd, std::uint64_t limit) {
  Sha256Stream stream;
  std::vector<std::uint8_t> buffer(kReadBytes);
  std::uint64_t offset = 0;
  for (;;) {
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, buffer, offset));
    if (got > limit - offset) {
      return Fail(Code::kLimit, "input is larger than " + std::to_string(limit) + " bytes");
    }
    stream.Update(std::span(buffer).first(got));
    offset += got;
    if (got < buffer.size()) {
      return stream.Finish();
    }
  }
}

}  // namespace maco
