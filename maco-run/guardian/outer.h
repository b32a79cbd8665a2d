// The outer guardian: main process of the unit, outside the target's PID namespace.
// It ends the target when the host is gone, and leaves only when the host has read the counters.
#pragma once

namespace maco::run {

// Takes the launch packet from standard input and runs the unit to its end. Returns the process
// exit status: 0 when the host let it leave.
int RunOuterGuardian();

}  // namespace maco::run
