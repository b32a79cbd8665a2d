// One chain in order; or pieces of it, cut where the frames say, whose MACs are verified at once.
// Contract: libcommon/log/log_walk.h.
#include "libcommon/log/log_walk.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libcommon/os/fd.h"

namespace maco {
namespace {

// Small enough for a processor's cache; the next size holds a record of any size.
constexpr std::size_t kPieceBytes = std::size_t{512} << 10U;  // 512 KiB
constexpr std::size_t kLargestRecord = kFrameHeaderBytes + kMaxPayloadBytes;

// Whole records, cut out without a look at their MACs: the MAC before the first is from the file.
struct Piece {
  std::size_t number = 0;
  LogPosition from;
  LogPosition to;
  Bytes bytes;  // of the file, from from.end on; what follows the last record means nothing
};

// Pieces on their way to the threads, and what the threads made of them.
class Pieces {
 public:
  explicit Pieces(unsigned threads) : most_(threads + 1) {}

  // False when no more are wanted: an earlier one did not verify, or a thread failed.
  bool Give(Piece piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < most_ || stopped_; });
    if (stopped_) {
      return false;
    }
    walks_.emplace_back();
    piece.number = walks_.size() - 1;
    waiting_.push_back(std::move(piece));
    changed_.notify_all();
    return true;
  }

  // A buffer that was used before, if there is one: fresh memory costs time.
  Bytes Buffer() {
    const std::lock_guard lock(mutex_);
    Bytes buffer;
    if (!spare_.empty()) {
      buffer = std::move(spare_.back());
      spare_.pop_back();
    }
    return buffer;
  }

  void GiveBack(Bytes buffer) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(buffer));
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // The next one in order; nothing at the end. Those after a broken one are not handed out.
  std::optional<Piece> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || closed_ || stopped_; });
    if (stopped_ || waiting_.empty()) {
      return std::nullopt;
    }
    Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return piece;
  }

  void Done(std::size_t number, Result<LogWalk> walk, bool whole) {
    const std::lock_guard lock(mutex_);
    walks_[number] = std::move(walk);
    Stop(!whole);
  }

  void Fail(Error error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    Stop(true);
  }

  // After all threads have ended. Pieces are taken in order, so all before a broken one are done.
  Result<LogWalk> Sum(const LogPosition& start) {
    LogWalk sum;
    sum.last = start;
    if (error_) {
      return maco::Fail(*error_);
    }
    for (const auto& walk : walks_) {
      if (!walk) {
        return sum;
      }
      if (!*walk) {
        return maco::Fail(walk->error());
      }
      sum.Add(**walk);
      if (sum.last.end != ends_.at(static_cast<std::size_t>(&walk - walks_.data()))) {
        return sum;
      }
    }
    return sum;
  }

  void NoteEnd(std::uint64_t end) { ends_.push_back(end); }  // by the giver alone

 private:
  void Stop(bool stop) {
    stopped_ = stopped_ || stop;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t most_;
  std::deque<Piece> waiting_;
  std::vector<Bytes> spare_;
  std::vector<std::optional<Result<LogWalk>>> walks_;
  std::vector<std::uint64_t> ends_;
  std::optional<Error> error_;
  bool closed_ = false;
  bool stopped_ = false;
};

// The position after the whole records among `bytes`, which begin at `from`.
LogPosition Skim(const LogPosition& from, std::uint64_t stop, std::span<const std::uint8_t> bytes) {
  LogPosition position = from;
  while (position.end < stop) {
    const auto record = LogScan::FramedRecord(position, bytes);
    if (!record || record->after.end > stop) {
      break;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(record->after.end - position.end));
    position = record->after;
  }
  return position;
}

// Cuts pieces until `stop`, or where the frames break.
Result<void> CutPieces(int fd, const LogRange& range, Pieces& pieces) {
  LogPosition position = range.from;
  while (position.end < range.stop) {
    Piece piece;
    piece.from = position;
    piece.bytes = pieces.Buffer();
    for (const std::size_t size : {kPieceBytes, kLargestRecord}) {
      piece.bytes.resize(std::max(size, piece.bytes.size()));
      std::size_t got = 0;
      MACO_ASSIGN(got, PreadFull(fd, piece.bytes, position.end));
      piece.to = Skim(position, range.stop, std::span(piece.bytes).first(got));
      if (piece.to.end > position.end) {
        break;
      }
    }
    if (piece.to.end == position.end) {
      return {};
    }
    position = piece.to;
    pieces.NoteEnd(position.end);
    if (!pieces.Give(std::move(piece))) {
      return {};
    }
  }
  return {};
}

void Verify(const LogSource& source, const LogEnds* heads, Pieces& pieces) {
  auto scan = LogScan::Open(source.fd, source.repository_key, source.identity);
  if (!scan) {
    pieces.Fail(scan.error());
    return;
  }
  while (auto piece = pieces.Take()) {
    const LogRange range{piece->from, piece->to.end, heads};
    if (Bytes used = scan->Adopt(std::move(piece->bytes), piece->from.end); !used.empty()) {
      pieces.GiveBack(std::move(used));
    }
    auto walk = WalkChain(*scan, range);
    const bool whole = walk && walk->last.end == range.stop;
    pieces.Done(piece->number, std::move(walk), whole);
  }
}

}  // namespace

Result<LogWalk> WalkChain(LogScan& scan, const LogRange& range) {
  const auto fits = [](const LogPosition& at, const LogHead& head) {
    return at.batch != head.number || at.left > 0 || at.Is(head);
  };
  LogWalk walk;
  walk.last = range.from;
  while (walk.last.end < range.stop) {
    std::optional<LogRecord> record;
    MACO_ASSIGN(record, scan.NextRecord(walk.last));
    if (!record || record->after.end > range.stop) {
      break;
    }
    const LogPosition& after = record->after;
    if (range.heads != nullptr &&
        !(fits(after, range.heads->older) && fits(after, range.heads->newer))) {
      break;
    }
    walk.last = after;
    ++walk.records;
    walk.batches += after.left == 0 ? 1 : 0;
  }
  return walk;
}

Result<LogWalk> WalkChainOnThreads(const LogSource& source, const LogRange& range,
                                   unsigned threads) {
  Pieces pieces(threads);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&] { Verify(source, range.heads, pieces); });
  }
  const auto cut = CutPieces(source.fd, range, pieces);
  pieces.Close();
  for (std::thread& thread : running) {
    thread.join();
  }
  MACO_TRY(cut);
  return pieces.Sum(range.from);
}

}  // namespace maco
