// RepairLog: what an operator may do to a log that opening refuses: cut a torn tail, rewrite a
// slot. Contract: docs/formats/log.md ("Repair"). Never called without an explicit command.
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_scan.h"
#include "libcommon/os/directory.h"

namespace maco {

struct RepairOptions {
  bool cut_torn_tail = false;  // put zeros over everything after the last whole batch
  bool rewrite_head = false;   // make a damaged head anew from the other one and the records
  bool dry_run = false;        // report, write nothing
  // Where the bytes that are cut are kept first, as a new file of that name; null: nowhere.
  const Directory* keep_in = nullptr;
  std::string keep_name{};
};

struct RepairReport {
  LogVerdict found = LogVerdict::kClean;
  std::uint64_t cut_offset = 0;  // where zeros begin
  std::uint64_t cut_bytes = 0;   // from there to the last byte that is not zero; 0 if none
  bool head_rewritten = false;
  std::uint64_t last_sequence = 0;  // of the log after the repair
};

// Under the log's lock. Verifies every record first; a log whose records do not verify up to a head
// that does is refused, since nothing here can mend it. Doing nothing to a clean log is success.
// Errors: kBusy, kNotFound, kPermission, kTornTail (cutting was not allowed), kCorrupt (a head may
// not be rewritten, or no repair is possible), kUnsupported, kLimit, kIo.
Result<RepairReport> RepairLog(const Directory& directory, const std::string& name,
                               const Key& repository_key, const LogIdentity& identity,
                               const RepairOptions& options);

}  // namespace maco
