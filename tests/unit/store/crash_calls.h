// The calls that change files, replaced for the code they are linked with: counted, and cut.
// For store_crash_test.cc only.
#pragma once

namespace maco {

enum class Cut {
  kKill,      // the process dies, the system goes on
  kHalf,      // the same, in the middle of a write of more than one sector
  kLoseAll,   // and nothing that was not flushed is there
  kLoseSome,  // and some of it is not
};

// When set, calls are counted, and the process dies instead of carrying out call `calls_left`.
extern bool armed;
extern Cut cut;
extern int calls_left;
// Flushes that do nothing, as if they had been left out.
extern bool skip_file_flush;
extern bool skip_directory_flush;

inline constexpr int kDied = 99;  // the exit status then

}  // namespace maco
