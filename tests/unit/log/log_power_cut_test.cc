// Power cuts: every state of the disk that the writes and flushes of a log allow, opened again.
// Contract under test: docs/formats/log.md, "Writing": no acknowledged record is ever lost.
//
// This program replaces pwrite(2) and fdatasync(2) for the code it links, records what the writer
// does, and builds the images that a cut may leave: all that was flushed, plus any set of the
// 512-byte sectors that were not. Each flush left out must be noticed, or the test proves nothing.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "libcommon/log/log_repair.h"
#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::size_t kExhaustiveSectors = 8;  // all 2^n sets up to here, a sample above

struct Event {
  bool flush = false;
  std::uint64_t offset = 0;
  Bytes bytes;
};

std::vector<Event>* recording = nullptr;
int flushes_until_failure = -1;  // that many succeed, the next one fails; negative: all succeed

// What Linux may do when a flush fails: the pages count as clean, and never reach the disk. The
// events stay, empty, so that the places of others do not move.
void LoseWhatIsInFlight(std::vector<Event>& events) {
  for (auto event = events.rbegin(); event != events.rend() && !event->flush; ++event) {
    event->bytes.clear();
  }
}

}  // namespace
}  // namespace maco

extern "C" ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  if (maco::recording != nullptr) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    maco::recording->push_back({false, static_cast<std::uint64_t>(offset), {bytes, bytes + size}});
  }
  return syscall(SYS_pwrite64, fd, data, size, offset);
}
extern "C" ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  return pwrite(fd, data, size, offset);
}
// Only recorded: nothing here survives the test, and it saves the time.
extern "C" int fdatasync(int /*fd*/) {
  if (maco::recording != nullptr) {
    if (maco::flushes_until_failure >= 0 && maco::flushes_until_failure-- == 0) {
      maco::LoseWhatIsInFlight(*maco::recording);
      errno = EIO;
      return -1;
    }
    maco::recording->push_back({true, 0, {}});
  }
  return 0;
}

namespace maco {
namespace {

void Apply(Bytes& image, const Event& event) {
  image.resize(std::max<std::size_t>(image.size(), event.offset + event.bytes.size()));
  std::ranges::copy(event.bytes, image.begin() + static_cast<std::ptrdiff_t>(event.offset));
}

// What is promised once `events` have happened.
struct Promise {
  std::size_t events = 0;
  std::uint64_t records = 0;  // are on disk
  std::uint64_t named = 0;    // and a head on disk names them
};

class PowerCutTest : public LogFixture {
 protected:
  // Appends of all shapes: within one sector, over several, growing the file, groups, both
  // durabilities. Fills events_ and promises_.
  void Record() {
    LogWriter writer = Create();
    const std::string start = Load();
    initial_.assign(start.begin(), start.end());
    recording = &events_;
    promises_.push_back({});
    std::uint64_t named = 0;
    int i = 0;
    for (const std::size_t size : {10UL, 700UL, 30UL, 52'000UL, 10UL, 2'000UL}) {
      const std::string payload(size, static_cast<char>('a' + i));
      const std::span<const std::uint8_t> group[] = {AsBytes(payload), AsBytes("second")};
      const auto durability = i % 3 == 1 ? Durability::kRecordAndHead : Durability::kRecord;
      const auto done = i % 2 == 0 ? writer.Append(AsBytes(payload), durability)
                                   : writer.AppendGroup(group, durability);
      ASSERT_TRUE(done);
      named = durability == Durability::kRecordAndHead ? writer.last_sequence() : named;
      promises_.push_back({events_.size(), writer.last_sequence(), named});
      ++i;
    }
    ASSERT_TRUE(writer.Close());
    promises_.push_back({events_.size(), writer.last_sequence(), writer.last_sequence()});
    recording = nullptr;
  }

