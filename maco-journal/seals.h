// Seals: what the keys of past epochs signed, written down by the key that came after them.
// Contract: docs/formats/seal.md. Made by rekey, asked by verify.
#pragma once
#include <map>
#include <string>

#include "libcommon/auth/key_file.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_verify.h"
#include "libcommon/state/journals.h"

namespace maco::journal {

// Where a journal ended when its key was retired.
struct Seal {
  std::uint64_t records = 0;
  Mac last_mac{};
};

// By the journal's name; of all epochs up to the present one. Errors: those of opening a journal,
// kCorrupt (a seal is missing, unfinished or malformed).
Result<std::map<std::string, Seal>> ReadSeals(const StateRoot& state);

// Writes the seal for `next`, with what is there now. Errors: kRefused (an uncertain run: it could
// not be resolved any more), kCorrupt (a journal does not verify), those of opening, kLimit, kIo.
Result<void> WriteSeal(const StateRoot& state, const EpochKey& next);

// Why a journal of a past epoch does not count; empty if it does.
std::string SealDifference(const std::map<std::string, Seal>& seals, const std::string& name,
                           const LogSummary& summary);

}  // namespace maco::journal
