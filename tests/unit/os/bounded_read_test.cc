// Reading with a cap: exactly the cap is allowed, one byte more is not.
// Contract under test: libcommon/os/bounded_read.h.
#include "libcommon/os/bounded_read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "libcommon/os/fd.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

UniqueFd FileWith(const ScratchDir& scratch, std::size_t size) {
  auto file = scratch.dir().OpenFile("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT_TRUE(file.has_value());
  const Bytes bytes(size, 'x');
  EXPECT_TRUE(PwriteAll(file->get(), bytes, 0).has_value());
  return std::move(*file);
}

TEST(BoundedRead, TheLimitItselfIsAllowed) {
  const ScratchDir scratch;
  for (const std::size_t size : {0UL, 1UL, 65535UL, 65536UL, 65537UL, 200'000UL}) {
    const UniqueFd file = FileWith(scratch, size);
    EXPECT_EQ(ReadAllAt(file.get(), size)->size(), size);
    EXPECT_EQ(ReadAllAt(file.get(), size + 1)->size(), size);
    EXPECT_EQ(ReadPath(scratch.Path("f"), size)->size(), size);
    EXPECT_EQ(ReadAll(file.get(), size)->size(), size);
    if (size > 0) {
      EXPECT_EQ(ReadAllAt(file.get(), size - 1).error().code, Code::kLimit);
      EXPECT_EQ(ReadPath(scratch.Path("f"), size - 1).error().code, Code::kLimit);
    }
  }
}

TEST(BoundedRead, AnEndlessFileEnds) {
  EXPECT_EQ(ReadPath("/dev/zero", 100'000).error().code, Code::kLimit);
}

TEST(BoundedRead, AFileWithoutASizeIsReadWhole) {
  const auto text = ReadPath("/proc/self/status", 1UL << 20U);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->starts_with("Name:"));
  EXPECT_EQ(text->back(), '\n');
}

TEST(BoundedRead, ReadAllStartsWhereTheDescriptorIs) {
  const ScratchDir scratch;
  const UniqueFd file = FileWith(scratch, 10);
  lseek(file.get(), 7, SEEK_SET);
  EXPECT_EQ(ReadAllAt(file.get(), 10)->size(), 10U);
  EXPECT_EQ(ReadAll(file.get(), 10)->size(), 3U);
}

TEST(BoundedRead, TellsWhatCannotBeRead) {
  EXPECT_EQ(ReadPath("/nowhere/at/all", 10).error().code, Code::kNotFound);
  EXPECT_EQ(ReadPath("/", 10).error().os_errno, EISDIR);
  EXPECT_EQ(ReadAll(-1, 10).error().os_errno, EBADF);
  const auto pipe = MakePipe();
  EXPECT_EQ(ReadAllAt(pipe->read_end.get(), 10).error().os_errno, ESPIPE);
}

}  // namespace
}  // namespace maco