  // The same with one flush that fails after `succeed` others, room made in advance now and then,
  // and the log opened again after each failure.
  void RecordWithFailure(int succeed) {
    events_.clear();
    promises_.assign(1, {});
    unlink(scratch_.Path(kName).c_str());
    std::optional<LogWriter> writer(Create());
    const std::string start = Load();
    initial_.assign(start.begin(), start.end());
    flushes_until_failure = succeed;
    recording = &events_;
    std::uint64_t named = 0;
    for (int i = 0; i < 7; ++i) {
      if (!writer) {
        auto opened = Open();
        if (!opened) {
          continue;
        }
        writer.emplace(*std::move(opened));
      }
      const auto durability = i % 3 == 1 ? Durability::kRecordAndHead : Durability::kRecord;
      const bool done = i % 4 == 3 ? writer->Reserve(60'000).has_value()
                                   : writer->Append(AsBytes("record"), durability).has_value();
      if (done && i % 4 != 3) {
        named = durability == Durability::kRecordAndHead ? writer->last_sequence() : named;
        promises_.push_back({events_.size(), writer->last_sequence(), named});
      } else if (!done && !writer->Append(AsBytes("record"), durability)) {
        writer.reset();
      }
    }
    writer.reset();
    recording = nullptr;
  }

  const Promise& PromisedAfter(std::size_t events) const {
    const Promise* found = promises_.data();
    for (const Promise& promise : promises_) {
      found = promise.events <= events ? &promise : found;
    }
    return *found;
  }

  // Calls `visit` with the images that a cut after `count` of `events` may leave of `image`.
  template <typename Visit>
  void Cut(const std::vector<Event>& events, std::size_t count, Bytes image, Visit visit) {
    std::size_t flushed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      flushed = events[i].flush ? i : flushed;
    }
    std::vector<Event> sectors;
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].flush) {
        continue;
      }
      if (i < flushed) {
        Apply(image, events[i]);
      } else {
        Split(events[i], sectors);
      }
    }
    if (sectors.size() <= kExhaustiveSectors) {
      for (std::size_t set = 0; set < std::size_t{1} << sectors.size(); ++set) {
        visit(With(image, sectors, [set](std::size_t i) { return (set >> i & 1U) != 0; }));
      }
      return;
    }
    for (int sample = 0; sample < samples_; ++sample) {
      // None, all, all but one, and random sets.
      const std::size_t odd_one = random_() % sectors.size();
      visit(With(image, sectors, [&](std::size_t i) {
        switch (sample) {
          case 0:
            return false;
          case 1:
            return true;
          default:
            return sample % 2 == 0 ? i != odd_one : random_() % 2 == 0;
        }
      }));
    }
  }

  static void Split(const Event& event, std::vector<Event>& sectors) {
    std::uint64_t at = event.offset;
    const std::uint64_t end = event.offset + event.bytes.size();
    while (at < end) {
      const std::uint64_t next = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
      const auto first = event.bytes.begin() + static_cast<std::ptrdiff_t>(at - event.offset);
      sectors.push_back({false, at, {first, first + static_cast<std::ptrdiff_t>(next - at)}});
      at = next;
    }
  }

  template <typename Chosen>
  static Bytes With(Bytes image, const std::vector<Event>& sectors, Chosen chosen) {
    for (std::size_t i = 0; i < sectors.size(); ++i) {
      if (chosen(i)) {
        Apply(image, sectors[i]);
      }
    }
    return image;
  }

  // Why an image breaks a promise; empty if it does not.
  std::string Broken(const Bytes& image, const Promise& promise) {
    Store(AsText(image));
    const auto summary = VerifyLog(scratch_.dir(), kName, key_, TestIdentity());
    if (!summary) {
      return summary.error().message;
    }
    if (summary->records < promise.records) {
      return "an acknowledged record is missing";
    }
    if (summary->verdict != LogVerdict::kClean && summary->verdict != LogVerdict::kHeadLag &&
        summary->verdict != LogVerdict::kTornTail) {
      return "verdict " + std::string(VerdictName(summary->verdict));
    }
    if (summary->records > 0 && NamedRecords() < promise.named) {
      return "the head of a record that others act on is missing";
    }
    if (summary->verdict == LogVerdict::kTornTail) {
      const auto report =
          RepairLog(scratch_.dir(), kName, key_, TestIdentity(), {true, false, false});
      if (!report || report->last_sequence < promise.records) {
        return "a repair lost a record";
      }
    }
    const auto writer = Open();
    if (!writer) {
      return writer.error().message;
    }
    return writer->last_sequence() < promise.records ? "opening lost a record" : "";
  }

  std::uint64_t NamedRecords() {
    const auto reader = LogReader::OpenTorn(scratch_.dir(), kName, key_, TestIdentity());
    return reader ? reader->ends().newer.sequence : 0;
  }

  Bytes initial_;
  std::vector<Event> events_;
  std::vector<Promise> promises_;
  int samples_ = 120;
  std::minstd_rand random_{1};
};

