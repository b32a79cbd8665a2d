// Byte layouts and MACs of the authenticated log.
// Contract: libcommon/log/log_codec.h, docs/formats/log.md.
#include "libcommon/log/log_codec.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace maco {
namespace {

constexpr std::string_view kHeaderMagic{"MACOLOG\0", 8};
constexpr std::string_view kHeadMagic = "MACOHEAD";
constexpr std::string_view kFrameMagic = "REC1";
constexpr char kKeyDomain[] = "maco.log/1";
constexpr char kHeaderDomain[] = "maco.log.header/1";
constexpr char kHeadDomain[] = "maco.log.head/1";
constexpr char kRecordDomain[] = "maco.log.record/1";
constexpr std::size_t kHeaderMacOffset = kLogBlockBytes - sizeof(Mac);
constexpr std::size_t kEpochOffset = kHeaderMacOffset - sizeof(std::uint32_t);
constexpr std::size_t kHeadMacOffset = kHeadBytes - sizeof(Mac);

Mac TakeMac(ByteReader& reader) {
  Mac mac{};
  const auto bytes = reader.Raw(mac.size());
  std::ranges::copy(bytes, mac.begin());
  return mac;
}

ByteWriter FrameFields(const FrameHeader& frame) {
  ByteWriter out;
  out.Raw(AsBytes(kFrameMagic));
  out.U32(frame.payload_bytes);
  out.U64(frame.sequence);
  out.U64(frame.batch);
  out.U32(frame.left);
  out.U32(0);
  return out;
}

bool AllZero(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; });
}

Error BadHeader(std::string_view reason) {
  return MakeError(Code::kCorrupt, "the header of a log does not verify: " + std::string(reason),
                   "run 'git maco journal verify'");
}

// The parts of a header that are needed before its MAC can be computed.
struct HeaderFields {
  LogId log_id{};
  std::string repository_id;
  std::string object_id;
  std::uint32_t epoch = 0;
};

Result<HeaderFields> ParseHeader(const LogBlock& header) {
  ByteReader reader(header);
  if (AsText(reader.Raw(kHeaderMagic.size())) != kHeaderMagic) {
    return Fail(BadHeader("wrong magic"));
  }
  const std::uint32_t version = reader.U32();
  if (version > kLogVersion) {
    return Fail(Code::kUnsupported,
                "a log has format version " + std::to_string(version) + ", newer than this program",
                "upgrade git-maco");
  }
  if (version != kLogVersion || reader.U32() != kFirstRecordOffset) {
    return Fail(BadHeader("wrong version"));
  }
  HeaderFields fields;
  const auto log_id = reader.Raw(fields.log_id.size());
  std::ranges::copy(log_id, fields.log_id.begin());
  const std::size_t repository_bytes = reader.U16();
  const std::size_t object_bytes = reader.U16();
  fields.repository_id = AsText(reader.Raw(repository_bytes));
  fields.object_id = AsText(reader.Raw(object_bytes));
  if (!reader.ok() || reader.remaining() < kLogBlockBytes - kEpochOffset) {
    return Fail(BadHeader("wrong lengths"));
  }
  fields.epoch = ByteReader(std::span(header).subspan<kEpochOffset>()).U32();
  return fields;
}

}  // namespace

LogCodec::LogCodec(const Key& key, LogIdentity identity, const LogId& log_id)
    : mac_(key), identity_(std::move(identity)), log_id_(log_id) {
  FillHeader();
}

Result<LogCodec> LogCodec::Make(const Key& repository_key, const LogIdentity& identity,
                                const LogId& log_id) {
  const auto fits = [](const std::string& id, std::size_t limit) {
    return !id.empty() && id.size() <= limit;
  };
  if (!fits(identity.repository_id, kMaxRepositoryIdBytes) ||
      !fits(identity.object_id, kMaxObjectIdBytes)) {
    return Fail(Code::kInvalid, "the id of a log is empty or too long");
  }
  return LogCodec(repository_key.Subkey(kKeyDomain), identity, log_id);
}

Result<std::uint32_t> LogCodec::EpochOf(const LogBlock& header) {
  HeaderFields fields;
  MACO_ASSIGN(fields, ParseHeader(header));
  return fields.epoch;
}

Result<LogCodec> LogCodec::ForNewLog(const Key& repository_key, const LogIdentity& identity,
                                     const LogId& log_id) {
  return Make(repository_key, identity, log_id);
}

Result<LogCodec> LogCodec::FromHeader(const LogBlock& header, const Key& repository_key,
                                      const LogIdentity& identity) {
  HeaderFields fields;
  MACO_ASSIGN(fields, ParseHeader(header));
  if (fields.repository_id != identity.repository_id) {
    return Fail(BadHeader("it belongs to another repository"));
  }
  if (fields.object_id != identity.object_id) {
    return Fail(BadHeader("it belongs to another object"));
  }
  if (fields.epoch != identity.epoch) {
    return Fail(BadHeader("a key of another epoch made it"));
  }
  auto codec = Make(repository_key, identity, fields.log_id);
  if (!codec) {
    return codec;
  }
  // One header is right for these fields, and the codec has just built it.
  Mac stored{};
  std::ranges::copy(std::span(header).subspan<kHeaderMacOffset>(), stored.begin());
  const auto fields_of = [](const LogBlock& block) {
    return std::span(block).first<kHeaderMacOffset>();
  };
  if (!SameMac(stored, codec->header_mac_) ||
      !std::ranges::equal(fields_of(header), fields_of(codec->header_))) {
    return Fail(BadHeader("it was changed, or another key made it"));
  }
  return codec;
}

