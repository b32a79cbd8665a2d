// Keys, HMAC-SHA-256 over framed fields, HKDF subkeys and SHA-256: all cryptography of the suite.
// Sources: RFC 2104 (HMAC), RFC 5869 (HKDF), FIPS 180-4 (SHA-256). Framing: docs/formats/key.md.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "libcommon/base/result.h"

namespace maco {

using Mac = std::array<std::uint8_t, 32>;
using Digest = std::array<std::uint8_t, 32>;

// None of the functions below that return a plain value can fail: the algorithms need no
// memory but their own, and nothing is loaded: no file can put code into a process with the key.

// 32 secret bytes. Movable, not copyable; the bytes are wiped when it is destroyed or moved from.
// Distinct uses of one key take distinct subkeys.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;

  // Copies `bytes`; the caller wipes its own copy (WipeBytes). Errors: kInvalid (not 32 bytes).
  static Result<Key> FromBytes(std::span<const std::uint8_t> bytes);
  // 256 bits from the kernel. Errors: kIo.
  static Result<Key> Random();

  Key(Key&& other) noexcept;
  Key& operator=(Key&& other) noexcept;
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key();

  // The key for one use: HKDF-SHA-256 with this key, no salt, and `domain` as the info. A domain
  // string ends in its version, as in "maco.log/1".
  Key Subkey(std::string_view domain) const;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  Key() = default;
  std::array<std::uint8_t, kBytes> bytes_{};
};

// HMAC-SHA-256 over u32 length of `domain`, `domain`, u32 count of fields, and for each field its
// u64 length and bytes (little-endian): two different lists never give the same input.
Mac ComputeMac(const Key& key, std::string_view domain,
               std::initializer_list<std::span<const std::uint8_t>> fields);

// The same MACs under one key, without setting the key up for each. Movable. Not thread-safe, not
// even for Compute: each thread has its own.
class KeyedMac {
 public:
  explicit KeyedMac(const Key& key);
  KeyedMac(KeyedMac&&) noexcept;
  KeyedMac& operator=(KeyedMac&&) noexcept;
  ~KeyedMac();
  Mac Compute(std::string_view domain,
              std::initializer_list<std::span<const std::uint8_t>> fields) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compares in a time that does not depend on the content.
bool SameMac(const Mac& a, const Mac& b);

// HKDF-SHA-256 as RFC 5869 has it. Errors: kInvalid (`out` is empty or longer than 255 * 32 bytes).
Result<void> Hkdf(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt,
                  std::span<const std::uint8_t> info, std::span<std::uint8_t> out);

// Overwrites secret bytes in a way that the compiler does not remove.
void WipeBytes(std::span<std::uint8_t> bytes);

Digest Sha256(std::span<const std::uint8_t> bytes);

// SHA-256 of a stream. Finish() may be called once.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  ~Sha256Stream();
  void Update(std::span<const std::uint8_t> bytes);
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// SHA-256 of an open regular file from offset 0, without moving the offset.
// Errors: kLimit (more than `limit` bytes), kIo.
Result<Digest> Sha256OfFile(int fd, std::uint64_t limit);

}  // namespace maco
