// Gate checks: unit, processes, namespaces, privileges, limits, roots, masks, probes, cgroup, scan.
// Contract: maco-run/record/judge_gate.h.
#include "maco-run/record/judge_gate.h"

#include <algorithm>

namespace maco::run {
namespace {

constexpr const char* kNamespaces[] = {"user", "mnt", "pid", "net", "ipc", "cgroup"};
constexpr const char* kCapabilities[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};

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
    const auto found = observed.is_object() ? observed.find(key) : observed.end();
    if (!observed.is_object() || found == observed.end()) {
      judge.Blame(dotted + "." + key, "was requested, but not observed");
    } else if (*found != expected) {
      judge.Blame(dotted + "." + key,
                  "is " + found->dump(-1, ' ', false, Json::error_handler_t::replace) +
                      ", expected " + expected.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  if (observed.is_object()) {
    for (const auto& [key, value] : observed.items()) {
      if (!requested.contains(key)) {
        judge.Blame(dotted + "." + key, "was observed, but never requested");
      }
    }
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
  const Json& processes = judge.Observed("/cgroup/processes");
  if (!processes.is_array() || processes.size() != 3) {
    judge.Blame("cgroup.processes", "does not hold exactly the guardian, the init and the target");
  } else {
    for (const Json* pid : {&target, &init, &outer}) {
      if (!pid->is_number() || std::find(processes.begin(), processes.end(), *pid) ==
                                   processes.end()) {
        judge.Blame("cgroup.processes", "the guardian, the init or the target is not in it");
      }
    }
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
}

void CheckLimits(Judgement& judge) {
  for (const char* name : {"nofile", "core", "fsize"}) {
    for (const char* kind : {"soft", "hard"}) {
      judge.Same(std::string("/inside/limits/") + name + "/" + kind,
                 std::string("/requested/limits/") + name);
    }
  }
  SameMembers(judge, "cgroup/files", "cgroup");
}

// The observation of a path by its exact name: a pointer would split at its slashes.
const Json* Find(const Json& object, const std::string& key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

void CheckRoot(Judgement& judge, const std::string& path, const Json& requested,
               const Json* observed) {
  const std::string name = "inside.roots." + path;
  if (observed == nullptr || !observed->is_object()) {
    judge.Blame(name, "was not observed");
    return;
  }
  if (observed->value("os_errno", Json(-1)) != 0U) {
    judge.Blame(name, "is not there inside");
    return;
  }
  if (observed->value("access", Json()) != requested.value("access", Json("?"))) {
    judge.Blame(name, "is not mounted " + requested.value("access", std::string("as requested")));
  }
  for (const char* member : {"device", "inode"}) {
    if (requested.contains(member) &&
        observed->value(member, Json()) != requested.value(member, Json(-1))) {
      judge.Blame(name, std::string("is another file inside (") + member + " differs)");
    }
  }
}

void CheckRoots(Judgement& judge) {
  const Json& requested = judge.Document("/requested/roots");
  const Json& observed = judge.Observed("/inside/roots");
  if (!requested.is_object()) {
    judge.Blame("inside.roots", "nothing was requested");
    return;
  }
  for (const auto& [path, wanted] : requested.items()) {
    CheckRoot(judge, path, wanted, Find(observed, path));
  }
  for (const char* member : {"device", "inode", "path"}) {
    judge.Same(std::string("/inside/directory/") + member,
               std::string("/requested/directory/") + member);
  }
}

// Whether a file system is one that the host has not mounted: an empty private one.
bool IsFresh(const Judgement& judge, const Json& device) {
  const Json& devices = judge.Document("/host/devices");
  return devices.is_array() &&
         std::find(devices.begin(), devices.end(), device) == devices.end();
}

void CheckMasks(Judgement& judge) {
  const Json& requested = judge.Document("/requested/masks");
  const Json& observed = judge.Observed("/inside/masks");
  if (!requested.is_object() || requested.empty()) {
    judge.Blame("inside.masks", "nothing was requested");
    return;
  }
  for (const auto& [path, outside] : requested.items()) {
    const std::string name = "inside.masks." + path;
    const Json* inside = Find(observed, path);
    if (inside == nullptr || !inside->is_object()) {
      judge.Blame(name, "was not observed");
      continue;
    }
    const Json os_errno = inside->value("os_errno", Json());
    if (!os_errno.is_number_unsigned()) {
      judge.Blame(name, "was not observed");
      continue;
    }
    if (os_errno != 0U) {
      continue;  // nothing can be reached there
    }
    const bool same = inside->value("device", Json()) == outside.value("device", Json(-1)) &&
                      inside->value("inode", Json()) == outside.value("inode", Json(-1));
    const bool known = inside->value("device", Json()).is_number_unsigned() &&
                       inside->value("inode", Json()).is_number_unsigned();
    if (same || !known) {
      judge.Blame(name, "is still visible inside the unit");
    } else if (inside->value("open_errno", Json()) != 13U /* EACCES */ &&
               !IsFresh(judge, inside->value("device", Json()))) {
      judge.Blame(name, "something of the host is readable in its place");
    }
  }
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
  CheckUnit(judge);
  SameMembers(judge, "properties", "properties");
  CheckProcesses(judge);
  CheckNamespaces(judge);
  CheckPrivileges(judge);
  CheckLimits(judge);
  CheckRoots(judge);
  CheckMasks(judge);
  JudgeMounts(judge);
  SameMembers(judge, "inside/probes", "probes");
  CheckDescriptors(judge);
  CheckScans(judge);
}

}  // namespace maco::run
