// Encoding of the identity document, and when a place counts as the same.
// Contract under test: docs/formats/repository.md.
#include "libcommon/auth/repository_identity.h"

#include <gtest/gtest.h>

#include <string>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/os/bounded_read.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

Key TestKey() {
  std::vector<std::uint8_t> bytes(Key::kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
  }
  return *Key::FromBytes(bytes);
}

RepositoryIdentity Example() {
  RepositoryIdentity identity;
  identity.id = "00112233445566778899aabbccddeeff";
  identity.created_us = 1'700'000'000'000'000;
  identity.rebinds = 1;
  identity.place = {"/srv/b\xff\n/.git", 2049, 77, 1'700'000'000'123'456'789};
  identity.previous = {"/srv/a/.git", 2049, 76, 0};
  return identity;
}

TEST(RepositoryIdentity, GoldenVectorIsWhatIsWritten) {
  const auto golden = ReadPath(MACO_VECTORS "/repository-v1.json", 10'000);
  ASSERT_TRUE(golden);
  EXPECT_EQ(EncodeIdentity(Example(), TestKey()), *golden);
  const auto back = DecodeIdentity(*golden, TestKey());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, Example().id);
  EXPECT_EQ(back->created_us, Example().created_us);
  EXPECT_EQ(back->rebinds, 1U);
  EXPECT_EQ(back->place.path, Example().place.path);
  EXPECT_TRUE(back->place.SamePlace(Example().place));
  EXPECT_TRUE(back->previous.SamePlace(Example().previous));
}

TEST(RepositoryIdentity, EveryFlippedBitIsNoticed) {
  const std::string text = *EncodeIdentity(Example(), TestKey());
  for (std::size_t bit = 0; bit < (text.size() - 1) * 8; ++bit) {  // the newline carries nothing
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(DecodeIdentity(changed, TestKey()).has_value()) << bit;
  }
}

TEST(RepositoryIdentity, ASignedDocumentMustStillBeWellFormed) {
  const auto code = [](const Json& document) {
    const std::string text = *SignDocument(document, TestKey(), "maco.repository/1", "");
    return DecodeIdentity(text, TestKey()).error().code;
  };
  Json good = *VerifyDocument(*EncodeIdentity(Example(), TestKey()), kMaxRepositoryFileBytes,
                              TestKey(), "maco.repository/1", "");
  for (const char* member : {"id", "created_us", "rebinds", "place", "schema"}) {
    Json missing = good;
    missing.erase(member);
    EXPECT_EQ(code(missing), Code::kCorrupt) << member;
  }
  Json wrong = good;
  wrong["created_us"] = -1;
  EXPECT_EQ(code(wrong), Code::kCorrupt);
  wrong = good;
  wrong["id"] = "xyz";
  EXPECT_EQ(code(wrong), Code::kCorrupt);
  wrong = good;
  wrong["place"] = "here";
  EXPECT_EQ(code(wrong), Code::kCorrupt);
  wrong = good;
  wrong["schema"] = "maco.repository/2";
  EXPECT_EQ(code(wrong), Code::kUnsupported);
}

TEST(RepositoryPlace, MovedCopiedAndRestoredDiffer) {
  const RepositoryPlace place{"/a", 1, 2, 3};
  EXPECT_TRUE(place.SamePlace({"/a", 1, 2, 3}));
  EXPECT_FALSE(place.SamePlace({"/b", 1, 2, 3})) << "moved";
  EXPECT_FALSE(place.SamePlace({"/a", 1, 9, 3})) << "restored";
  EXPECT_FALSE(place.SamePlace({"/a", 1, 2, 9})) << "restored on the same inode";
  EXPECT_TRUE(place.SamePlace({"/a", 9, 2, 3})) << "the device number changed at a reboot";
  EXPECT_FALSE(place.SamePlace({"/a", 9, 2, 0})) << "nothing but the device tells them apart";
}

TEST(ObservePlace, NamesTheDirectory) {
  const ScratchDir scratch;
  const auto place = ObservePlace(scratch.dir());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->path, scratch.path());
  EXPECT_EQ(place->inode, scratch.dir().Identity()->inode);
  EXPECT_EQ(place->device, scratch.dir().Identity()->device);
}

TEST(ObservePlace, RefusesARemovedDirectory) {
  const ScratchDir scratch;
  const auto dir = scratch.dir().Create("gone", 0700);
  ASSERT_TRUE(dir);
  ASSERT_TRUE(scratch.dir().RemoveDirectory("gone"));
  EXPECT_EQ(ObservePlace(*dir).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace maco
