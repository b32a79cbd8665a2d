// The only table of exit statuses. Documented in git-maco(1) and maco-run(1).
#pragma once

namespace maco {

// Tools other than maco-run follow git: 0 done, 1 "the answer is no", 128 fatal, 129 usage.
inline constexpr int kExitOk = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitFatal = 128;
inline constexpr int kExitUsage = 129;

// maco-run passes the target's status through (128 + n for signal n), so its own statuses are the
// ones that env(1), timeout(1) and the shell already use for a wrapper.
inline constexpr int kExitUnproven = 122;       // the target ran, a fact could not be proven
inline constexpr int kExitTimedOut = 124;       // the deadline ended the run
inline constexpr int kExitNotStarted = 125;     // refused or failed before the target started
inline constexpr int kExitCannotExecute = 126;  // the target was found, but exec failed
inline constexpr int kExitNoCommand = 127;      // the target was not found
inline constexpr int kExitSignalBase = 128;

}  // namespace maco
