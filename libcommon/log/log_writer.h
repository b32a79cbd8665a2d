// LogWriter: appends authenticated records to one log, each durable before it is acknowledged.
// Contract: docs/formats/log.md ("Writing", "Opening for append").
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_codec.h"
#include "libcommon/log/log_format.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"

namespace maco {

// What is on disk when an append returns.
enum class Durability {
  kRecord,         // the record; the head follows with the next append, or with Close
  kRecordAndHead,  // both: for records that another tool or a person acts on (JRN-02)
};

enum class LogLock { kTry, kWait };

// Holds the log's exclusive lock from Create or Open to its end. Movable, not thread-safe.
class LogWriter {
 public:
  // Makes a new, empty log `name` (0600), durable when it returns. `log_id` is for tests that need
  // the same bytes twice; otherwise random. Errors: kExists, kInvalid (an id is empty or too long),
  // kPermission, kLimit, kIo.
  static Result<LogWriter> Create(const Directory& directory, const std::string& name,
                                  const Key& repository_key, const LogIdentity& identity,
                                  std::optional<LogId> log_id = std::nullopt);

  // Opens a log for append. Batches that a crash left without their head are made durable first.
  // Errors: kNotFound, kBusy (another writer; only with kTry), kPermission (owner, mode, links),
  // kTornTail, kCorrupt, kUnsupported (a later version), kLimit, kIo.
  static Result<LogWriter> Open(const Directory& directory, const std::string& name,
                                const Key& repository_key, const LogIdentity& identity,
                                LogLock lock = LogLock::kTry);

  LogWriter(LogWriter&&) noexcept = default;
  LogWriter& operator=(LogWriter&&) noexcept = delete;
  ~LogWriter();  // closes; a failure is then unnoticed, and the next opening recovers

  // Appends one record and returns its sequence; the first is 1. Errors: kLimit (payload, size of
  // the log; nothing was written, the writer stays usable). Any other failure poisons the writer:
  // kLimit (disk full), kIo; from then on every call fails, and whether the record will be found by
  // the next opening is not known.
  Result<std::uint64_t> Append(std::span<const std::uint8_t> payload, Durability durability);

  // Appends 1 to 1024 records that become valid together; returns the sequence of the first.
  // Errors: as Append; kInvalid (no payload).
  Result<std::uint64_t> AppendGroup(std::span<const std::span<const std::uint8_t>> payloads,
                                    Durability durability);

  // Writes zeros ahead, so that appends of up to `bytes` (64 for each record, and its payload) need
  // no more disk space. Errors: kLimit (disk full, size of the log), kIo. The writer stays usable,
  // but for a flush that fails: that poisons it.
  Result<void> Reserve(std::uint64_t bytes);

  // Makes the head of the last record durable. Errors: as a failed Append.
  Result<void> FlushHead();

  // Makes the head durable and gives up the lock. Errors: kIo.
  Result<void> Close();

  std::uint64_t last_sequence() const { return head_.sequence; }  // 0 if the log is empty
  std::uint64_t end() const { return head_.end; }                 // offset after the last record
  const Mac& last_mac() const { return head_.mac; }  // of the last record, else of the header
  const LogId& log_id() const { return codec_.log_id(); }

 private:
  LogWriter(UniqueFd fd, LogCodec codec, const LogHead& before, const LogHead& head,
            std::uint64_t size);
  Result<void> CheckUsable() const;
  Result<void> Grow(std::uint64_t end);
  Result<void> WriteBatch(const Bytes& bytes);
  Result<void> WriteHead(const LogHead& head, Durability durability);

  UniqueFd fd_;
  LogCodec codec_;
  LogHead before_;          // what the other slot holds
  LogHead head_;            // of the last batch that is durable
  std::uint64_t size_ = 0;  // of the file
  bool head_flushed_ = true;
  bool poisoned_ = false;
};

}  // namespace maco
