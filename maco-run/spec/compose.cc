// The unit's properties, the guardian's plan, and the "requested" document.
// Contract: maco-run/spec/compose.h.
#include "maco-run/spec/compose.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"
#include "maco-run/spec/environment.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;  // in microseconds
// What set-up and clean-up may take on top of the run before systemd ends the unit by itself.
constexpr std::uint64_t kOrphanFuseSeconds = 120;
constexpr std::uint64_t kCpuPeriodMicros = 100'000;

std::string TmpfsOptions(const PrivateDirectory& directory) {
  char mode[8];
  snprintf(mode, sizeof mode, "%04o", directory.mode);
  return std::string(directory.writable ? "" : "ro,") + "size=" + std::to_string(directory.bytes) +
         ",nr_inodes=" + (directory.writable ? "1048576" : "4096") + ",mode=" + mode;
}

void AddLimits(const Limits& limits, std::vector<UnitProperty>& out) {
  out.push_back({"MemoryMax", limits.memory_bytes});
  out.push_back({"MemorySwapMax", std::uint64_t{0}});
  out.push_back({"TasksMax", limits.tasks});
  out.push_back({"CPUQuotaPerSecUSec", limits.cpu_percent * kSecond / 100});
  out.push_back({"LimitNOFILE", limits.open_files});
  out.push_back({"LimitCORE", kCoreBytes});
  out.push_back({"LimitSIGPENDING", kPendingSignals});
  out.push_back({"LimitFSIZE", limits.file_bytes});
  out.push_back({"RuntimeMaxUSec", (limits.timeout_seconds + kOrphanFuseSeconds) * kSecond});
  out.push_back({"TimeoutStopUSec", 5 * kSecond});
}

std::vector<BindMount> Named(const RunSpec& spec, std::vector<BindMount> binds) {
  for (auto& bind : binds) {
    bind.source = SourcePath(spec, bind.source);
    bind.target = InsidePath(spec, bind.target);
  }
  return binds;
}

void AddFileSystem(const RunSpec& spec, std::vector<UnitProperty>& out) {
  const auto wanted = [&](const std::string& path) {
    return std::ranges::find(spec.omitted_paths, path) == spec.omitted_paths.end();
  };
  std::vector<TmpfsMount> covers;
  for (const auto& directory : spec.private_directories) {
    if (wanted(directory.path)) {
      covers.push_back({directory.path, TmpfsOptions(directory)});
    }
  }
  std::vector<std::string> hidden;
  for (const auto& mask : spec.masks) {
    if (!mask.by_tmpfs && wanted(mask.path)) {
      hidden.push_back(InsidePath(spec, mask.path));
    }
  }
  out.push_back({"TemporaryFileSystem", covers});
  out.push_back({"BindPaths", Named(spec, spec.binds)});
  out.push_back({"BindReadOnlyPaths", Named(spec, spec.read_only_binds)});
  std::vector<std::string> read_only;
  for (const auto& inside : spec.read_only_inside) {
    read_only.push_back(InsidePath(spec, inside.path));
  }
  out.push_back({"ReadOnlyPaths", read_only});
  out.push_back({"InaccessiblePaths", hidden});
}

// As mountinfo shows it: the kernel keeps whole pages.
std::string TmpfsSize(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::to_string((bytes + page - 1) / page * page / 1024) + "k";
}

Json Identity(const FileIdentity& identity) {
  return {{"device", identity.device}, {"inode", identity.inode}};
}

Json Texts(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const auto& text : texts) {
    if (IsUtf8(text)) {
      out.push_back(text);
    } else {
      out.push_back({{"base64", ToBase64(text)}});
    }
  }
  return out;
}

Json RequestedPaths(const RunSpec& spec) {
  Json roots = Json::object();
  for (const auto& root : spec.roots) {
    Json entry = Identity(root.identity);
    entry["access"] = root.writable ? "rw" : "ro";
    const std::string inside_path = EscapeControl(InsidePath(spec, root.path));
    if (inside_path != EscapeControl(root.path)) {
      entry["outside"] = EscapeControl(root.path);
    }
    roots[inside_path] = entry;
  }
  for (const auto& inside : spec.read_only_inside) {
    Json entry = Identity(inside.identity);
    entry["access"] = "ro";
    roots[EscapeControl(InsidePath(spec, inside.path))] = entry;
  }
  roots[kGuardianInside] = Identity(spec.guardian_identity);
  roots[kGuardianInside]["access"] = "ro";
  return roots;
}

}  // namespace

