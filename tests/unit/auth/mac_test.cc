// Published vectors, framing without collisions, wiping and streaming of libcommon/auth/mac.
// Vectors: RFC 5869 appendix A, RFC 4231 (through HKDF), FIPS 180-4 examples.
#include "libcommon/auth/mac.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

Key TestKey(std::uint8_t fill) {
  const std::vector<std::uint8_t> bytes(Key::kBytes, fill);
  return *Key::FromBytes(bytes);
}

struct HkdfCase {
  std::string secret, salt, info, out;
};

TEST(Hkdf, MatchesRfc5869) {
  const HkdfCase cases[] = {
      {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
       "f0f1f2f3f4f5f6f7f8f9",
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
  };
  for (const auto& c : cases) {
    std::vector<std::uint8_t> out(c.out.size() / 2);
    ASSERT_TRUE(Hkdf(*FromHex(c.secret), *FromHex(c.salt), *FromHex(c.info), out));
    EXPECT_EQ(ToHex(out), c.out);
  }
}

TEST(Hkdf, RefusesLengthsOutsideTheRfc) {
  const std::vector<std::uint8_t> secret(32);
  std::vector<std::uint8_t> too_long(255 * 32 + 1);
  EXPECT_EQ(Hkdf(secret, {}, {}, too_long).error().code, Code::kInvalid);
  EXPECT_EQ(Hkdf(secret, {}, {}, {}).error().code, Code::kInvalid);
}

TEST(Sha256, MatchesFips180) {
  EXPECT_EQ(ToHex(Sha256(AsBytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, StreamAndFileGiveTheSameAsOneShot) {
  const ScratchDir scratch;
  const std::string content(700'001, 'x');
  const UniqueFd fd(open(scratch.Path("f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteAll(fd.get(), AsBytes(content)));
  const Digest expected = Sha256(AsBytes(content));
  EXPECT_EQ(Sha256OfFile(fd.get(), content.size()), expected);
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 700'001) << "the offset moved";
  EXPECT_EQ(Sha256OfFile(fd.get(), content.size() - 1).error().code, Code::kLimit);
  Sha256Stream stream;
  stream.Update(AsBytes(content).first(1000));
  stream.Update(AsBytes(content).subspan(1000));
  EXPECT_EQ(stream.Finish(), expected);
}

// The frame of ComputeMac written out, with a MAC computed by another implementation (Python hmac).
TEST(ComputeMac, HasGoldenValue) {
  EXPECT_EQ(ToHex(ComputeMac(TestKey(7), "maco.test/1", {AsBytes("ab"), AsBytes("")})),
            "42165d731adec332b169227537adee60399e0288bffbf9b106ecd43b5c3ffa6c");
}

// One context for many MACs: none depends on the one before, and fields of any size are covered.
TEST(KeyedMac, GivesWhatComputeMacGives) {
  KeyedMac first(TestKey(7));
  const KeyedMac keyed = std::move(first);
  for (const std::size_t size : {0UL, 1UL, 900UL, 1023UL, 1024UL, 1025UL, 5000UL}) {
    const std::string large(size, 'x');
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(keyed.Compute("d/1", {AsBytes("a"), AsBytes(large), AsBytes("b")}),
                ComputeMac(TestKey(7), "d/1", {AsBytes("a"), AsBytes(large), AsBytes("b")}));
    }
    EXPECT_NE(keyed.Compute("d/1", {AsBytes(large), AsBytes("b")}),
              keyed.Compute("d/1", {AsBytes(large), AsBytes("c")}));
  }
  EXPECT_EQ(ToHex(keyed.Compute("maco.test/1", {AsBytes("ab"), AsBytes("")})),
            ToHex(ComputeMac(TestKey(7), "maco.test/1", {AsBytes("ab"), AsBytes("")})));
}

TEST(ComputeMac, NoTwoFieldListsCollide) {
  const Key key = TestKey(1);
  std::set<Mac> seen;
  seen.insert(ComputeMac(key, "d/1", {}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes("")}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes(""), AsBytes("")}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes("ab")}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes("a"), AsBytes("b")}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes("b"), AsBytes("a")}));
  seen.insert(ComputeMac(key, "d/1", {AsBytes("ab"), AsBytes("")}));
  seen.insert(ComputeMac(key, "d/2", {AsBytes("ab")}));
  seen.insert(ComputeMac(TestKey(2), "d/1", {AsBytes("ab")}));
  EXPECT_EQ(seen.size(), 9U);
}

TEST(SameMac, SeesEveryBit) {
  const Mac a = ComputeMac(TestKey(1), "d/1", {});
  EXPECT_TRUE(SameMac(a, a));
  for (std::size_t bit = 0; bit < a.size() * 8; ++bit) {
    Mac b = a;
    b[bit / 8] = static_cast<std::uint8_t>(b[bit / 8] ^ 1U << bit % 8);
    EXPECT_FALSE(SameMac(a, b));
  }
}

TEST(Key, SubkeysDifferByDomainAndFollowHkdf) {
  const Key key = TestKey(3);
  const Key a = key.Subkey("maco.log/1");
  const Key b = key.Subkey("maco.log/2");
  EXPECT_NE(ToHex(a.bytes()), ToHex(b.bytes()));
  std::vector<std::uint8_t> expected(32);
  ASSERT_TRUE(Hkdf(key.bytes(), {}, AsBytes("maco.log/1"), expected));
  EXPECT_EQ(ToHex(a.bytes()), ToHex(expected));
}

TEST(Key, MovingWipesTheSource) {
  Key a = TestKey(9);
  const Key b = std::move(a);
  EXPECT_EQ(ToHex(a.bytes()), std::string(64, '0'));  // NOLINT: reading after the move is the test
  EXPECT_EQ(b.bytes()[0], 9);
}

TEST(Key, RefusesOtherSizes) {
  const std::vector<std::uint8_t> bytes(31);
  EXPECT_EQ(Key::FromBytes(bytes).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace maco
