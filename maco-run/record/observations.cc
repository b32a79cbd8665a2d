// Reading of /proc and cgroup files into JSON.
// Contract: maco-run/record/observations.h.
#include "maco-run/record/observations.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <set>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/mountinfo.h"
#include "libcommon/os/proc_status.h"
#include "maco-run/guardian/landlock_abi.h"
#include "maco-run/spec/compose.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxProcBytes = 4UL << 20U;

constexpr const char* kStatusFields[] = {
    "Uid",    "Gid",    "CapInh",     "CapPrm",  "CapEff",
    "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters"};

// Lines as JSON strings; bytes that are no UTF-8 in mountinfo's own octal form.
Json Lines(std::string_view text) {
  Json out = Json::array();
  for (const auto line : Split(text, '\n')) {
    if (line.empty()) {
      continue;
    }
    if (IsUtf8(line)) {
      out.push_back(line);
      continue;
    }
    std::string escaped;
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        escaped.push_back(c);
      } else {
        escaped.push_back('\\');
        escaped.push_back(static_cast<char>('0' + (byte >> 6U)));
        escaped.push_back(static_cast<char>('0' + (byte >> 3U & 7U)));
        escaped.push_back(static_cast<char>('0' + (byte & 7U)));
      }
    }
    out.push_back(escaped);
  }
  return out;
}

Result<Json> StatusMembers(const std::string& text) {
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(text));
  Json out = Json::object();
  for (const char* name : kStatusFields) {
    const auto found = fields.find(name);
    if (found != fields.end()) {
      out[name] = found->second;
    }
  }
  return out;
}

Json PathMember(const PathReport& path) {
  Json out = {{"os_errno", path.os_errno}};
  if (path.os_errno == 0) {
    out["device"] = path.device;
    out["inode"] = path.inode;
    out["access"] = path.read_only ? "ro" : "rw";
    out["open_errno"] = path.open_errno;
  }
  return out;
}

// NSpid: the process's numbers, from our PID namespace to its own.
Result<Json> NamespacePids(const std::string& status) {
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(status));
  Json out = Json::array();
  for (const auto text : Split(fields["NSpid"], '\t')) {
    const auto number = ParseUint(text);
    if (!number) {
      return Fail(Code::kInvalid, "a process status has no NSpid");
    }
    out.push_back(*number);
  }
  return out;
}

Result<std::uint64_t> ParentOf(const std::string& status) {
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(status));
  const auto parent = ParseUint(fields["PPid"]);
  if (!parent) {
    return Fail(Code::kInvalid, "a process status names no parent");
  }
  return *parent;
}

// The nodes that the user manager binds over inaccessible paths; it makes them when it starts.
Json InaccessibleNodes() {
  Json out = Json::array();
  const auto directory =
      Directory::OpenPath("/run/user/" + std::to_string(geteuid()) + "/systemd/inaccessible");
  for (const char* name : {"reg", "dir", "fifo", "sock", "chr", "blk"}) {
    const auto node = directory ? directory->Stat(name) : Fail(Code::kNotFound, "");
    if (node) {
      out.push_back({{"device", node->device}, {"inode", node->inode}});
    }
  }
  return out;
}

}  // namespace

Result<Json> DescribeReport(const Report& report) {
  Json out;
  out["pid"] = report.pid;
  out["parent_pid"] = report.parent_pid;
  out["invocation_id"] = report.invocation_id;
  out["mounts"] = Lines(report.mountinfo);
  MACO_ASSIGN(out["status"], StatusMembers(report.status));
  out["cgroup"] = report.cgroup;
  out["namespaces"] = report.namespaces;
  out["limits"] = Json::object();
  for (const auto& [name, limit] : report.limits) {
    out["limits"][name] = {{"soft", limit.soft}, {"hard", limit.hard}};
  }
  out["roots"] = Json::object();
  for (const auto& path : report.roots) {
    out["roots"][EscapeControl(path.path)] = PathMember(path);
    out["roots"][EscapeControl(path.path)].erase("open_errno");
  }
  out["masks"] = Json::object();
  for (const auto& path : report.masks) {
    out["masks"][EscapeControl(path.path)] = PathMember(path);
    out["masks"][EscapeControl(path.path)].erase("access");
  }
  out["directory"] = {{"path", EscapeControl(report.directory.path)},
                      {"device", report.directory.device},
                      {"inode", report.directory.inode}};
  out["probes"] = report.probes;
  out["descriptors"] = report.descriptors;
  out["landlock"] = {{"abi", report.landlock_abi}, {"restricted", report.landlock_restricted}};
  return out;
}

