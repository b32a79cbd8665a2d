// append-driver: uses the real LogWriter in one of a few scenarios, and says what was acknowledged.
// Prints "try FIRST LAST" before and "ack LAST" after each append, "named LAST" once the head that
// names it is durable; "ack 0": the log was created.
// usage: append-driver fresh|power|lagging|torn|damaged [MARK_COMMAND]. The log is ./log;
// MARK_COMMAND gets the number of each acknowledgement as its argument, right after it.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/log/log_repair.h"
#include "libcommon/log/log_writer.h"
#include "tests/crash/crash_log.h"
#include "tests/crash/record_pattern.h"

namespace maco {
namespace {

constexpr char kTool[] = "append-driver";
// Wrong drivers, to see that the checkers notice them.
#ifdef MACO_CRASH_ACK_FIRST
constexpr bool kAckFirst = true;
#else
constexpr bool kAckFirst = false;
#endif
#ifdef MACO_CRASH_IGNORE_ERRORS
constexpr bool kIgnoreErrors = true;
#else
constexpr bool kIgnoreErrors = false;
#endif

std::string mark_command;
int lines = 0;  // that were printed

// One write, so that a kill leaves a line or nothing. Errors: kIo, kLimit.
Result<void> Say(const std::string& line) {
  ++lines;
  return WriteAll(STDOUT_FILENO, AsBytes(line + "\n"));
}

Result<void> Acknowledge(std::uint64_t sequence) {
  MACO_TRY(Say("ack " + std::to_string(sequence)));
  if (!mark_command.empty() && system((mark_command + " " + std::to_string(lines)).c_str()) != 0) {
    return Fail(Code::kIo, "the mark could not be set");
  }
  return {};
}

// `count` records as one batch.
Result<void> Append(LogWriter& writer, unsigned count, Durability durability) {
  const std::uint64_t first = writer.last_sequence() + 1;
  const std::uint64_t last = writer.last_sequence() + count;
  std::vector<std::string> payloads;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    payloads.push_back(RecordPattern(sequence));
  }
  std::vector<std::span<const std::uint8_t>> group;
  for (const std::string& payload : payloads) {
    group.push_back(AsBytes(payload));
  }
  MACO_TRY(Say("try " + std::to_string(first) + " " + std::to_string(last)));
  if (kAckFirst) {
    MACO_TRY(Acknowledge(last));
  }
  const auto appended = writer.AppendGroup(group, durability);
  if (!appended && !kIgnoreErrors) {
    // After a failure nothing more may be taken, or two records could be fused into one.
    if (writer.AppendGroup(group, durability)) {
      MACO_TRY(Say("not poisoned"));
    }
    return Fail(appended.error());
  }
  if (durability == Durability::kRecordAndHead) {
    MACO_TRY(Say("named " + std::to_string(last)));
  }
  return kAckFirst ? Result<void>() : Acknowledge(last);
}

Result<void> Close(LogWriter& writer) {
  MACO_TRY(writer.Close());
  MACO_TRY(Say("named " + std::to_string(writer.last_sequence())));
  return Acknowledge(writer.last_sequence());
}

Result<void> OpenAndAppend() {
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  auto writer = LogWriter::Open(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!writer) {
    return Fail(writer.error());
  }
  MACO_TRY(Append(*writer, 1, Durability::kRecord));
  MACO_TRY(Append(*writer, 1, Durability::kRecordAndHead));
  MACO_TRY(Append(*writer, 1, Durability::kRecord));
  return Close(*writer);
}

Result<void> Fresh() {
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  {
    auto writer = LogWriter::Create(here, kCrashLog, CrashKey(), CrashIdentity());
    if (!writer) {
      return Fail(writer.error());
    }
    MACO_TRY(Acknowledge(0));
    MACO_TRY(Append(*writer, 1, Durability::kRecord));
    MACO_TRY(Append(*writer, 1, Durability::kRecordAndHead));
    MACO_TRY(Append(*writer, 3, Durability::kRecord));
    MACO_TRY(Append(*writer, 3, Durability::kRecordAndHead));  // grows: record 7 is large
    MACO_TRY(writer->Reserve(std::uint64_t{70} << 10U));
    MACO_TRY(Append(*writer, 1, Durability::kRecord));
    MACO_TRY(Close(*writer));
  }
  return OpenAndAppend();
}

// Few flushes, each of which a power-cut test leaves out in turn.
Result<void> Power() {
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  auto writer = LogWriter::Create(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!writer) {
    return Fail(writer.error());
  }
  MACO_TRY(Acknowledge(0));
  MACO_TRY(Append(*writer, 1, Durability::kRecord));
  MACO_TRY(Append(*writer, 2, Durability::kRecordAndHead));
  MACO_TRY(Append(*writer, 5, Durability::kRecord));  // grows: record 7 is large
  return Close(*writer);
}

Result<void> RepairAndAppend() {
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  RepairOptions options;
  options.cut_torn_tail = true;
  options.rewrite_head = true;
  const auto report = RepairLog(here, kCrashLog, CrashKey(), CrashIdentity(), options);
  if (!report) {
    return Fail(report.error());
  }
  return OpenAndAppend();
}

Result<void> Run(const std::string& scenario) {
  if (scenario == "fresh") {
    return Fresh();
  }
  if (scenario == "power") {
    return Power();
  }
  if (scenario == "lagging") {
    return OpenAndAppend();
  }
  if (scenario == "torn" || scenario == "damaged") {
    return RepairAndAppend();
  }
  return Fail(Code::kUsage, "no such scenario");
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    maco::Note(maco::kTool, "usage: append-driver fresh|power|lagging|torn|damaged [MARK_COMMAND]");
    return maco::kExitUsage;
  }
  maco::mark_command = argc == 3 ? argv[2] : "";
  if (const auto done = maco::Run(argv[1]); !done) {
    maco::Report(maco::kTool, done.error());
    return maco::kExitFatal;
  }
  return maco::kExitOk;
}
