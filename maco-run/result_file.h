// The result of a run: read from the descriptor that we kept, written where the caller wants it.
// Requirements OUT-01, OUT-04, OUT-05.
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-run/record/run_store.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// The path must be new, in a directory that exists. Errors: kExists, kNotFound, kInvalid.
Result<ResultPlace> FindResultPlace(const std::string& path);

// Before the run: it must not be able to write there. Errors: kRefused, kIo.
Result<void> CheckResultPlace(const ResultPlace& place, const RunSpec& spec);

// Puts the kept result of a run that is over where the caller wants it; the same bytes may be there
// already. Errors: kExists (others are), kCorrupt (it is not what `evidence` says), kNotFound, kIo.
Result<void> RestoreResult(const StateRoot& state, const std::string& run_id,
                           const std::string& evidence, const std::string& path);

// What became of the result file, for the evidence. `limit` is in bytes.
Json DescribeResultFile(const RunStore& store, std::uint64_t limit);

// Its size now, 0 if it cannot be told.
std::uint64_t ResultSize(const RunStore& store);

// Copies the result to the place, which must still be new. Errors: kLimit, kExists, kPermission,
// kIo.
Result<void> SaveResult(const RunStore& store, const ResultPlace& place, std::uint64_t limit);

}  // namespace maco::run
