// OpenSSL's HMAC, HKDF and SHA-256 behind the contract of the header; no other file includes it.
// Contract: libcommon/auth/mac.h. Source: EVP_MAC(3), EVP_KDF-HKDF(7), EVP_DigestInit(3).
#include "libcommon/auth/mac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "libcommon/auth/blob_id.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;  // 256 KiB

// libcrypto reports only lack of memory for the calls made here.
void Require(bool ok) {
  if (!ok) {
    Note("maco", "libcrypto failed");
    std::abort();
  }
}

// Without a configuration file: neither OPENSSL_CONF nor a system file may load code into a
// process that holds the key, and start-up is faster.
void InitCrypto() {
  static const bool done = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1;
  Require(done);
}

struct Free {
  void operator()(EVP_MAC* p) const { EVP_MAC_free(p); }
  void operator()(EVP_MAC_CTX* p) const { EVP_MAC_CTX_free(p); }
  void operator()(EVP_MD* p) const { EVP_MD_free(p); }
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
  void operator()(EVP_KDF* p) const { EVP_KDF_free(p); }
  void operator()(EVP_KDF_CTX* p) const { EVP_KDF_CTX_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

EVP_MD* FetchSha256() {
  InitCrypto();
  static const Owned<EVP_MD> md(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  Require(md != nullptr);
  return md.get();
}

// A context that is ready for a key; copies of it save the look-up of the digest.
Owned<EVP_MAC_CTX> NewHmac() {
  static const Owned<EVP_MAC_CTX> prototype = [] {
    InitCrypto();
    const Owned<EVP_MAC> mac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
    Require(mac != nullptr);
    Owned<EVP_MAC_CTX> context(EVP_MAC_CTX_new(mac.get()));
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                 OSSL_PARAM_construct_end()};
    Require(context != nullptr && EVP_MAC_CTX_set_params(context.get(), params) == 1);
    return context;
  }();
  Owned<EVP_MAC_CTX> copy(EVP_MAC_CTX_dup(prototype.get()));
  Require(copy != nullptr);
  return copy;
}

// Hands small fields to libcrypto together: a call costs as much as hashing some ten bytes.
class Gathered {
 public:
  explicit Gathered(EVP_MAC_CTX* context) : context_(context) {}
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
    Require(EVP_MAC_update(context_, bytes.data(), bytes.size()) == 1);
  }
  EVP_MAC_CTX* context_;
  std::size_t used_ = 0;
  std::array<std::uint8_t, 1024> held_;
};

// OSSL_PARAM takes mutable pointers, though libcrypto only reads through these.
OSSL_PARAM Octets(const char* name, std::vector<std::uint8_t>& bytes) {
  return OSSL_PARAM_construct_octet_string(name, bytes.data(), bytes.size());
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
  Require(Hkdf(bytes_, {}, AsBytes(domain), key.bytes_).has_value());
  return key;
}

struct KeyedMac::State {
  Owned<EVP_MAC_CTX> context = NewHmac();
};

KeyedMac::KeyedMac(const Key& key) : state_(std::make_unique<State>()) {
  Require(EVP_MAC_init(state_->context.get(), key.bytes().data(), Key::kBytes, nullptr) == 1);
}
KeyedMac::KeyedMac(KeyedMac&&) noexcept = default;
KeyedMac& KeyedMac::operator=(KeyedMac&&) noexcept = default;
KeyedMac::~KeyedMac() = default;

Mac KeyedMac::Compute(std::string_view domain,
                      std::initializer_list<std::span<const std::uint8_t>> fields) const {
  // Without a key: from its beginning again with the one that it has.
  Require(EVP_MAC_init(state_->context.get(), nullptr, 0, nullptr) == 1);
  Gathered input(state_->context.get());
  input.Integer(domain.size(), 4);
  input.Raw(AsBytes(domain));
  input.Integer(fields.size(), 4);
  for (const auto& field : fields) {
    input.Integer(field.size(), 8);
    input.Raw(field);
  }
  input.Flush();
  Mac out{};
  std::size_t written = 0;
  Require(EVP_MAC_final(state_->context.get(), out.data(), &written, out.size()) == 1 &&
          written == out.size());
  return out;
}

Mac ComputeMac(const Key& key, std::string_view domain,
               std::initializer_list<std::span<const std::uint8_t>> fields) {
  return KeyedMac(key).Compute(domain, fields);
}

bool SameMac(const Mac& a, const Mac& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<void> Hkdf(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt,
                  std::span<const std::uint8_t> info, std::span<std::uint8_t> out) {
  if (out.empty() || out.size() > std::size_t{255} * 32) {
    return Fail(Code::kInvalid, "HKDF gives 1 to 8160 bytes");
  }
  InitCrypto();
  const Owned<EVP_KDF> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  Require(kdf != nullptr);
  const Owned<EVP_KDF_CTX> context(EVP_KDF_CTX_new(kdf.get()));
  Require(context != nullptr);
  std::vector<std::uint8_t> secret_copy(secret.begin(), secret.end());
  // No salt is a salt of one hash length of zeros (RFC 5869, 2.2); libcrypto refuses an empty one.
  std::vector<std::uint8_t> salt_copy(salt.begin(), salt.end());
  salt_copy.resize(salt.empty() ? 32 : salt.size());
  std::vector<std::uint8_t> info_copy(info.begin(), info.end());
  char digest[] = "SHA256";
  std::vector<OSSL_PARAM> params = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      Octets(OSSL_KDF_PARAM_KEY, secret_copy), Octets(OSSL_KDF_PARAM_SALT, salt_copy)};
  if (!info_copy.empty()) {
    params.push_back(Octets(OSSL_KDF_PARAM_INFO, info_copy));
  }
  params.push_back(OSSL_PARAM_construct_end());
  const int ok = EVP_KDF_derive(context.get(), out.data(), out.size(), params.data());
  WipeBytes(secret_copy);
  Require(ok == 1);
  return {};
}

void WipeBytes(std::span<std::uint8_t> bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

struct Sha256Stream::State {
  Owned<EVP_MD_CTX> context{EVP_MD_CTX_new()};
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  Require(state_->context != nullptr &&
          EVP_DigestInit_ex2(state_->context.get(), FetchSha256(), nullptr) == 1);
}
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Update(std::span<const std::uint8_t> bytes) {
  Require(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

Digest Sha256Stream::Finish() {
  Digest out{};
  Require(EVP_DigestFinal_ex(state_->context.get(), out.data(), nullptr) == 1);
  return out;
}

Digest Sha256(std::span<const std::uint8_t> bytes) {
  Sha256Stream stream;
  stream.Update(bytes);
  return stream.Finish();
}

Result<std::string> BlobIdOfFile(int fd, std::uint64_t size, std::size_t id_bytes) {
  InitCrypto();
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  Require(context != nullptr &&
          EVP_DigestInit_ex(context.get(), id_bytes == sizeof(Digest) ? EVP_sha256() : EVP_sha1(),
                            nullptr) == 1);
  const std::string head = "blob " + std::to_string(size) + '\0';
  Require(EVP_DigestUpdate(context.get(), head.data(), head.size()) == 1);
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, size + 1)));
  std::uint64_t offset = 0;
  for (;;) {
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, buffer, offset));
    Require(EVP_DigestUpdate(context.get(), buffer.data(), got) == 1);
    offset += got;
    if (got < buffer.size() || offset > size) {
      break;
    }
  }
  if (offset != size) {
    return Fail(Code::kBusy, "a file changed while it was read");
  }
  std::string id(EVP_MAX_MD_SIZE, '\0');
  unsigned written = 0;
  Require(EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(id.data()),
                             &written) == 1 &&
          written == id_bytes);
  id.resize(written);
  return id;
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
