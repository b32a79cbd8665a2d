// Framing: exact bytes, round trips, and readers that stay failed once they ran over the end.
// Contract under test: libcommon/base/byte_codec.h.
#include "libcommon/base/byte_codec.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

TEST(ByteWriter, IsLittleEndian) {
  ByteWriter out;
  out.U8(0x01);
  out.U16(0x0302);
  out.U32(0x07060504);
  out.U64(0x0F0E0D0C0B0A0908);
  out.String("ab");
  const Bytes expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2, 0, 0, 0, 'a', 'b'};
  EXPECT_EQ(out.bytes(), expected);
  EXPECT_EQ(out.Take(), expected);
}

TEST(ByteReader, ReadsWhatWasWritten) {
  ByteWriter out;
  out.U8(0xFF);
  out.U16(0xFFFF);
  out.U32(0xFFFFFFFF);
  out.U64(0xFFFFFFFFFFFFFFFF);
  const std::string text("a\0\xFF", 3);
  out.String(text);
  out.Raw(AsBytes("xy"));
  ByteReader in(out.bytes());
  EXPECT_EQ(in.U8(), 0xFFU);
  EXPECT_EQ(in.U16(), 0xFFFFU);
  EXPECT_EQ(in.U32(), 0xFFFFFFFFU);
  EXPECT_EQ(in.U64(), 0xFFFFFFFFFFFFFFFFU);
  EXPECT_EQ(in.String(3), text);
  EXPECT_FALSE(in.AtEnd());
  EXPECT_EQ(in.remaining(), 2U);
  EXPECT_EQ(AsText(in.Raw(2)), "xy");
  EXPECT_TRUE(in.AtEnd());
}

TEST(ByteReader, EveryTruncationFails) {
  ByteWriter out;
  out.U32(7);
  out.String("hello");
  out.U64(9);
  const Bytes bytes = out.Take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in{std::span<const std::uint8_t>(bytes).first(size)};
    in.U32();
    in.String(100);
    in.U64();
    EXPECT_FALSE(in.ok()) << size;
    EXPECT_FALSE(in.AtEnd()) << size;
  }
}

TEST(ByteReader, StaysFailed) {
  const Bytes bytes{1, 2, 3, 4, 5};
  ByteReader in(bytes);
  EXPECT_EQ(in.U64(), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0U);
  EXPECT_EQ(in.String(10), "");
  EXPECT_TRUE(in.Raw(0).empty());
  EXPECT_FALSE(in.ok());
  ByteReader told(bytes);
  told.Fail();
  EXPECT_EQ(told.U8(), 0U);
  EXPECT_FALSE(told.AtEnd());
}

TEST(ByteReader, AStringAboveItsLimitFails) {
  ByteWriter out;
  out.String("12345");
  ByteReader exact(out.bytes());
  EXPECT_EQ(exact.String(5), "12345");
  EXPECT_TRUE(exact.AtEnd());
  ByteReader small(out.bytes());
  EXPECT_EQ(small.String(4), "");
  EXPECT_FALSE(small.ok());
}

TEST(ByteReader, AHugeLengthIsNotBelieved) {
  const Bytes bytes{0xFF, 0xFF, 0xFF, 0xFF, 'a'};
  ByteReader in(bytes);
  EXPECT_EQ(in.String(0xFFFFFFFF), "");
  EXPECT_FALSE(in.ok());
  ByteReader raw(bytes);
  EXPECT_TRUE(raw.Raw(SIZE_MAX).empty());
  EXPECT_FALSE(raw.ok());
}

TEST(ByteReader, AnEmptyInputIsAtItsEnd) {
  ByteReader in({});
  EXPECT_TRUE(in.AtEnd());
  EXPECT_TRUE(in.Raw(0).empty());
  EXPECT_TRUE(in.AtEnd());
}

}  // namespace
}  // namespace maco
