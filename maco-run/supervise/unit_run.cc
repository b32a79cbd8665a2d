// The poll loop and the phases of a unit's life.
// Contract: maco-run/supervise/unit_run.h.
#include "maco-run/supervise/unit_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"
#include "maco-run/gate/launch_plan.h"
#include "maco-run/gate/packet.h"
#include "maco-run/spec/compose.h"

namespace maco::run {
namespace {

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<SocketPair> MakeControlSockets() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return FailOs(errno, "create a control socket");
  }
  SocketPair pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  // The kernel then attaches the sender's PID to each packet that we receive.
  const int on = 1;
  if (setsockopt(pair.ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return FailOs(errno, "ask for credentials on the control socket");
  }
  return pair;
}

// Whether an out-of-memory kill happened in the cgroup.
bool MemoryKill(int memory_events) {
  std::array<char, 1024> text{};
  const ssize_t n = pread(memory_events, text.data(), text.size(), 0);
  for (const auto line : Split({text.data(), static_cast<std::size_t>(n > 0 ? n : 0)}, '\n')) {
    if (line.starts_with("oom_kill ") && line != "oom_kill 0") {
      return true;
    }
  }
  return false;
}

bool ShownOnTerminal(const Streams& streams, int fd) {
  return !streams.raw && fd >= 0 && isatty(fd) == 1;
}

// Of a process that waits at the gate.
Result<pid_t> ParentOf(pid_t target) {
  std::string text;
  MACO_ASSIGN(text, ReadPath("/proc/" + std::to_string(target) + "/status", 65536));
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(text));
  const auto parent = ParseUint(fields["PPid"]);
  if (!parent || *parent == 0) {
    return Fail(Code::kRefused, "the process at the gate has no parent that we can see");
  }
  return static_cast<pid_t>(*parent);
}

void SignalGroup(pid_t target, int signal_number) {
  // The target leads its own session. It is not reaped before the inner init sees its end, and the
  // init is gone only with our knowledge, so the number cannot be another's.
  kill(-target, signal_number);
}

}  // namespace

UnitRun::UnitRun(UserManager manager, UniqueFd control, UniqueFd gate, OutputPump output,
                 OutputPump error_output, InputPump input, SignalSource& signals)
    : manager_(std::move(manager)),
      control_(std::move(control)),
      gate_(std::move(gate)),
      output_(std::move(output)),
      error_output_(std::move(error_output)),
      input_(std::move(input)),
      signals_(&signals) {}

Result<UnitRun> UnitRun::Start(UserManager manager, const RunSpec& spec, const Streams& streams,
                               SignalSource& signals) {
  Bytes plan;
  MACO_ASSIGN(plan, EncodePlan(ComposePlan(spec)));
  UniqueFd sealed;
  MACO_ASSIGN(sealed, SealedMemory(plan));
  SocketPair control;
  MACO_ASSIGN(control, MakeControlSockets());
  Pipe gate;
  Pipe input;
  Pipe output;
  Pipe error_output;
  for (Pipe* pipe : {&gate, &input, &output, &error_output}) {
    MACO_ASSIGN(*pipe, MakePipe());
  }
  const std::array<int, 5> descriptors{input.read_end.get(), output.write_end.get(),
                                       error_output.write_end.get(), sealed.get(),
                                       gate.read_end.get()};
  // It waits in the socket until the guardian is there.
  MACO_TRY(SendPacket(control.ours.get(), PacketKind::kLaunch, {}, descriptors));
  MACO_TRY(manager.Start(spec.unit, PropertiesToSend(spec), kGuardianInside, control.theirs.get()));
  return UnitRun(
      std::move(manager), std::move(control.ours), std::move(gate.write_end),
      OutputPump(std::move(output.read_end), streams.output, streams.output_log,
                 spec.limits.output_bytes, ShownOnTerminal(streams, streams.output)),
      OutputPump(std::move(error_output.read_end), streams.error_output, streams.error_log,
                 spec.limits.output_bytes, ShownOnTerminal(streams, streams.error_output)),
      InputPump(streams.input, std::move(input.write_end)), signals);
}

