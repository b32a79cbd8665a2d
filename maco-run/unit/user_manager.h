// The user's own systemd manager over sd-bus: start one transient unit, follow it, read it back.
// Works without a login session: the manager is found at /run/user/UID. Recipe: sd-bus(3),
// org.freedesktop.systemd1(5).
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-run/unit/property.h"

namespace maco::run {

// What the manager has told about our unit, from its signals.
struct UnitState {
  bool started = false;       // activating or active was seen: only then can inactive be the end
  bool ended = false;         // inactive or failed after the start, or the start job failed
  bool disconnected = false;  // the manager went away
  std::string active_state;
  std::string result;               // "success", "exit-code", "signal", "timeout", ...
  std::int32_t exec_main_code = 0;  // CLD_EXITED 1, CLD_KILLED 2, CLD_DUMPED 3; 0: unknown
  std::int32_t exec_main_status = 0;
  std::string job_result;  // of the start job, "done" when it worked
};

class UserManager {
 public:
  // Connects to /run/user/UID/bus, or to the manager's private socket where there is no bus.
  // Errors: kUnsupported, with what is missing and the command that mends it.
  static Result<UserManager> Connect(uid_t uid);
  UserManager(UserManager&&) noexcept;
  UserManager& operator=(UserManager&&) noexcept;
  ~UserManager();

  // The manager's version, as "252.39-1~deb12u2". Errors: kIo.
  Result<std::string> Version();

  // Starts `unit` with `program` as its main process and `control` as its standard input; follows
  // its state from then on. One unit per object. Errors: kRefused (the manager's own words), kIo.
  Result<void> Start(const std::string& unit, const std::vector<UnitProperty>& properties,
                     const std::string& program, int control);

  // The properties of the started unit, as JSON by name; of those in `wanted` the value that
  // systemd holds now, in the same type. Errors: kIo.
  Result<Json> ReadBack(const std::vector<UnitProperty>& wanted);

  struct Identity {
    pid_t main_pid = 0;
    std::string control_group;  // path below /sys/fs/cgroup
    std::string invocation_id;  // 32 hex digits
  };
  Result<Identity> ReadIdentity();  // kIo

  // Asks the manager to stop the unit, without waiting. Errors: kIo.
  Result<void> Stop();

  // Ends a unit that this object did not start, and waits until the manager has forgotten it.
  // Returns whether there was one. Errors: kTimeout, kIo.
  Result<bool> EndLeftover(const std::string& unit);

  // For poll(2): call Process() when the descriptor is ready, or the timeout is over.
  int fd() const;
  short events() const;
  void Process();

  const UnitState& state() const;

 private:
  class Connection;
  explicit UserManager(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace maco::run
