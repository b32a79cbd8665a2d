// What the guardian saw from inside, in the very namespaces of the target, after the last mount.
// Format: docs/formats/gate.md, "report", version 1.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"

namespace maco::run {

inline constexpr std::size_t kMaxReportBytes = 16UL << 20U;

// One path as the target would meet it. `os_errno` is that of stat(2) or statvfs(3); the rest is
// then zero.
struct PathReport {
  std::string path;
  std::uint32_t os_errno = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;
  bool read_only = false;        // ST_RDONLY of statvfs(3)
  std::uint32_t open_errno = 0;  // of opening it for reading (a directory: of listing it)
};

struct LimitReport {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

struct Report {
  std::uint32_t pid = 0;  // in the target's PID namespace
  std::uint32_t parent_pid = 0;
  std::string invocation_id;  // INVOCATION_ID as systemd gave it to the guardian
  std::string mountinfo;      // text of /proc/self/mountinfo
  std::string status;         // text of /proc/self/status
  std::string cgroup;         // text of /proc/self/cgroup
  std::map<std::string, std::uint64_t> namespaces;  // inode by name
  std::map<std::string, LimitReport> limits;        // by name: nofile, core, fsize
  std::vector<PathReport> roots;
  std::vector<PathReport> masks;
  PathReport directory;                         // the working directory
  std::map<std::string, std::uint32_t> probes;  // errno by name, 0: it succeeded
  std::vector<std::uint32_t> descriptors;       // open and kept across exec
  std::uint32_t landlock_abi = 0;               // of the kernel, 0: none
  bool landlock_restricted = false;
};

Bytes EncodeReport(const Report& report);
Result<Report> DecodeReport(std::span<const std::uint8_t> bytes);  // kInvalid

}  // namespace maco::run