UnitRun::Ready UnitRun::Wait(Monotonic::time_point deadline, int memory_events) {
  std::vector<pollfd> set{{manager_.fd(), manager_.events(), 0},
                          {control_.get(), POLLIN, 0},
                          {signals_->fd(), POLLIN, 0},
                          {memory_events, POLLPRI, 0}};
  const auto add = [&](const std::optional<OutputPump::Wait>& wait) {
    set.push_back(wait ? pollfd{wait->fd, wait->events, 0} : pollfd{-1, 0, 0});
  };
  add(output_.wait());
  add(error_output_.wait());
  add(gate_.valid() ? std::nullopt : input_.wait());
  const bool retry_output = output_.refused();
  const bool retry_error_output = error_output_.refused();
  if (retry_output || retry_error_output) {
    deadline = std::min(deadline, Monotonic::now() + kRetry);
  }
  if (poll(set.data(), set.size(), PollMillis(deadline)) < 0) {
    manager_.Process();
    return {};
  }
  if (set[4].revents != 0 || retry_output) {
    output_.Step();
  }
  if (set[5].revents != 0 || retry_error_output) {
    error_output_.Step();
  }
  if (set[6].revents != 0) {
    input_.Step();
  }
  manager_.Process();
  return {set[1].revents != 0, set[2].revents != 0, set[3].revents != 0};
}

Error UnitRun::UnitFailure() const {
  const UnitState& state = manager_.state();
  if (state.disconnected) {
    return MakeError(Code::kRefused, "the user manager went away while the unit started");
  }
  std::string why = "the unit ended before the gate (result '" + state.result + "', status " +
                    std::to_string(state.exec_main_status) + ")";
  // systemd.exec(5), "Process exit codes".
  switch (state.exec_main_status) {
    case 203:
      why += std::string(": there is no guardian at '") + kGuardianInside +
             "' inside the unit: mounts were accepted by the user manager but not applied";
      break;
    case 226:
      why += ": the user manager could not set up mount namespaces";
      break;
    case 225:
      why += ": the user manager could not set up a network namespace";
      break;
    case 217:
      why += ": the user manager could not set up a user namespace";
      break;
    default:
      break;
  }
  return MakeError(Code::kRefused, why, "see 'git maco doctor'");
}

// Returns whether the report is complete.
Result<bool> UnitRun::TakeGatePacket(AtGate& gate) {
  Packet packet;
  MACO_ASSIGN(packet, ReceivePacket(control_.get()));
  if (packet.end_of_stream) {
    control_.Reset();  // the unit's state says why
    return false;
  }
  if (packet.kind == PacketKind::kFailed) {
    ByteReader in(packet.body);
    const std::string stage = in.String(kMaxPacketBytes);
    return Fail(Code::kRefused, "the guardian could not confine the target: " + stage,
                "see 'git maco doctor'");
  }
  if (packet.kind == PacketKind::kReport) {
    if (report_.size() + packet.body.size() > kMaxReportBytes ||
        (gate.sender != 0 && gate.sender != packet.sender)) {
      return Fail(Code::kRefused, "the guardian's report is too long, or of two processes");
    }
    gate.sender = packet.sender;
    report_.insert(report_.end(), packet.body.begin(), packet.body.end());
    return false;
  }
  if (packet.kind != PacketKind::kAtGate || gate.sender != packet.sender) {
    return Fail(Code::kRefused, "the guardian sent an unexpected packet before the gate");
  }
  MACO_ASSIGN(gate.report, DecodeReport(report_));
  return true;
}

