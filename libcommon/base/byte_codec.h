// Little-endian fields and length-prefixed strings, checked: the framing of all our binary formats.
// A reader that ran over the end, or met a length above its limit, is failed and stays failed.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace maco {

using Bytes = std::vector<std::uint8_t>;

inline std::span<const std::uint8_t> AsBytes(std::string_view text) {
  // Reading any object as bytes is what reinterpret_cast to unsigned char is defined for.
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view AsText(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ByteWriter {
 public:
  void U8(std::uint8_t value) { out_.push_back(value); }
  void U16(std::uint16_t value) { Integer(value, 2); }
  void U32(std::uint32_t value) { Integer(value, 4); }
  void U64(std::uint64_t value) { Integer(value, 8); }
  void Raw(std::span<const std::uint8_t> bytes);
  void String(std::string_view text);  // u32 length, then the bytes
  const Bytes& bytes() const { return out_; }
  Bytes Take() { return std::move(out_); }

 private:
  void Integer(std::uint64_t value, unsigned width);
  Bytes out_;
};

// Borrows its input. After a failure every call returns zero or nothing and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> in) : in_(in) {}
  std::uint8_t U8() { return static_cast<std::uint8_t>(Integer(1)); }
  std::uint16_t U16() { return static_cast<std::uint16_t>(Integer(2)); }
  std::uint32_t U32() { return static_cast<std::uint32_t>(Integer(4)); }
  std::uint64_t U64() { return Integer(8); }
  std::span<const std::uint8_t> Raw(std::size_t length);
  std::string String(std::size_t limit);
  void Fail() { ok_ = false; }  // for a caller that met a value out of its range
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && in_.empty(); }
  std::size_t remaining() const { return in_.size(); }

 private:
  std::uint64_t Integer(unsigned width);
  std::span<const std::uint8_t> in_;
  bool ok_ = true;
};

}  // namespace maco
