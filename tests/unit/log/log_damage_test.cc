// Tampering: every truncation, every flipped bit, reordering, splicing, replayed heads.
// Contract under test: docs/formats/log.md, "What is detected".
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

using LogDamageTest = LogFixture;

constexpr std::size_t kFrame = kFrameHeaderBytes;
constexpr std::size_t kFirst = kFirstRecordOffset;

// Cuts the zeros that were written ahead down to `keep` bytes after `end`.
std::string Trimmed(std::string bytes, std::uint64_t end, std::size_t keep) {
  bytes.resize(end + keep);
  return bytes;
}

TEST_F(LogDamageTest, EveryTruncationOfWrittenBytesIsNoticed) {
  Make({"first", "second", "third"});
  const std::string whole = Load();
  const std::uint64_t end = Verify().bytes;
  for (std::size_t size = end; size-- > 0;) {
    ASSERT_EQ(truncate(scratch_.Path(kName).c_str(), static_cast<off_t>(size)), 0);
    ASSERT_EQ(OpenCode(), Code::kCorrupt) << size;
    ASSERT_EQ(Read().error().code, Code::kCorrupt) << size;
  }
  // The zeros after the last record carry no meaning: any number of them is the same log.
  for (const std::size_t size : {std::size_t{end}, std::size_t{end} + 1, whole.size() - 1}) {
    Store(std::string_view(whole).substr(0, size));
    EXPECT_EQ(Read()->size(), 3U);
    EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
  }
  ASSERT_TRUE(Open()->Append(AsBytes("fourth"), Durability::kRecord));
  EXPECT_EQ(Read()->size(), 4U);
}

// No bit of the file is without meaning: in header, slots and records a flip is corruption (or, in
// the version number, a later version); among the zeros it is a torn tail.
TEST_F(LogDamageTest, EveryFlippedBitIsNoticed) {
  Make({"one", "two"});
  const std::uint64_t end = Verify().bytes;
  const std::string whole = Trimmed(Load(), end, 64);
  Store(whole);
  const UniqueFd fd(open(scratch_.Path(kName).c_str(), O_RDWR | O_CLOEXEC));
  std::map<Code, int> codes;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    const std::size_t at = bit / 8;
    // All bits of the meaningful bytes; of the slots' checked zeros, one bit in each byte.
    const bool plain_zero = at >= 256 && at < kFirst && whole[at] == 0;
    if (plain_zero && bit % 8 != at % 8) {
      continue;
    }
    const auto flipped =
        static_cast<std::uint8_t>(static_cast<unsigned char>(whole[at]) ^ (1U << bit % 8));
    ASSERT_TRUE(PwriteAll(fd.get(), std::span(&flipped, 1), at));
    auto scan = LogScan::Open(fd.get(), key_, TestIdentity());
    Code code = Code::kInternal;
    if (!scan) {
      code = scan.error().code;
    } else {
      const auto ends = scan->CheckEnds(false);
      ASSERT_TRUE(ends);
      if (ends->verdict != LogVerdict::kClean) {
        code = VerdictError(*ends).code;
      } else {
        // Only a full pass looks at records before the last batch.
        const auto summary = VerifyLog(scratch_.dir(), kName, key_, TestIdentity());
        ASSERT_EQ(summary->verdict, LogVerdict::kChanged) << bit;
        code = Code::kCorrupt;
      }
    }
    const bool version = at >= 8 && at < 12;
    const Code expected = at >= end ? Code::kTornTail : Code::kCorrupt;
    ASSERT_TRUE(code == expected || (version && code == Code::kUnsupported))
        << "byte " << at << " gave " << CodeName(code);
    ++codes[code];
    const auto original = static_cast<std::uint8_t>(whole[at]);
    ASSERT_TRUE(PwriteAll(fd.get(), std::span(&original, 1), at));
  }
  EXPECT_EQ(codes[Code::kTornTail], 64 * 8);
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
}

