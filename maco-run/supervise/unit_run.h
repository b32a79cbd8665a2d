// UnitRun: one transient unit from its start to the proof that nothing of it is left.
// Steps: design "A run, step by step"; protocol with the guardian: docs/formats/gate.md.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/base/clock.h"
#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"
#include "maco-run/gate/report.h"
#include "maco-run/spec/run_spec.h"
#include "maco-run/supervise/disk_use.h"
#include "maco-run/supervise/input.h"
#include "maco-run/supervise/output.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/unit/cgroup.h"
#include "maco-run/unit/user_manager.h"

namespace maco::run {

// Every wait has a fuse (RUN-10).
inline constexpr Milliseconds kGateFuse{60'000};   // start of the unit to the guardian at the gate
inline constexpr Milliseconds kStateFuse{5'000};   // end of the guardian to the unit's last state
inline constexpr Milliseconds kKillFuse{10'000};   // kill request to the end of the target
inline constexpr Milliseconds kLeaveFuse{30'000};  // leave to unit inactive and cgroup gone
inline constexpr Milliseconds kDiskStep{100};      // between two looks at the disk
inline constexpr Milliseconds kLastLookFuse{60'000};  // for the look after the end
inline constexpr Milliseconds kSignalGrace{5'000};    // forwarded signal to kill request

// Where the target's streams go; all borrowed.
struct Streams {
  int input = -1;
  int output = -1;  // -1: to the log only
  int error_output = -1;
  int output_log = -1;
  int error_log = -1;
  bool raw = false;  // control characters reach a terminal as they are
};

// What the guardian said at the gate, and who said it by the kernel's word.
struct AtGate {
  Report report;
  pid_t sender = 0;
  UniqueFd init;  // a pidfd of its parent, the first process of its PID namespace
};

enum class EndedBy { kTarget, kTimeout, kSignal, kMemory, kDisk, kLostGuardian };

// How the target ended.
struct TargetEnd {
  EndedBy by = EndedBy::kTarget;
  int signal = 0;                            // that was forwarded, for kSignal
  std::optional<std::uint32_t> wait_status;  // as wait(2) gives it; none if the guardian is lost
  std::uint32_t leftovers = 0;               // processes that were killed with the namespace
  int exec_errno = 0;                        // execve failed: the target never ran
  std::uint64_t disk_bytes = 0;              // taken when it was stopped for it, for kDisk
};

// How the unit ended.
struct UnitEnd {
  UnitState state;
  std::optional<Population> population;  // of the pinned cgroup, as last seen
};

class UnitRun {
 public:
  // Starts the unit with the guardian in it and hands over stdio, plan and gate.
  // Errors: kRefused, kUnsupported, kLimit, kIo.
  static Result<UnitRun> Start(UserManager manager, const RunSpec& spec, const Streams& streams,
                               SignalSource& signals);

  // Waits for the complete report. Errors: kRefused (set-up failed inside, with stage and reason;
  // or a signal came), kTimeout, kIo.
  Result<AtGate> AwaitGate();

  UserManager& manager() { return manager_; }
  OutputPump& output() { return output_; }
  OutputPump& error_output() { return error_output_; }

  // Opens the gate. Errors: kIo.
  Result<void> Release();

  // Forwards streams and signals until the target has ended, by itself or by us.
  TargetEnd Watch(const AtGate& gate, const Cgroup& cgroup, const Limits& limits, DiskUse& disk);

  // Lets the outer guardian go and waits for the end of the unit; kills when a fuse is over.
  UnitEnd Finish(const Cgroup* cgroup);

 private:
  UnitRun(UserManager manager, UniqueFd control, UniqueFd gate, OutputPump output,
          OutputPump error_output, InputPump input, SignalSource& signals);

  struct Ready {
    bool control = false;
    bool signal = false;
    bool memory = false;
  };
  Ready Wait(Monotonic::time_point deadline, int memory_events);
  Result<bool> TakeGatePacket(AtGate& gate);
  bool TakeEndPacket(TargetEnd& end);
  bool Pressed(Monotonic::time_point deadline) const;
  bool WatchDisk(const Cgroup& cgroup, std::uint64_t limit, DiskUse& disk,
                 Monotonic::time_point deadline, TargetEnd& end);
  Error UnitFailure() const;

  UserManager manager_;
  UniqueFd control_;
  UniqueFd gate_;
  OutputPump output_;
  OutputPump error_output_;
  InputPump input_;
  SignalSource* signals_;
  Bytes report_;                     // pieces so far
  Monotonic::time_point next_look_;  // at the disk
};

}  // namespace maco::run
