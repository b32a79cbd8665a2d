// Creation and loading of the key file, and every way in which it can be unfit.
// Contract under test: docs/formats/key.md.
#include "libcommon/auth/key_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

void WriteFile(const std::string& path, std::string_view bytes) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteAll(fd.get(), AsBytes(bytes)));
}

TEST(KeyFile, LoadsWhatWasCreated) {
  const ScratchDir scratch;
  const auto made = CreateKeyFile(scratch.dir());
  ASSERT_TRUE(made);
  const auto loaded = LoadKeyFile(scratch.dir());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(ToHex(made->key.bytes()), ToHex(loaded->key.bytes()));
  EXPECT_EQ(CreateKeyFile(scratch.dir()).error().code, Code::kExists);
  struct stat st {};
  ASSERT_EQ(stat(scratch.Path("key").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFREG | 0600U);
  EXPECT_EQ(st.st_size, 64);
}

TEST(KeyFile, MakesTheProcessNonDumpable) {
  const ScratchDir scratch;
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kNotFound);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0) << "protection comes before reading";
}

TEST(KeyFile, ReadsTheGoldenVector) {
  const ScratchDir scratch;
  const auto golden = ReadPath(MACO_VECTORS "/key-v1.bin", 1000);
  ASSERT_TRUE(golden);
  WriteFile(scratch.Path("key"), *golden);
  const auto key = LoadKeyFile(scratch.dir());
  ASSERT_TRUE(key);
  EXPECT_EQ(ToHex(key->key.bytes()),
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
}

TEST(KeyFile, EveryTruncationAndFlippedBitIsNoticed) {
  const ScratchDir scratch;
  const std::string golden = *ReadPath(MACO_VECTORS "/key-v1.bin", 1000);
  for (std::size_t size = 0; size < golden.size(); ++size) {
    WriteFile(scratch.Path("key"), golden.substr(0, size));
    EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kCorrupt) << size;
  }
  WriteFile(scratch.Path("key"), golden + "x");
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kCorrupt);
  for (std::size_t bit = 0; bit < golden.size() * 8; ++bit) {
    std::string changed = golden;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    WriteFile(scratch.Path("key"), changed);
    const auto key = LoadKeyFile(scratch.dir());
    ASSERT_FALSE(key.has_value()) << bit;
    // A changed version number may also read as a later version.
    const bool version = bit / 8 >= 8 && bit / 8 < 12;
    EXPECT_TRUE(key.error().code == Code::kCorrupt ||
                (version && key.error().code == Code::kUnsupported));
  }
}

TEST(KeyFile, RefusesUnsafeFiles) {
  const ScratchDir scratch;
  const std::string path = scratch.Path("key");
  ASSERT_TRUE(CreateKeyFile(scratch.dir()));
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kPermission) << mode;
  }
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_TRUE(LoadKeyFile(scratch.dir()));
  ASSERT_EQ(link(path.c_str(), scratch.Path("alias").c_str()), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kPermission);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("alias", path.c_str()), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kIo);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kPermission);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kPermission);
}

TEST(KeyFile, RefusesAnotherOwner) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "changing an owner needs root";
  }
  const ScratchDir scratch;
  ASSERT_TRUE(CreateKeyFile(scratch.dir()));
  ASSERT_EQ(chown(scratch.Path("key").c_str(), 12345, 0), 0);
  EXPECT_EQ(LoadKeyFile(scratch.dir()).error().code, Code::kPermission);
}

}  // namespace
}  // namespace maco
