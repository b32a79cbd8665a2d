// Strict reading of journal events.
// Contract: libcommon/state/run_event.h.
#include "libcommon/state/run_event.h"

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"

namespace maco {

Result<Json> ParseEvent(std::span<const std::uint8_t> payload, std::uint64_t sequence) {
  auto event = ParseJson(AsText(payload), kMaxEventBytes);
  if (!event || !event->is_object() || EventText(*event, "event").empty()) {
    return Fail(Code::kCorrupt,
                "record " + std::to_string(sequence) + " of its journal is no event",
                "look at it with the version that wrote it");
  }
  return event;
}

std::string EventText(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t EventUint(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool EventFlag(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_boolean() && found->get<bool>();
}

bool IsFinishing(const std::string& event) {
  return event == kCommandCompleted || event == kCommandUnproven || event == kRunRefused;
}

}  // namespace maco
