// Facts: raw answers of files and system calls, before any judgement; unit tests write them by
// hand. Filled by git-maco/doctor/observe.h, judged by git-maco/doctor/decide.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/base/error.h"

namespace maco::doctor {

// A small file without its last newline.
struct FileFact {
  std::string path;
  std::string text;
  int os_errno = 0;  // of opening or reading it
};

struct HostFacts {
  std::string system;        // uname(2)
  std::string release;       // uname(2)
  FileFact container;        // /run/systemd/container
  bool docker_file = false;  // /.dockerenv
  bool podman_file = false;  // /run/.containerenv
  std::string variable;      // container= in /proc/1/environ, which only root may read
  FileFact first_name;       // /proc/1/comm
  FileFact first_cgroup;     // /proc/1/cgroup
  bool booted = false;       // /run/systemd/system is a directory, see sd_booted(3)
};

struct CgroupFacts {
  int os_errno = 0;            // of statfs(2) on /sys/fs/cgroup
  std::uint64_t type = 0;      // f_type
  bool unified_below = false;  // /sys/fs/cgroup/unified is cgroup2
  FileFact controllers;        // /sys/fs/cgroup/cgroup.controllers
};

struct SocketFact {
  std::string path;
  int os_errno = 0;  // of connect(2)
};

struct ManagerFacts {
  std::uint64_t uid = 0;
  std::string user;
  std::string directory;  // /run/user/UID
  int directory_errno = 0;
  bool is_directory = false;
  std::uint64_t owner = 0;
  unsigned mode = 0;  // permission bits
  std::vector<SocketFact> sockets;
  bool asked = false;  // by systemctl; false if there is no systemctl
  std::string version;
  std::string control_group;
  std::string failure;  // why it did not answer
  bool lingers = false;
  std::string linger_file;
  FileFact controllers;                         // cgroup.controllers of the manager's cgroup
  std::optional<std::string> runtime_variable;  // XDG_RUNTIME_DIR
  std::optional<std::string> sudo_uid;          // SUDO_UID
};

// One step of the trial of user namespaces.
struct Step {
  std::string name;
  int os_errno = 0;
};

struct KernelFacts {
  FileFact max_user_namespaces;   // /proc/sys/user/max_user_namespaces
  FileFact unprivileged_clone;    // /proc/sys/kernel/unprivileged_userns_clone
  FileFact apparmor_restriction;  // /proc/sys/kernel/apparmor_restrict_unprivileged_userns
  std::vector<Step> trial;        // up to the first that failed
  std::string trial_failure;      // why there was no trial
  int seccomp_filter_errno = 0;   // of seccomp(2) with a filter at address 0
  int seccomp_errno_action = 0;   // errno of SECCOMP_GET_ACTION_AVAIL for SECCOMP_RET_ERRNO
  int landlock_errno = 0;
  int landlock_abi = 0;
  int openat2_errno = 0;
  int pidfd_errno = 0;
  int close_range_errno = 0;
  int statx_errno = 0;
  bool mount_ids = false;  // statx(2) returned STATX_MNT_ID
};

struct ToolFacts {
  std::string git_path;
  std::string git_version;  // as git prints it
  std::optional<Error> git_error;
  std::string directory;   // of this program
  int run_errno = 0;       // of access(2) on maco-run beside it
  int guardian_errno = 0;  // the same for maco-guardian
};

struct RepositoryFacts {
  std::string common_dir;
  std::optional<Error> find_error;
  std::optional<Error> state_error;
  std::string id;
  bool moved = false;
  std::string recorded_path;
  int space_errno = 0;  // of statvfs(3)
  std::uint64_t free_bytes = 0;
  std::uint64_t free_inodes = 0;
  bool counts_inodes = true;  // some file systems have no such limit
};

struct Facts {
  HostFacts host;
  CgroupFacts cgroup;
  ManagerFacts manager;
  KernelFacts kernel;
  ToolFacts tools;
  RepositoryFacts repository;
};

}  // namespace maco::doctor