TEST_F(PowerCutTest, NoCutLosesAnAcknowledgedRecord) {
  Record();
  std::size_t images = 0;
  for (std::size_t count = 0; count <= events_.size(); ++count) {
    Cut(events_, count, initial_, [&](const Bytes& image) {
      ++images;
      const std::string broken = Broken(image, PromisedAfter(count));
      EXPECT_EQ(broken, "") << "after event " << count;
    });
  }
  RecordProperty("images", std::to_string(images));
  EXPECT_GT(images, 300U);
}

// The control: with any one flush left out, some cut breaks a promise.
TEST_F(PowerCutTest, EachFlushIsNeeded) {
  Record();
  std::size_t flushes = 0;
  for (std::size_t left_out = 0; left_out < events_.size(); ++left_out) {
    if (!events_[left_out].flush) {
      continue;
    }
    ++flushes;
    std::vector<Event> events = events_;
    events[left_out] = {false, 0, {}};  // an event still, so that promises keep their places
    bool noticed = false;
    for (std::size_t count = left_out + 1; count <= events.size() && !noticed; ++count) {
      Cut(events, count, initial_, [&](const Bytes& image) {
        noticed = noticed || !Broken(image, PromisedAfter(count)).empty();
      });
    }
    EXPECT_TRUE(noticed) << "flush at event " << left_out << " changes nothing";
  }
  EXPECT_EQ(flushes, 9U) << "6 appends, 2 of them with their head, and closing";
}

// A flush that fails once, whichever it is: the caller opens the log again and goes on, and no
// later cut loses what was acknowledged, nor leaves a log that does not open.
TEST_F(PowerCutTest, AFlushThatFailsOnceLosesNothingAcknowledged) {
  samples_ = 3;
  bool failed = true;
  int failures = 0;
  for (int fails = 0; failed; ++fails) {
    RecordWithFailure(fails);
    failed = flushes_until_failure < 0;
    flushes_until_failure = -1;
    failures += failed ? 1 : 0;
    for (std::size_t count = 0; count <= events_.size(); ++count) {
      Cut(events_, count, initial_, [&](const Bytes& image) {
        EXPECT_EQ(Broken(image, PromisedAfter(count)), "")
            << "flush " << fails << " failed, cut after event " << count;
      });
    }
  }
  EXPECT_GE(failures, 9) << "6 appends, 2 of them with their head, and room";
}

// Opening writes too: a second cut during the recovery after a first one.
TEST_F(PowerCutTest, ASecondCutDuringRecoveryLosesNothing) {
  samples_ = 8;
  Record();
  for (std::size_t count = 0; count <= events_.size(); ++count) {
    Cut(events_, count, initial_, [&](const Bytes& image) {
      Store(AsText(image));
      std::vector<Event> recovery;
      recording = &recovery;
      const bool opened = Open().has_value();
      recording = nullptr;
      if (!opened || recovery.size() < 2) {
        return;
      }
      for (std::size_t second = 1; second <= recovery.size(); ++second) {
        Cut(recovery, second, image, [&](const Bytes& after) {
          EXPECT_EQ(Broken(after, PromisedAfter(count)), "") << count << " then " << second;
        });
      }
    });
  }
}

}  // namespace
}  // namespace maco
