// Whom the kernel ends first when the memory of a run is used up: the target, then the inner init,
// and the outer guardian, which has to tell how the run ended, only after both.
// oom_score_adj: proc_pid_oom_score_adj(5). Raising it needs no privilege.
#pragma once

namespace maco::run {

inline constexpr int kTargetOomScore = 1000;
inline constexpr int kInitOomScore = 600;

// Sets the calling process's score, which its children inherit. Only before anything untrusted
// runs: other processes of the user reach this one for a moment.
void PreferAsVictim(int oom_score);

}  // namespace maco::run
