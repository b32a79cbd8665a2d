// The events in a run's journal, read: names, members, bounds.
// Contract: docs/formats/run.md ("Events").
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

inline constexpr char kRunsName[] = "runs";       // directory in the state root
inline constexpr char kRunLogName[] = "run.log";  // journal of a run, in its directory
inline constexpr char kEvidencePath[] = "trusted/evidence.json";
inline constexpr char kEvidenceSchema[] = "maco.evidence/1";  // also the domain of its signature
inline constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20U;

inline constexpr char kRunPlanned[] = "run_planned";
inline constexpr char kCommandStarted[] = "command_started";
inline constexpr char kCommandCompleted[] = "command_completed";
inline constexpr char kCommandUnproven[] = "command_unproven";
inline constexpr char kRunRefused[] = "run_refused";
inline constexpr char kRunResolved[] = "run_resolved";
inline constexpr char kRunFinalized[] = "run_finalized";  // see finalization.h

// One record of a journal of ours: an object with a text "event". Errors: kCorrupt (it is not).
Result<Json> ParseEvent(std::span<const std::uint8_t> payload, std::uint64_t sequence);

// Members of an event; "", 0 and false where there is none of that type.
std::string EventText(const Json& event, const char* name);
std::uint64_t EventUint(const Json& event, const char* name);
bool EventFlag(const Json& event, const char* name);

// Whether the command is over, or was never begun, and the evidence says how.
bool IsFinishing(const std::string& event);

}  // namespace maco