TEST_F(LogDamageTest, ReorderedDuplicatedAndDroppedRecordsAreNoticed) {
  Make({"aaaa", "bbbb", "cccc", "dddd"});
  const std::string whole = Load();
  constexpr std::size_t kSize = kFrame + 4;
  const auto with = [&](std::initializer_list<std::size_t> order) {
    std::string changed = whole;
    std::size_t at = kFirst;
    for (const std::size_t i : order) {
      changed.replace(at, kSize, whole, kFirst + i * kSize, kSize);
      at += kSize;
    }
    Store(changed);
    return Read().error().code;
  };
  EXPECT_EQ(with({1, 0, 2, 3}), Code::kCorrupt) << "reordered";
  EXPECT_EQ(with({0, 0, 2, 3}), Code::kCorrupt) << "duplicated";
  EXPECT_EQ(with({0, 2, 3, 3}), Code::kCorrupt) << "dropped";
  EXPECT_EQ(with({0, 1, 3, 2}), Code::kCorrupt);
  EXPECT_NE(Verify().verdict, LogVerdict::kClean);
}

TEST_F(LogDamageTest, RecordsOfAnotherLogDoNotFit) {
  Make({"aaaa", "bbbb"});
  auto other = LogWriter::Create(scratch_.dir(), "other", key_, TestIdentity());  // another log id
  ASSERT_TRUE(other);
  ASSERT_TRUE(other->Append(AsBytes("aaaa"), Durability::kRecord));
  ASSERT_TRUE(other->Append(AsBytes("bbbb"), Durability::kRecord));
  ASSERT_TRUE(other->Close());
  const std::string mine = Load();
  const std::string theirs = Load("other");
  constexpr std::size_t kSize = kFrame + 4;
  for (int i = 0; i < 2; ++i) {
    const std::size_t at = kFirst + static_cast<std::size_t>(i) * kSize;
    Store(std::string(mine).replace(at, kSize, theirs, at, kSize));
    EXPECT_EQ(Read().error().code, Code::kCorrupt);
  }
  for (int slot = 1; slot <= 2; ++slot) {
    const std::size_t at = kLogBlockBytes * static_cast<std::size_t>(slot);
    Store(std::string(mine).replace(at, kLogBlockBytes, theirs, at, kLogBlockBytes));
    EXPECT_EQ(OpenCode(), Code::kCorrupt);
    EXPECT_EQ(Verify().verdict, LogVerdict::kDamagedHead);
  }
  Store(std::string(mine).replace(0, kLogBlockBytes, theirs, 0, kLogBlockBytes));
  EXPECT_EQ(OpenCode(), Code::kCorrupt);
}

TEST_F(LogDamageTest, WrongKeyRepositoryOrObjectIsRefused) {
  Make({"a"});
  const auto code = [&](const Key& key, const LogIdentity& identity) {
    const auto reader = LogReader::Open(scratch_.dir(), kName, key, identity);
    const auto writer = LogWriter::Open(scratch_.dir(), kName, key, identity);
    EXPECT_FALSE(reader.has_value() || writer.has_value());
    EXPECT_EQ(reader.error().code, writer.error().code);
    return writer.error().code;
  };
  EXPECT_EQ(code(TestKey(1), TestIdentity()), Code::kCorrupt);
  EXPECT_EQ(code(key_, {"another", "run/test"}), Code::kCorrupt);
  EXPECT_EQ(code(key_, {TestIdentity().repository_id, "run/other"}), Code::kCorrupt);
}

TEST_F(LogDamageTest, OldHeadsPutBackAreNoticed) {
  std::vector<std::string> states;  // slots after each append
  {
    LogWriter writer = Create();
    for (int i = 0; i < 6; ++i) {
      states.push_back(Load().substr(kLogBlockBytes, 2 * kLogBlockBytes));
      ASSERT_TRUE(writer.Append(AsBytes("record"), Durability::kRecordAndHead));
    }
  }
  const std::string whole = Load();
  for (std::size_t i = 0; i < states.size(); ++i) {
    Store(std::string(whole).replace(kLogBlockBytes, 2 * kLogBlockBytes, states[i]));
    const std::size_t lag = states.size() - i;
    if (lag <= kMaxUnnamedBatches) {  // as a crash can leave it, and nothing is lost
      EXPECT_EQ(Verify().verdict, LogVerdict::kHeadLag);
      EXPECT_EQ(Read()->size(), states.size());
    } else {
      EXPECT_EQ(Verify().verdict, LogVerdict::kStaleHead);
      EXPECT_EQ(OpenCode(), Code::kCorrupt);
    }
  }
  // One old slot only: the two are not consecutive.
  Store(std::string(whole).replace(kLogBlockBytes, kLogBlockBytes, states[2], 0, kLogBlockBytes));
  EXPECT_EQ(Verify().verdict, LogVerdict::kDamagedHead);
  EXPECT_EQ(OpenCode(), Code::kCorrupt);
}

