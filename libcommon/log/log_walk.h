// Follows the records of a log and counts what verifies, on one thread or on several.
// Contract: docs/formats/log.md ("Valid if and only if"). For VerifyLog.
#pragma once
#include <cstdint>

#include "libcommon/base/result.h"
#include "libcommon/log/log_scan.h"

namespace maco {

// What was walked over.
struct LogWalk {
  LogPosition last;  // where it stopped
  std::uint64_t records = 0;
  std::uint64_t batches = 0;  // whole ones

  void Add(const LogWalk& next) {
    last = next.last;
    records += next.records;
    batches += next.batches;
  }
};

// From where to where, and the heads that must fit on the way if they are known.
struct LogRange {
  LogPosition from;
  std::uint64_t stop = 0;
  const LogEnds* heads = nullptr;
};

// Up to range.stop, as far as all verifies. Errors: kIo.
Result<LogWalk> WalkChain(LogScan& scan, const LogRange& range);

// The log that several threads open for themselves.
struct LogSource {
  int fd;
  const Key& repository_key;
  const LogIdentity& identity;
};

// The same with `threads` more threads, each with its own scan; the result does not differ. Memory
// is bounded: about 6 MiB, and 5 MiB for each thread. Errors: kIo; those of LogScan::Open.
Result<LogWalk> WalkChainOnThreads(const LogSource& source, const LogRange& range,
                                   unsigned threads);

}  // namespace maco
