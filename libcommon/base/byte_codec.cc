// Checked little-endian encoding and decoding.
// Contract: libcommon/base/byte_codec.h.
#include "libcommon/base/byte_codec.h"

namespace maco {

void ByteWriter::Integer(std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) {
    out_.push_back(static_cast<std::uint8_t>(value >> 8U * i));
  }
}

void ByteWriter::Raw(std::span<const std::uint8_t> bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void ByteWriter::String(std::string_view text) {
  U32(static_cast<std::uint32_t>(text.size()));
  Raw(AsBytes(text));
}

std::span<const std::uint8_t> ByteReader::Raw(std::size_t length) {
  if (!ok_ || length > in_.size()) {
    ok_ = false;
    return {};
  }
  const auto out = in_.first(length);
  in_ = in_.subspan(length);
  return out;
}

std::string ByteReader::String(std::size_t limit) {
  const std::uint32_t length = U32();
  if (length > limit) {
    ok_ = false;
  }
  return std::string(AsText(Raw(ok_ ? length : 0)));
}

std::uint64_t ByteReader::Integer(unsigned width) {
  const auto bytes = Raw(width);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{bytes[i]} << 8U * i;
  }
  return value;
}

}  // namespace maco