Result<AtGate> UnitRun::AwaitGate() {
  auto deadline = Monotonic::now() + kGateFuse;
  AtGate gate;
  for (;;) {
    const Ready ready = Wait(deadline, -1);
    if (ready.control) {
      bool complete = false;
      MACO_ASSIGN(complete, TakeGatePacket(gate));
      if (complete) {
        pid_t init = 0;
        MACO_ASSIGN(init, ParentOf(gate.sender));
        MACO_ASSIGN(gate.init, OpenPidfd(init));
        return gate;
      }
      if (control_.valid()) {
        continue;
      }
      deadline = Monotonic::now() + kStateFuse;
    }
    if (manager_.state().ended || manager_.state().disconnected) {
      return Fail(UnitFailure());
    }
    if (ready.signal) {
      return Fail(Code::kRefused, "ended by a signal before the target started");
    }
    if (Monotonic::now() >= deadline && !control_.valid()) {
      return Fail(Code::kRefused, "the guardian ended before the gate", "see 'git maco doctor'");
    }
    if (Monotonic::now() >= deadline) {
      return Fail(Code::kTimeout, "the guardian did not reach the gate within 60 s",
                  "see 'git maco doctor'");
    }
  }
}

Result<void> UnitRun::Release() {
  const std::array<std::uint8_t, 1> token{'g'};
  MACO_TRY(WriteAll(gate_.get(), token));
  gate_.Reset();
  return {};
}

// Returns whether the target has ended, or can never be heard of again.
bool UnitRun::TakeEndPacket(TargetEnd& end) {
  auto packet = ReceivePacket(control_.get());
  if (!packet || packet->end_of_stream) {
    end.by = end.by == EndedBy::kTarget ? EndedBy::kLostGuardian : end.by;
    return true;
  }
  ByteReader in(packet->body);
  if (packet->kind == PacketKind::kExecFailed) {
    end.exec_errno = static_cast<int>(in.U32());
    return false;
  }
  if (packet->kind != PacketKind::kEnded) {
    return false;
  }
  const std::uint32_t status = in.U32();
  end.leftovers = in.U32();
  if (in.AtEnd()) {
    end.wait_status = status;
  }
  return true;
}

// Whether something else cannot wait for the end of a long look at the disk.
bool UnitRun::Pressed(Monotonic::time_point deadline) const {
  std::array<pollfd, 2> set{{{control_.get(), POLLIN, 0}, {signals_->fd(), POLLIN, 0}}};
  return poll(set.data(), set.size(), 0) > 0 || Monotonic::now() >= deadline;
}

// Returns whether the run took more than its limit; it is stopped then. The exact look takes time,
// which is not given to the run: it is stopped as soon as the cheap estimate is above the limit.
bool UnitRun::WatchDisk(const Cgroup& cgroup, std::uint64_t limit, DiskUse& disk,
                        Monotonic::time_point deadline, TargetEnd& end) {
  const auto now = Monotonic::now();
  if (now < next_look_) {
    return false;
  }
  next_look_ = now + kDiskStep;
  if (disk.Estimate() <= limit) {
    return false;
  }
  [[maybe_unused]] const auto stopped = cgroup.Freeze(true);
  const auto processes = cgroup.Processes();
  const auto taken = disk.Measure(processes ? *processes : std::vector<pid_t>(),
                                  [&] { return !Pressed(deadline); });
  if (!taken || *taken <= limit) {
    [[maybe_unused]] const auto going = cgroup.Freeze(false);
    next_look_ = Monotonic::now() + kDiskStep;
    return false;
  }
  if (end.by == EndedBy::kTarget) {
    end.by = EndedBy::kDisk;
    end.disk_bytes = *taken;
  }
  return true;
}

