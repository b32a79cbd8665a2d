// Events of the prune log, one journal for each epoch of the key.
// Contract: libcommon/state/prune_log.h.
#include "libcommon/state/prune_log.h"

#include <unistd.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"

namespace maco {
namespace {

constexpr char kBegun[] = "prune_begun";
constexpr char kEnded[] = "prune_ended";
constexpr char kRestored[] = "restored";

// Names the log in the remedy.
Error Named(Error error, std::uint32_t epoch) {
  if (error.code == Code::kTornTail) {
    error.remedy =
        "git maco journal repair --cut-torn-tail " + std::string(Journal::OfPrune(epoch).name);
  }
  return error;
}

Result<void> Append(const StateRoot& state, std::vector<Json> events) {
  auto log = OpenOrCreate(state, Journal::OfPrune(state.epoch()), LogLock::kWait);
  if (!log) {
    return Fail(Named(std::move(log).error(), state.epoch()));
  }
  std::vector<std::string> texts;
  for (auto& event : events) {
    event["schema"] = "maco.prune-event/1";
    event["time_us"] = WallMicros();
    event["uid"] = getuid();
    std::string text;
    MACO_ASSIGN(text, Canonicalize(event));
    texts.push_back(std::move(text));
  }
  std::vector<std::span<const std::uint8_t>> batch;
  for (const auto& text : texts) {
    batch.push_back(AsBytes(text));
  }
  MACO_TRY(log->AppendGroup(batch, Durability::kRecordAndHead));
  return log->Close();
}

void Take(const Json& event, std::map<std::string, PrunedRun>& out) {
  const std::string run = EventText(event, "run");
  if (EventText(event, "event") == kBegun) {
    out[run] = {run,
                EventUint(event, "inode"),
                EventText(event, "last_mac"),
                EventUint(event, "records"),
                EventUint(event, "bytes"),
                EventUint(event, "files"),
                EventText(event, "reason"),
                EventUint(event, "time_us"),
                false};
  } else if (EventText(event, "how") == kRestored) {
    out.erase(run);
  } else if (const auto known = out.find(run); known != out.end()) {
    known->second.done = true;
  }
}

}  // namespace

Result<std::map<std::string, PrunedRun>> ReadPruneLog(const StateRoot& state) {
  std::map<std::string, PrunedRun> out;
  for (std::uint32_t epoch = 0; epoch <= state.epoch(); ++epoch) {
    auto reader = OpenForReading(state, Journal::OfPrune(epoch));
    if (!reader && reader.error().code == Code::kNotFound) {
      continue;
    }
    if (!reader) {
      return Fail(Named(std::move(reader).error(), epoch));
    }
    for (;;) {
      std::optional<LogEntry> entry;
      MACO_ASSIGN(entry, reader->Next());
      if (!entry) {
        break;
      }
      Json event;
      MACO_ASSIGN(event, ParseEvent(entry->payload, entry->sequence));
      Take(event, out);
    }
  }
  return out;
}

Result<void> RecordPruneBegun(const StateRoot& state, const std::vector<PrunedRun>& runs) {
  std::vector<Json> events;
  for (const auto& run : runs) {
    events.push_back({{"event", kBegun},
                      {"run", run.run},
                      {"inode", run.inode},
                      {"last_mac", run.last_mac},
                      {"records", run.records},
                      {"bytes", run.bytes},
                      {"files", run.files},
                      {"reason", run.reason}});
  }
  return Append(state, std::move(events));
}

Result<void> RecordPruneEnded(const StateRoot& state, const std::vector<std::string>& runs,
                              const std::string& how) {
  std::vector<Json> events;
  for (const auto& run : runs) {
    events.push_back({{"event", kEnded}, {"run", run}, {"how", how}});
  }
  return Append(state, std::move(events));
}

}  // namespace maco