void LogCodec::FillHeader() {
  ByteWriter out;
  out.Raw(AsBytes(kHeaderMagic));
  out.U32(kLogVersion);
  out.U32(static_cast<std::uint32_t>(kFirstRecordOffset));
  out.Raw(log_id_);
  out.U16(static_cast<std::uint16_t>(identity_.repository_id.size()));
  out.U16(static_cast<std::uint16_t>(identity_.object_id.size()));
  out.Raw(AsBytes(identity_.repository_id));
  out.Raw(AsBytes(identity_.object_id));
  std::ranges::copy(out.bytes(), header_.begin());
  ByteWriter epoch;
  epoch.U32(identity_.epoch);
  std::ranges::copy(epoch.bytes(), std::span(header_).subspan<kEpochOffset>().begin());
  header_mac_ = mac_.Compute(kHeaderDomain, {std::span(header_).first<kHeaderMacOffset>()});
  std::ranges::copy(header_mac_, std::span(header_).subspan<kHeaderMacOffset>().begin());
}

LogHead LogCodec::EmptyHead(std::uint64_t number) const {
  LogHead head;
  head.number = number;
  head.mac = header_mac_;
  return head;
}

Mac LogCodec::HeadMac(std::span<const std::uint8_t> fields) const {
  return mac_.Compute(kHeadDomain, {AsBytes(identity_.repository_id), AsBytes(identity_.object_id),
                                    log_id_, fields});
}

std::array<std::uint8_t, kHeadBytes> LogCodec::EncodeHead(const LogHead& head) const {
  ByteWriter out;
  out.Raw(AsBytes(kHeadMagic));
  out.U64(head.number);
  out.U64(head.sequence);
  out.U64(head.end);
  out.Raw(head.mac);
  out.Raw(HeadMac(out.bytes()));
  std::array<std::uint8_t, kHeadBytes> bytes{};
  std::ranges::copy(out.bytes(), bytes.begin());
  return bytes;
}

std::optional<LogHead> LogCodec::DecodeHead(const LogBlock& block, unsigned slot) const {
  ByteReader reader(block);
  const bool magic = AsText(reader.Raw(kHeadMagic.size())) == kHeadMagic;
  LogHead head;
  head.number = reader.U64();
  head.sequence = reader.U64();
  head.end = reader.U64();
  head.mac = TakeMac(reader);
  const Mac stored = TakeMac(reader);
  const auto fields = std::span(block).first<kHeadMacOffset>();
  if (!magic || head.number % 2 != slot || head.end < kFirstRecordOffset ||
      head.end > kMaxLogBytes || !AllZero(std::span(block).subspan<kHeadBytes>()) ||
      !SameMac(stored, HeadMac(fields))) {
    return std::nullopt;
  }
  return head;
}

Mac LogCodec::FrameMac(std::span<const std::uint8_t> fields, const Mac& previous,
                       std::span<const std::uint8_t> payload) const {
  return mac_.Compute(kRecordDomain,
                      {AsBytes(identity_.repository_id), AsBytes(identity_.object_id), log_id_,
                       fields, previous, payload});
}

Mac LogCodec::AppendFrame(const FrameHeader& frame, const Mac& previous,
                          std::span<const std::uint8_t> payload, Bytes& out) const {
  const ByteWriter fields = FrameFields(frame);
  const Mac mac = FrameMac(fields.bytes(), previous, payload);
  for (const auto part : {std::span<const std::uint8_t>(fields.bytes()),
                          std::span<const std::uint8_t>(mac), payload}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return mac;
}

std::optional<FrameHeader> LogCodec::DecodeFrame(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes);
  const bool magic = AsText(reader.Raw(kFrameMagic.size())) == kFrameMagic;
  FrameHeader frame;
  frame.payload_bytes = reader.U32();
  frame.sequence = reader.U64();
  frame.batch = reader.U64();
  frame.left = reader.U32();
  const bool reserved = reader.U32() == 0;
  frame.mac = TakeMac(reader);
  if (!reader.ok() || !magic || !reserved || frame.payload_bytes > kMaxPayloadBytes ||
      frame.left >= kMaxBatchRecords) {
    return std::nullopt;
  }
  return frame;
}

bool LogCodec::VerifyFrame(const FrameHeader& frame, const Mac& previous,
                           std::span<const std::uint8_t> payload) const {
  return SameMac(frame.mac, FrameMac(FrameFields(frame).bytes(), previous, payload));
}

}  // namespace maco
