// Any bytes as a log file, also with their header, heads and MACs made right, so that the fuzzer
// gets past the authentication to the parser behind it.
// Contract under test: docs/formats/log.md. The reader must end with records or an error, never
// hang, overrun or accept more than it was given.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/log/log_codec.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/fd.h"

namespace {

using maco::ByteReader;
using maco::Bytes;

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

const maco::Key& FuzzKey() {
  static const std::vector<std::uint8_t> bytes(maco::Key::kBytes, 1);
  static const maco::Key key = *maco::Key::FromBytes(bytes);
  return key;
}

const maco::LogIdentity& FuzzIdentity() {
  static const maco::LogIdentity identity{"repository", "run/fuzz"};
  return identity;
}

void PutBlock(Bytes& file, std::size_t offset, std::span<const std::uint8_t> bytes) {
  std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(offset));
}

// Reads a small program: two heads, then frames, each with fields as the input has them and a MAC
// that is right; what is left over becomes the tail.
Bytes BuildLog(std::span<const std::uint8_t> input) {
  constexpr std::size_t kMaxFrames = 32;
  constexpr std::size_t kMaxPayload = 64;
  const auto codec = maco::LogCodec::ForNewLog(FuzzKey(), FuzzIdentity(), {});
  ByteReader in(input);
  std::array<maco::LogHead, 2> heads{codec->EmptyHead(0), codec->EmptyHead(1)};
  const std::size_t frames = in.U8() % kMaxFrames;
  std::vector<maco::LogHead> ends{heads[0], heads[1]};
  Bytes records;
  maco::Mac previous = codec->header_mac();
  for (std::size_t i = 0; i < frames && in.ok(); ++i) {
    maco::FrameHeader frame;
    const std::uint8_t shape = in.U8();
    const auto payload = in.Raw(std::min<std::size_t>(in.U8() % kMaxPayload, in.remaining()));
    frame.payload_bytes = static_cast<std::uint32_t>(payload.size()) + (shape & 1U);
    frame.sequence = i + 1 + (shape >> 1U & 1U);
    frame.left = shape >> 2U & 3U;
    frame.batch = ends.back().number + 1 + (shape >> 4U & 1U);
    previous = codec->AppendFrame(frame, previous, payload, records);
    if (frame.left == 0) {
      ends.push_back(
          {frame.batch, frame.sequence, maco::kFirstRecordOffset + records.size(), previous});
    }
  }
  for (maco::LogHead& head : heads) {
    head = ends.at(in.U8() % ends.size());
  }
  Bytes file(maco::kFirstRecordOffset);
  PutBlock(file, 0, codec->header());
  for (const maco::LogHead& head : heads) {
    PutBlock(file, maco::kLogBlockBytes * (1 + head.number % 2), codec->EncodeHead(head));
  }
  file.insert(file.end(), records.begin(), records.end());
  const auto tail = in.Raw(in.remaining());
  file.insert(file.end(), tail.begin(), tail.end());
  return file;
}

void ReadLog(std::span<const std::uint8_t> file) {
  maco::UniqueFd fd(memfd_create("log", MFD_CLOEXEC));
  Require(fd.valid() && maco::WriteAll(fd.get(), file).has_value());
  auto reader = maco::LogReader::FromFd(std::move(fd), FuzzKey(), FuzzIdentity());
  if (!reader) {
    return;
  }
  std::uint64_t count = 0;
  std::uint64_t end = maco::kFirstRecordOffset;
  for (;;) {
    const auto entry = reader->Next();
    if (!entry || !*entry) {
      Require(!entry || count == reader->last_sequence());
      return;
    }
    Require((*entry)->sequence == ++count && (*entry)->offset == end);
    end += maco::kFrameHeaderBytes + (*entry)->payload.size();
    Require(end <= file.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  if (input.empty()) {
    return 0;
  }
  if (input[0] % 4 == 0) {
    ReadLog(input.subspan(1));
  } else {
    ReadLog(BuildLog(input.subspan(1)));
  }
  return 0;
}