TEST_F(LogDamageTest, RecordsRemovedUnderTheirHeadAreNoticed) {
  Make({"first", "second", "third"});
  const std::uint64_t end = Verify().bytes;
  std::string whole = Load();
  whole.replace(end - kFrame - 5, kFrame + 5, kFrame + 5, '\0');
  Store(whole);
  EXPECT_EQ(OpenCode(), Code::kCorrupt);
  EXPECT_EQ(Verify().verdict, LogVerdict::kChanged);
  EXPECT_EQ(Verify().records, 2U) << "what still verifies is told";
}

TEST_F(LogDamageTest, DamageBeforeTheLastBatchFailsReadingThere) {
  Make({"first", "second", "third"});
  std::string whole = Load();
  whole[kFirst + kFrame] = 'F';
  Store(whole);
  EXPECT_EQ(Read().error().code, Code::kCorrupt);
  EXPECT_EQ(Verify().verdict, LogVerdict::kChanged);
  EXPECT_EQ(Verify().offset, kFirst);
  EXPECT_TRUE(Open()) << "appending relies on the last batch only";
}

// The first wrong record is told, also if the last batch is wrong or the heads are old.
TEST_F(LogDamageTest, TheFirstWrongRecordIsToldWhateverElseIsWrong) {
  Make({"first", "second", "third"});
  const std::string whole = Load();
  const std::uint64_t end = Verify().bytes;
  std::string both = whole;
  both[kFirst + kFrame] = 'F';
  both[end - 1] = 'D';
  Store(both);
  EXPECT_EQ(Verify().verdict, LogVerdict::kChanged);
  EXPECT_EQ(Verify().offset, kFirst);
}

TEST_F(LogDamageTest, AWrongRecordUnderStaleHeadsIsAChange) {
  Make({"first"});
  const std::string old = Load().substr(0, kFirst);
  for (const char* record : {"second", "third", "fourth"}) {
    ASSERT_TRUE(Open()->Append(AsBytes(record), Durability::kRecord));
  }
  std::string whole = Load();
  whole.replace(0, kFirst, old);
  Store(whole);
  EXPECT_EQ(Verify().verdict, LogVerdict::kStaleHead);
  whole[kFirst + kFrame] = 'F';
  Store(whole);
  EXPECT_EQ(Verify().verdict, LogVerdict::kChanged);
  EXPECT_EQ(Verify().offset, kFirst);
}

// Heads 0 and 1 are of the empty log, the older one as well (log.md, rule 3). Only an owner of the
// key can make another one.
TEST_F(LogDamageTest, AnOlderHeadOfTheEmptyLogIsCheckedToo) {
  Make({"first"});
  const std::string whole = Load();
  LogBlock header{};
  std::ranges::copy(AsBytes(whole).first(header.size()), header.begin());
  const auto codec = LogCodec::FromHeader(header, key_, TestIdentity());
  ASSERT_TRUE(codec.has_value());
  LogHead wrong = codec->EmptyHead(1);
  wrong.sequence = 1;
  const auto bytes = codec->EncodeHead(wrong);
  Store(std::string(whole).replace(2 * kLogBlockBytes, bytes.size(), AsText(bytes)));
  EXPECT_EQ(Verify().verdict, LogVerdict::kDamagedHead);
  EXPECT_EQ(Verify().offset, 2 * kLogBlockBytes);
}

}  // namespace
}  // namespace maco