TargetEnd UnitRun::Watch(const AtGate& gate, const Cgroup& cgroup, const Limits& limits,
                         DiskUse& disk) {
  TargetEnd end;
  const auto memory = cgroup.Open("memory.events");
  const int memory_fd = memory ? memory->get() : -1;
  MemoryKill(memory_fd);  // the first read arms the notification
  auto deadline = Monotonic::now() + std::chrono::seconds(limits.timeout_seconds);
  bool kill_sent = false;
  const auto kill_now = [&] {
    // The inner init dies, and with it every process of its namespace.
    [[maybe_unused]] const auto sent = SendPacket(control_.get(), PacketKind::kKill, {});
    kill_sent = true;
    deadline = Monotonic::now() + kKillFuse;
  };
  for (;;) {
    const Ready ready = Wait(std::min(deadline, next_look_), memory_fd);
    if (ready.control && TakeEndPacket(end)) {
      // The kernel may have ended it for memory a moment ago: both can be told at once.
      if (end.by == EndedBy::kTarget && MemoryKill(memory_fd)) {
        end.by = EndedBy::kMemory;
      }
      return end;
    }
    if (const int signal_number = ready.signal ? signals_->Take() : 0; signal_number != 0) {
      if (end.by == EndedBy::kSignal) {
        kill_now();  // the second one means it
      } else if (end.by == EndedBy::kTarget) {
        end.by = EndedBy::kSignal;
        end.signal = signal_number;
        SignalGroup(gate.sender, signal_number);
        deadline = Monotonic::now() + kSignalGrace;
      }
    }
    if (ready.memory && end.by != EndedBy::kMemory && MemoryKill(memory_fd)) {
      end.by = EndedBy::kMemory;
      kill_now();
    }
    // Also in the time that a signal leaves to the target.
    if (!kill_sent && WatchDisk(cgroup, limits.disk_bytes, disk, deadline, end)) {
      kill_now();
      // The order waits in the guardian's socket; a stopped init dies at once, and all with it.
      syscall(SYS_pidfd_send_signal, gate.init.get(), SIGKILL, nullptr, 0);
      [[maybe_unused]] const auto going = cgroup.Freeze(false);
    }
    if (manager_.state().ended || manager_.state().disconnected) {
      end.by = end.by == EndedBy::kTarget ? EndedBy::kLostGuardian : end.by;
      return end;
    }
    if (Monotonic::now() < deadline) {
      continue;
    }
    if (kill_sent) {
      return end;  // Finish kills by other means
    }
    if (end.by == EndedBy::kTarget) {
      end.by = EndedBy::kTimeout;
    }
    kill_now();
  }
}

UnitEnd UnitRun::Finish(const Cgroup* cgroup) {
  input_.Stop();
  [[maybe_unused]] const auto sent = SendPacket(control_.get(), PacketKind::kLeave, {});
  gate_.Reset();  // never released: the target's process reads the end and goes
  UnitEnd end;
  bool forced = false;
  auto deadline = Monotonic::now() + kLeaveFuse;
  // Without a gate nobody answers a leave request: the end of our socket is the message.
  if (cgroup == nullptr) {
    control_.Reset();
  }
  for (;;) {
    manager_.Process();
    end.state = manager_.state();
    if (cgroup != nullptr) {
      const auto population = cgroup->Populated();
      end.population = population ? std::optional(*population) : std::nullopt;
    }
    const bool unit_over = end.state.ended || end.state.disconnected;
    const bool empty = cgroup == nullptr ||
                       (end.population.has_value() && *end.population != Population::kPopulated);
    if (unit_over && empty) {
      break;
    }
    if (Monotonic::now() >= deadline) {
      if (forced) {
        break;
      }
      forced = true;
      control_.Reset();
      if (cgroup != nullptr) {
        [[maybe_unused]] const auto killed = cgroup->Kill();
      }
      [[maybe_unused]] const auto stopped = manager_.Stop();
      deadline = Monotonic::now() + kLeaveFuse;
    }
    constexpr int kStepMillis = 100;  // removal of a cgroup wakes nobody
    pollfd set{manager_.fd(), manager_.events(), 0};
    poll(&set, 1, std::min(kStepMillis, PollMillis(deadline)));
  }
  output_.Finish();
  error_output_.Finish();
  return end;
}

}  // namespace maco::run
