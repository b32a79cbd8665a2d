// prepare-log: makes ./log with 5 records in a state that a crash, or worse, leaves.
// usage: prepare-log lagging|torn|damaged. lagging: 2 batches that no head names; torn: the same
// and half a record; damaged: the same with one slot overwritten.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "libcommon/base/report.h"
#include "libcommon/log/log_writer.h"
#include "tests/crash/crash_log.h"
#include "tests/crash/record_pattern.h"

namespace maco {
namespace {

constexpr char kTool[] = "prepare-log";

Result<void> Append(LogWriter& writer, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string payload = RecordPattern(writer.last_sequence() + 1);
    MACO_TRY(writer.Append(AsBytes(payload), Durability::kRecord));
  }
  return {};
}

Result<void> Prepare(const std::string& state) {
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  auto writer = LogWriter::Create(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!writer) {
    return Fail(writer.error());
  }
  MACO_TRY(Append(*writer, 3));
  UniqueFd fd;
  MACO_ASSIGN(fd, here.OpenFile(kCrashLog, O_RDWR));
  Bytes slots(2 * kLogBlockBytes);
  MACO_TRY(PreadFull(fd.get(), slots, kLogBlockBytes));
  MACO_TRY(Append(*writer, 2));
  const std::uint64_t end = writer->end();
  MACO_TRY(writer->Close());
  MACO_TRY(PwriteAll(fd.get(), slots, kLogBlockBytes));
  if (state == "torn") {
    MACO_TRY(PwriteAll(fd.get(), AsBytes("REC1, and no more"), end));
  } else if (state == "damaged") {
    // Head 3 is the older one of heads 3 and 4.
    MACO_TRY(PwriteAll(fd.get(), AsBytes("not a head"), 2 * kLogBlockBytes));
  } else if (state != "lagging") {
    return Fail(Code::kUsage, "no such state");
  }
  return {};
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  if (argc != 2) {
    maco::Note(maco::kTool, "usage: prepare-log lagging|torn|damaged");
    return 2;
  }
  if (const auto done = maco::Prepare(argv[1]); !done) {
    maco::Report(maco::kTool, done.error());
    return 1;
  }
  return 0;
}
