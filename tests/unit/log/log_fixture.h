// A scratch log with a fixed key and fixed ids, and its bytes to tamper with.
// For the tests of libcommon/log only.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/log/log_verify.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/bounded_read.h"
#include "tests/unit/scratch_dir.h"

namespace maco {

inline Key TestKey(std::uint8_t first = 0) {
  std::vector<std::uint8_t> bytes(Key::kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i + first);
  }
  return *Key::FromBytes(bytes);
}

inline LogIdentity TestIdentity() { return {"00112233445566778899aabbccddeeff", "run/test"}; }

inline LogId TestLogId() {
  return {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
          0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};
}

class LogFixture : public ::testing::Test {
 protected:
  static constexpr char kName[] = "run.log";

  LogWriter Create(const std::string& name = kName) {
    auto writer = LogWriter::Create(scratch_.dir(), name, key_, TestIdentity(), TestLogId());
    EXPECT_TRUE(writer.has_value());
    return *std::move(writer);
  }
  Result<LogWriter> Open() { return LogWriter::Open(scratch_.dir(), kName, key_, TestIdentity()); }

  Code OpenCode() {
    const auto writer = Open();
    EXPECT_FALSE(writer.has_value());
    return writer ? Code::kInternal : writer.error().code;
  }

  // A closed log with the given records.
  void Make(const std::vector<std::string>& records, const std::string& name = kName) {
    LogWriter writer = Create(name);
    for (const std::string& record : records) {
      ASSERT_TRUE(writer.Append(AsBytes(record), Durability::kRecord));
    }
    ASSERT_TRUE(writer.Close());
  }

  // All payloads, or the error of opening or reading.
  Result<std::vector<std::string>> Read(const std::string& name = kName) {
    auto reader = LogReader::Open(scratch_.dir(), name, key_, TestIdentity());
    if (!reader) {
      return Fail(reader.error());
    }
    std::vector<std::string> out;
    for (;;) {
      const auto entry = reader->Next();
      if (!entry) {
        return Fail(entry.error());
      }
      if (!*entry) {
        return out;
      }
      EXPECT_EQ((*entry)->sequence, out.size() + 1);
      out.emplace_back(AsText((*entry)->payload));
    }
  }

  LogSummary Verify() {
    auto summary = VerifyLog(scratch_.dir(), kName, key_, TestIdentity());
    EXPECT_TRUE(summary.has_value());
    return summary.value_or(LogSummary{});
  }

  std::string Load(const std::string& name = kName) {
    return *ReadPath(scratch_.Path(name), std::size_t{64} << 20U);
  }
  // Overwrites in place: truncating to nothing first makes ext4 flush the file when it is closed.
  void Store(std::string_view bytes, const std::string& name = kName) {
    const UniqueFd fd(open(scratch_.Path(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(WriteAll(fd.get(), AsBytes(bytes)));
    ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes.size())), 0);
  }

  ScratchDir scratch_;
  Key key_ = TestKey();
};

}  // namespace maco