Result<Json> ObserveOutside(pid_t sender) {
  UniqueFd pidfd;
  MACO_ASSIGN(pidfd, OpenPidfd(sender));
  const std::string proc = "/proc/" + std::to_string(sender);
  Json out;
  out["report_sender"] = sender;
  std::string status;
  std::string mounts;
  std::string cgroup;
  MACO_ASSIGN(status, ReadPath(proc + "/status", kMaxProcBytes));
  MACO_ASSIGN(out["status"], StatusMembers(status));
  MACO_ASSIGN(mounts, ReadPath(proc + "/mountinfo", kMaxProcBytes));
  out["mounts"] = Lines(mounts);
  MACO_ASSIGN(cgroup, ReadPath(proc + "/cgroup", kMaxProcBytes));
  MACO_ASSIGN(out["cgroup"], ParseCgroupV2(cgroup));
  MACO_ASSIGN(out["uid_map"], ReadPath(proc + "/uid_map", kMaxProcBytes));
  NamespaceInodes namespaces;
  MACO_ASSIGN(namespaces, ReadNamespaces(proc));
  out["namespaces"] = namespaces;
  std::uint64_t parent = 0;
  MACO_ASSIGN(parent, ParentOf(status));
  std::string parent_status;
  MACO_ASSIGN(parent_status,
              ReadPath("/proc/" + std::to_string(parent) + "/status", kMaxProcBytes));
  // What /proc says of itself, not what we asked for.
  MACO_ASSIGN(out["namespace_pids"], NamespacePids(status));
  out["pid"] = out["namespace_pids"].front();
  out["parent_pid"] = parent;
  MACO_ASSIGN(out["grandparent_pid"], ParentOf(parent_status));
  if (!PidfdAlive(pidfd.get())) {
    // Then the number may have been another process's already.
    return Fail(Code::kNotFound, "the guardian ended while it was looked at");
  }
  return out;
}

Result<Json> ObserveCgroup(const Cgroup& cgroup, const Limits& limits) {
  Json out;
  out["files"] = Json::object();
  for (const auto& [file, expected] : ExpectedCgroupFiles(limits)) {
    auto value = cgroup.Read(file);
    if (!value) {
      const std::string controller = file.substr(0, file.find('.'));
      return Fail(Code::kUnsupported,
                  "the unit's cgroup has no '" + file + "': controller '" + controller +
                      "' is not delegated to the user manager",
                  "add Delegate=cpu memory pids to user@.service and restart it");
    }
    out["files"][file] = *value;
  }
  Population population{};
  MACO_ASSIGN(population, cgroup.Populated());
  out["populated"] = PopulationName(population);
  std::vector<pid_t> processes;
  MACO_ASSIGN(processes, cgroup.Processes());
  out["processes"] = processes;
  return out;
}

Result<Json> DescribeHost(const std::string& systemd_version) {
  Json out;
  utsname name{};
  uname(&name);
  out["kernel"] = name.release;
  out["systemd"] = systemd_version;
  out["landlock_abi"] = LandlockAbi();
  NamespaceInodes namespaces;
  MACO_ASSIGN(namespaces, ReadNamespaces("/proc/self"));
  out["namespaces"] = namespaces;
  std::string text;
  MACO_ASSIGN(text, ReadPath("/proc/self/mountinfo", kMaxProcBytes));
  MountTable table;
  MACO_ASSIGN(table, MountTable::Parse(text));
  std::set<std::uint64_t> devices;
  for (const auto& mount : table.mounts()) {
    devices.insert(mount.device);
  }
  out["devices"] = devices;
  out["inaccessible"] = InaccessibleNodes();
  std::string status;
  MACO_ASSIGN(status, ReadPath("/proc/self/status", kMaxProcBytes));
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(status));
  out["uid"] = fields["Uid"];
  // As the kernel prints one line of uid_map, see user_namespaces(7).
  std::string map;
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(geteuid());
    map += std::string(10 - number.size(), ' ') + number + " ";
  }
  out["uid_map"] = map + "         1\n";
  return out;
}

Json ReadCounters(const Cgroup& cgroup) {
  Json out = Json::object();
  for (const char* file : {"memory.peak", "memory.events", "memory.current", "pids.peak",
                           "pids.events", "cpu.stat", "io.stat"}) {
    const auto value = cgroup.Read(file);
    if (value) {
      out[file] = *value;
    }
  }
  return out;
}

std::string_view PopulationName(Population population) {
  switch (population) {
    case Population::kPopulated:
      return "populated 1";
    case Population::kEmpty:
      return "populated 0";
    case Population::kRemoved:
      return "removed";
  }
  return "";
}

}  // namespace maco::run