std::vector<UnitProperty> ComposeProperties(const RunSpec& spec) {
  std::vector<UnitProperty> out = {
      {"Description", std::string("git maco run ") + spec.id, false},
      {"Type", std::string("exec")},
      {"CollectMode", std::string("inactive-or-failed")},
      {"KillMode", std::string("control-group")},
      {"KillSignal", std::int32_t{SIGKILL}},
      {"OOMPolicy", std::string("continue")},
      {"StandardOutput", std::string("null")},
      {"StandardError", std::string("null")},
      {"WorkingDirectory", std::string("/")},
      {"UMask", std::uint32_t{077}},
      {"IgnoreSIGPIPE", false},
      {"PrivateUsers", true},
      {"NoNewPrivileges", true},
      {"PrivateDevices", true},
      {"PrivateNetwork", true},
      {"PrivateIPC", true},
      {"ProtectSystem", std::string("strict")},
      {"ProtectControlGroups", true},
      {"ProtectKernelTunables", true},
      {"KeyringMode", std::string("private")},
  };
  AddLimits(spec.limits, out);
  AddFileSystem(spec, out);
  return out;
}

std::vector<UnitProperty> PropertiesToSend(const RunSpec& spec) {
  auto out = ComposeProperties(spec);
  std::erase_if(out, [&](const UnitProperty& property) {
    return std::ranges::find(spec.omitted_properties, property.name) !=
           spec.omitted_properties.end();
  });
  return out;
}

LaunchPlan ComposePlan(const RunSpec& spec) {
  LaunchPlan plan;
  plan.steps = kAllGuardianSteps & ~spec.omitted_steps;
  plan.arguments = spec.command;
  plan.environment = spec.environment;
  plan.search_path = kSearchPath;
  plan.directory = InsidePath(spec, spec.directory);
  plan.home = kHome;
  for (const auto& root : spec.roots) {
    plan.roots.push_back(InsidePath(spec, root.path));
  }
  for (const auto& inside : spec.read_only_inside) {
    const std::string path = InsidePath(spec, inside.path);
    if (std::ranges::find(plan.roots, path) == plan.roots.end()) {
      plan.roots.push_back(path);
    }
  }
  plan.roots.emplace_back(kGuardianInside);
  for (const auto& mask : spec.masks) {
    plan.masks.push_back(InsidePath(spec, mask.path));
  }
  for (const auto& bind : spec.binds) {
    plan.writable.push_back(InsidePath(spec, bind.target));
  }
  for (const auto& directory : spec.private_directories) {
    if (directory.writable) {
      plan.writable.push_back(directory.path);
    }
  }
  for (const auto& [name, expected] : spec.probes) {
    plan.probes.push_back(name);
  }
  plan.filter = spec.filter;
  return plan;
}

std::map<std::string, std::string> ExpectedCgroupFiles(const Limits& limits) {
  // The kernel keeps memory limits in whole pages.
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {
      {"memory.max", std::to_string(limits.memory_bytes / page * page)},
      {"memory.swap.max", "0"},
      {"memory.oom.group", "0"},
      {"pids.max", std::to_string(limits.tasks)},
      {"cpu.max", std::to_string(limits.cpu_percent * kCpuPeriodMicros / 100) + " " +
                      std::to_string(kCpuPeriodMicros)},
  };
}

Json ComposeRequested(const RunSpec& spec) {
  Json out;
  out["profile"] = ProfileName(spec.profile);
  out["command"] = Texts(spec.command);
  out["variables"] = DescribeVariables(spec.added_variables);
  if (!spec.lane.empty()) {
    out["lane"] = {{"name", spec.lane}, {"id", spec.lane_id}, {"validates", spec.validates}};
  }
  out["directory"] = Identity(spec.directory_identity);
  out["directory"]["path"] = EscapeControl(InsidePath(spec, spec.directory));
  out["roots"] = RequestedPaths(spec);
  out["masks"] = Json::object();
  for (const auto& mask : spec.masks) {
    out["masks"][EscapeControl(InsidePath(spec, mask.path))] = Identity(mask.identity);
  }
  out["writable"] = Json::array();
  for (const auto& bind : spec.binds) {
    out["writable"].push_back(EscapeControl(InsidePath(spec, bind.target)));
  }
  out["private"] = Json::object();
  for (const auto& directory : spec.private_directories) {
    out["private"][EscapeControl(directory.path)] = {{"access", directory.writable ? "rw" : "ro"},
                                                     {"size", TmpfsSize(directory.bytes)}};
  }
  out["properties"] = Json::object();
  for (const auto& property : ComposeProperties(spec)) {
    if (property.read_back) {
      out["properties"][property.name] = ToJson(property.value);
    }
  }
  out["cgroup"] = ExpectedCgroupFiles(spec.limits);
  out["limits"] = {{"nofile", spec.limits.open_files},
                   {"fsize", spec.limits.file_bytes},
                   {"core", kCoreBytes},
                   {"sigpending", kPendingSignals},
                   {"inotify_instances", kInotifyInstances},
                   {"inotify_watches", kInotifyWatches},
                   {"timeout_seconds", spec.limits.timeout_seconds}};
  out["probes"] = spec.probes;
  out["filter_sha256"] = ToHex(Sha256(spec.filter));
  return out;
}

}  // namespace maco::run
