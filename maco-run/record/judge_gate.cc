// Gate checks: unit, processes, namespaces, privileges, limits, roots, masks, probes, cgroup, scan.
// Contract: maco-run/record/judge_gate.h.
#include "maco-run/record/judge_gate.h"

#include <algorithm>
#include <cerrno>

#include "maco-run/record/judge.h"

namespace maco::run {
namespace {

constexpr const char* kNamespaces[] = {"user", "mnt", "pid", "net", "ipc", "cgroup"};
constexpr const char* kCapabilities[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};

void NothingElse(Judgement& judge, const std::string& dotted, const Json& requested,
                 const Json& observed) {
  if (!observed.is_object()) {
    return;
  }
  for (const auto& [key, value] : observed.items()) {
    if (Member(requested, key).is_null()) {
      judge.Blame(dotted + "." + key, "was observed, but never requested");
    }
  }
}

// Every requested member must be observed with the same value, and nothing else.
void SameMembers(Judgement& judge, const std::string& name, const std::string& requested_name) {
  const Json& requested = judge.Document("/requested/" + requested_name);
  const Json& observed = judge.Observed("/" + name);
  std::string dotted = name;
  for (auto& c : dotted) {
    c = c == '/' ? '.' : c;
  }
  if (!requested.is_object() || requested.empty()) {
    judge.Blame(dotted, "nothing was requested");
    return;
  }
  for (const auto& [key, expected] : requested.items()) {
    const Json& found = Member(observed, key);
    if (found.is_null()) {
      judge.Blame(dotted + "." + key, "was requested, but not observed");
    } else if (found != expected) {
      judge.Blame(dotted + "." + key, "is " + Shown(found) + ", expected " + Shown(expected));
    }
  }
  NothingElse(judge, dotted, requested, observed);
}

// A document that asks for nothing would prove nothing.
void CheckRequest(Judgement& judge) {
  if (judge.Document("/schema") != kEvidenceDomain) {
    judge.Blame("schema", "is " + Shown(judge.Document("/schema")) + ", which is not judged here");
  }
  const Json& profile = judge.Document("/requested/profile");
  if (profile != "offline-read" && profile != "offline-write" && profile != "diagnostic") {
    judge.Blame("requested.profile", "is no profile of a verified run");
  }
  if (const Json& command = judge.Document("/requested/command");
      !command.is_array() || command.empty()) {
    judge.Blame("requested.command", "is missing");
  }
  if (const Json& filter = judge.Document("/requested/filter_sha256");
      !filter.is_string() || filter.get_ref<const std::string&>().size() != 64) {
    judge.Blame("requested.filter_sha256", "is missing");
  }
}

void CheckUnit(Judgement& judge) {
  const Json& id = judge.Observed("/unit/invocation_id");
  if (!id.is_string() || id.get_ref<const std::string&>().size() != 32) {
    judge.Blame("unit.invocation_id", "is missing");
  }
  judge.Same("/inside/invocation_id", "/observations/unit/invocation_id");
  judge.Same("/outside/cgroup", "/observations/unit/control_group");
}

// The chain target <- inner init <- outer guardian = main process, all three in the cgroup.
void CheckProcesses(Judgement& judge) {
  judge.Equal("/inside/pid", 2U);
  judge.Equal("/inside/parent_pid", 1U);
  const Json& target = judge.Observed("/outside/pid");
  const Json& init = judge.Observed("/outside/parent_pid");
  const Json& outer = judge.Observed("/outside/grandparent_pid");
  judge.Same("/outside/grandparent_pid", "/observations/unit/main_pid");
  judge.Same("/outside/report_sender", "/observations/outside/pid");
  if (judge.Observed("/outside/namespace_pids") != Json::array({target, 2U})) {
    judge.Blame("outside.namespace_pids", "does not say that the target is process 2 of its own");
  }
  const Json& processes = judge.Observed("/cgroup/processes");
  if (!processes.is_array() || processes.size() != 3) {
    judge.Blame("cgroup.processes", "does not hold exactly the guardian, the init and the target");
  } else {
    for (const Json* pid : {&target, &init, &outer}) {
      if (!pid->is_number_integer() || std::count(processes.begin(), processes.end(), *pid) != 1) {
        judge.Blame("cgroup.processes", "the guardian, the init or the target is not in it");
      }
    }
  }
  if (target == init || init == outer || target == outer) {
    judge.Blame("outside.parent_pid", "the guardian, the init and the target are not three");
  }
  judge.Equal("/cgroup/populated", "populated 1");
}

void CheckNamespaces(Judgement& judge) {
  for (const char* name : kNamespaces) {
    const std::string pointer = std::string("/inside/namespaces/") + name;
    judge.Same(pointer, std::string("/observations/outside/namespaces/") + name);
    const Json& inside = judge.Observed(pointer);
    const Json& host = judge.Document(std::string("/host/namespaces/") + name);
    if (host.is_null() || inside == host) {
      judge.Blame(std::string("inside.namespaces.") + name, "is the host's own namespace");
    }
  }
  // No profile promises a host name of its own; both sides must still mean the same process.
  judge.Same("/inside/namespaces/uts", "/observations/outside/namespaces/uts");
  judge.Equal("/inside/cgroup", "0::/\n");
  judge.Same("/outside/uid_map", "/host/uid_map");
}

void CheckPrivileges(Judgement& judge) {
  for (const char* side : {"/inside/status/", "/outside/status/"}) {
    for (const char* name : kCapabilities) {
      judge.Equal(std::string(side) + name, "0000000000000000");
    }
    judge.Equal(std::string(side) + "NoNewPrivs", "1");
    judge.Equal(std::string(side) + "Seccomp", "2");
  }
  judge.Same("/inside/status/Seccomp_filters", "/observations/outside/status/Seccomp_filters");
  judge.Same("/outside/status/Uid", "/host/uid");
  judge.Same("/inside/status/Uid", "/host/uid");
  // The manager's group may differ from ours (newgrp): the two sides are compared.
  judge.Same("/inside/status/Gid", "/observations/outside/status/Gid");
}

// A kernel that has a Landlock which programs can live with must have it on.
void CheckLandlock(Judgement& judge) {
  constexpr std::uint64_t kLeastAbi = 2;
  judge.Same("/inside/landlock/abi", "/host/landlock_abi");
  const Json& abi = judge.Observed("/inside/landlock/abi");
  if (!abi.is_number_unsigned()) {
    judge.Blame("inside.landlock.abi", "is missing");
  } else {
    judge.Equal("/inside/landlock/restricted", abi.get<std::uint64_t>() >= kLeastAbi);
  }
}

void CheckLimits(Judgement& judge) {
  for (const char* name :
       {"nofile", "core", "fsize", "sigpending", "inotify_instances", "inotify_watches"}) {
    for (const char* kind : {"soft", "hard"}) {
      judge.Same(std::string("/inside/limits/") + name + "/" + kind,
                 std::string("/requested/limits/") + name);
    }
  }
  // With any other small limit, 0 too, a handler of core dumps is run outside.
  judge.Equal("/inside/limits/core/soft", 1U);
  SameMembers(judge, "cgroup/files", "cgroup");
}

bool SameFile(const Json& a, const Json& b) {
  for (const char* member : {"device", "inode"}) {
    if (!Member(a, member).is_number_unsigned() || Member(a, member) != Member(b, member)) {
      return false;
    }
  }
  return true;
}

void CheckRoot(Judgement& judge, const std::string& path, const Json& requested,
               const Json& observed) {
  const std::string name = "inside.roots." + path;
  if (Member(observed, "os_errno") != 0U) {
    judge.Blame(name, observed.is_null() ? "was not observed" : "is not there inside");
    return;
  }
  const Json& access = Member(requested, "access");
  if ((access != "ro" && access != "rw") || Member(observed, "access") != access) {
    judge.Blame(name,
                "is mounted " + Shown(Member(observed, "access")) + ", expected " + Shown(access));
  }
  if (!SameFile(requested, observed)) {
    judge.Blame(name, "is another file inside (device or inode differs)");
  }
}

void CheckRoots(Judgement& judge) {
  const Json& requested = judge.Document("/requested/roots");
  const Json& observed = judge.Observed("/inside/roots");
  if (!requested.is_object() || !observed.is_object()) {
    judge.Blame("inside.roots", "was not requested, or not observed");
    return;
  }
  for (const auto& [path, wanted] : requested.items()) {
    CheckRoot(judge, path, wanted, Member(observed, path));
  }
  NothingElse(judge, "inside.roots", requested, observed);
  for (const char* member : {"device", "inode", "path"}) {
    judge.Same(std::string("/inside/directory/") + member,
               std::string("/requested/directory/") + member);
  }
}

// Whether it is what the user manager binds over an inaccessible path, and closed to the target.
bool IsInaccessibleNode(const Judgement& judge, const Json& inside) {
  const Json& nodes = judge.Document("/host/inaccessible");
  return Member(inside, "open_errno") == static_cast<unsigned>(EACCES) && nodes.is_array() &&
         std::any_of(nodes.begin(), nodes.end(),
                     [&](const Json& node) { return SameFile(node, inside); });
}

// Whether it lies in an empty private file system, which the host has not mounted.
bool IsPrivate(const Judgement& judge, const std::string& path, const Json& inside) {
  const Json& open_errno = Member(inside, "open_errno");
  const auto device = FreshDevice(judge, path);
  return (open_errno == 0U || open_errno == static_cast<unsigned>(EACCES)) && device &&
         Member(inside, "device") == *device && Member(inside, "inode").is_number_unsigned();
}

void CheckMask(Judgement& judge, const std::string& path, const Json& outside, const Json& inside) {
  const std::string name = "inside.masks." + path;
  const Json& os_errno = Member(inside, "os_errno");
  for (const int unreachable : {ENOENT, EACCES, ENOTDIR}) {
    if (os_errno == static_cast<unsigned>(unreachable)) {
      return;
    }
  }
  if (os_errno != 0U) {
    judge.Blame(name, "was not observed");
  } else if (SameFile(outside, inside)) {
    judge.Blame(name, "is still visible inside the unit");
  } else if (!IsInaccessibleNode(judge, inside) && !IsPrivate(judge, path, inside)) {
    judge.Blame(name, "something of the host is in its place");
  }
}

void CheckMasks(Judgement& judge) {
  const Json& requested = judge.Document("/requested/masks");
  const Json& observed = judge.Observed("/inside/masks");
  if (!requested.is_object() || requested.empty()) {
    judge.Blame("inside.masks", "nothing was requested");
    return;
  }
  for (const auto& [path, outside] : requested.items()) {
    CheckMask(judge, path, outside, Member(observed, path));
  }
  NothingElse(judge, "inside.masks", requested, observed);
}

void CheckDescriptors(Judgement& judge) {
  judge.Equal("/inside/descriptors", Json::array({0U, 1U, 2U}));
}

void CheckScans(Judgement& judge) {
  judge.Equal("/scan/before_set_up", "clean");
  judge.Equal("/scan/before_release", "clean");
}

}  // namespace

void JudgeGate(Judgement& judge) {
  CheckRequest(judge);
  CheckUnit(judge);
  SameMembers(judge, "properties", "properties");
  CheckProcesses(judge);
  CheckNamespaces(judge);
  CheckPrivileges(judge);
  CheckLandlock(judge);
  CheckLimits(judge);
  CheckRoots(judge);
  CheckMasks(judge);
  JudgeMounts(judge);
  SameMembers(judge, "inside/probes", "probes");
  CheckDescriptors(judge);
  CheckScans(judge);
}

}  // namespace maco::run
