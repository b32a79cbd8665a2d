// OutputPump: takes one output stream of the target from its pipe to our own and to a log.
// Never waits: one poll(2) loop serves all. The log is bounded, the draining is not.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "libcommon/auth/mac.h"
#include "libcommon/base/clock.h"
#include "libcommon/os/fd.h"
#include "maco-run/supervise/stream_end.h"
#include "maco-run/supervise/terminal_text.h"

namespace maco::run {

// Between two attempts at a destination that is ready and takes nothing.
inline constexpr Milliseconds kRetry{20};

class OutputPump {
 public:
  // Reads from `source`; copies to `destination` (-1: nowhere) and to `log`, up to `log_limit`
  // bytes. Borrows the last two. With `escape` the destination gets TerminalText; the log and the
  // digest never do.
  OutputPump(UniqueFd source, int destination, int log, std::uint64_t log_limit,
             bool escape = false);

  // The descriptor and events to wait for, or nullopt when the stream is at its end. -1 after the
  // destination said that it was ready and then took nothing: step again after kRetry.
  struct Wait {
    int fd;
    short events;
  };
  std::optional<Wait> wait() const;

  bool refused() const { return refused_; }

  // After that wait was ready: moves one piece. A reader of ours that went away closes the pipe, so
  // that the target meets it as it would in any pipeline.
  void Step();

  // Moves what is left in the pipe without waiting for more: after the end of the target.
  void Finish();

  bool done() const { return !source_.valid() && pending_.empty(); }
  std::uint64_t total() const { return total_; }
  bool truncated() const { return total_ > logged_; }
  // A reader of ours took nothing for so long that the rest went to the log only.
  bool gave_up() const { return gave_up_; }
  bool log_failed() const { return log_failed_; }
  Digest digest() { return sha256_.Finish(); }

 private:
  bool ReadPiece();
  void WritePiece();
  void Log(std::span<const std::uint8_t> bytes);

  UniqueFd source_;
  StreamEnd destination_;
  int log_;
  std::uint64_t log_limit_;
  std::vector<std::uint8_t> pending_;  // read, not yet written to the destination
  std::uint64_t total_ = 0;
  std::uint64_t logged_ = 0;
  bool log_failed_ = false;
  bool gave_up_ = false;
  bool refused_ = false;
  std::optional<TerminalText> terminal_;
  Sha256Stream sha256_;  // of all bytes, also those that are not kept
};

}  // namespace maco::run
