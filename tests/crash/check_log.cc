// check-log: what a crash left of ./log, against what append-driver said: no acknowledged record is
// missing, nothing is invented, all verifies, and the log takes the next record. Status 1 if not.
// usage: check-log [-r] SAID [SEQUENCE]. SAID is the driver's output; -r: a torn tail or a damaged
// head may be there, and is repaired; SEQUENCE: of the last record before the driver ran, default
// 0.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "libcommon/base/report.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/log/log_repair.h"
#include "libcommon/log/log_verify.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/bounded_read.h"
#include "tests/crash/crash_log.h"
#include "tests/crash/record_pattern.h"

namespace maco {
namespace {

constexpr char kTool[] = "check-log";

struct Said {
  bool created = false;
  std::uint64_t acknowledged = 0;  // the last record that must be there
  std::uint64_t in_flight = 0;     // the last one that may be there
  std::uint64_t named = 0;         // the last one that a head must name
};

Result<Said> ParseSaid(const std::string& path, std::uint64_t before) {
  std::string text;
  MACO_ASSIGN(text, ReadPath(path, std::size_t{1} << 20U));
  Said said;
  said.acknowledged = before;
  said.in_flight = before;
  said.created = before > 0;
  std::istringstream lines(text);
  std::string word;
  while (lines >> word) {
    std::uint64_t number = 0;
    if (word == "ack" && lines >> number) {
      said.created = true;
      said.acknowledged = std::max(said.acknowledged, number);
    } else if (word == "named" && lines >> number) {
      said.named = std::max(said.named, number);
    } else if (word == "try" && lines >> number >> said.in_flight) {
      continue;
    } else {
      return Fail(Code::kInvalid, "the driver said '" + word + "'");
    }
  }
  return said;
}

// Every record that is there, compared with what the driver writes; heads must name `named` of
// them. Returns how many there are.
Result<std::uint64_t> CheckRecords(const Directory& here, std::uint64_t named) {
  auto reader = LogReader::Open(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!reader) {
    return Fail(reader.error());
  }
  if (reader->ends().newer.sequence < named) {
    return Fail(Code::kCorrupt, "no head names record " + std::to_string(named));
  }
  std::uint64_t count = 0;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      return count;
    }
    ++count;
    if (entry->sequence != count || AsText(entry->payload) != RecordPattern(count)) {
      return Fail(Code::kCorrupt, "record " + std::to_string(count) + " is not what was appended");
    }
  }
}

Result<void> CheckCount(const Directory& here, const Said& said) {
  std::uint64_t count = 0;
  MACO_ASSIGN(count, CheckRecords(here, said.named));
  if (count != said.acknowledged && count != said.in_flight) {
    return Fail(Code::kCorrupt, "there are " + std::to_string(count) +
                                    " records, acknowledged are " +
                                    std::to_string(said.acknowledged) + ", in flight up to " +
                                    std::to_string(said.in_flight));
  }
  return {};
}

Result<void> CheckIntact(const Directory& here) {
  auto summary = VerifyLog(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!summary) {
    return Fail(summary.error());
  }
  if (!summary->intact()) {
    return Fail(Code::kCorrupt, "the verdict is " + std::string(VerdictName(summary->verdict)));
  }
  return {};
}

Result<void> CheckAppend(const Directory& here, bool exists) {
  auto writer = exists ? LogWriter::Open(here, kCrashLog, CrashKey(), CrashIdentity())
                       : LogWriter::Create(here, kCrashLog, CrashKey(), CrashIdentity());
  if (!writer) {
    return Fail(writer.error());
  }
  const std::string payload = RecordPattern(writer->last_sequence() + 1);
  MACO_TRY(writer->Append(AsBytes(payload), Durability::kRecordAndHead));
  return writer->Close();
}

Result<void> Repair(const Directory& here) {
  RepairOptions options;
  options.cut_torn_tail = true;
  options.rewrite_head = true;
  MACO_TRY(RepairLog(here, kCrashLog, CrashKey(), CrashIdentity(), options));
  return {};
}

Result<void> Check(const std::string& path, std::uint64_t before, bool repair) {
  Said said;
  MACO_ASSIGN(said, ParseSaid(path, before));
  Directory here;
  MACO_ASSIGN(here, Directory::OpenPath("."));
  const bool exists = here.Stat(kCrashLog).has_value();
  if (!exists && said.created) {
    return Fail(Code::kCorrupt, "the log was created, and is not there");
  }
  if (exists) {
    if (repair) {
      MACO_TRY(Repair(here));
    }
    MACO_TRY(CheckIntact(here));
    MACO_TRY(CheckCount(here, said));
  }
  MACO_TRY(CheckAppend(here, exists));
  MACO_TRY(CheckRecords(here, said.named));
  return CheckIntact(here);
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  bool repair = false;
  unsigned long before = 0;
  for (int option = 0; (option = getopt(argc, argv, "rb:")) != -1;) {
    repair = repair || option == 'r';
    before = option == 'b' ? strtoul(optarg, nullptr, 10) : before;
  }
  const char* said = getenv("SAID");
  if (said == nullptr || optind != argc) {
    maco::Note(maco::kTool, "usage: SAID=FILE check-log [-r] [-b SEQUENCE]");
    return 2;
  }
  if (const auto done = maco::Check(said, before, repair); !done) {
    maco::Report(maco::kTool, done.error());
    return 1;
  }
  return 0;
}
