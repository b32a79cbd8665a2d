// Mount rules: what is writable was granted, what was granted is new, inside and outside agree.
// Contract: maco-run/record/judge_gate.h.
#include <algorithm>
#include <map>
#include <set>

#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"
#include "maco-run/record/judge_gate.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {
namespace {

std::set<std::string> Strings(const Json& list) {
  std::set<std::string> out;
  for (const auto& item : list.is_array() ? list : Json::array()) {
    if (item.is_string()) {
      out.insert(item.get<std::string>());
    }
  }
  return out;
}

// What the host has mounted; nothing is told apart without it.
class HostDevices {
 public:
  explicit HostDevices(const Judgement& judge) {
    const Json& devices = judge.Document("/host/devices");
    for (const auto& device : devices.is_array() ? devices : Json::array()) {
      if (!device.is_number_unsigned()) {
        known_.clear();
        return;
      }
      known_.insert(device.get<std::uint64_t>());
    }
  }

  // Whether the host does not have it: a file system of the unit's own.
  bool Lacks(std::uint64_t device) const { return !known_.empty() && !known_.contains(device); }

 private:
  std::set<std::uint64_t> known_;
};

// Whether a mount that is not read-only may be there.
class WritableRule {
 public:
  explicit WritableRule(const Judgement& judge)
      : granted_(Strings(judge.Document("/requested/writable"))),
        private_(judge.Document("/requested/private")),
        roots_(judge.Document("/requested/roots")),
        host_(judge) {}

  bool Allows(const Mount& mount) const {
    const std::string point = EscapeControl(mount.point);
    if (granted_.contains(point) && Member(Member(roots_, point), "access") == "rw") {
      return true;  // its identity is checked with the roots
    }
    if (mount.type == "devtmpfs" || mount.type == "tmpfs") {
      if (IsHarmlessDevice(mount.point) && "/dev" + mount.root == mount.point) {
        return true;
      }
    }
    // What is private must be a file system that the host does not have mounted.
    const bool fresh = host_.Lacks(mount.device);
    if (Member(Member(private_, point), "access") == "rw") {
      return fresh && mount.type == "tmpfs" && mount.root == "/";
    }
    return fresh &&
           ((mount.type == "proc" && mount.point == "/proc") ||
            (mount.type == "devpts" && (mount.point == "/dev/pts" || mount.point == "/dev/ptmx")) ||
            (mount.type == "mqueue" && mount.point == "/dev/mqueue"));
  }

 private:
  std::set<std::string> granted_;
  const Json& private_;
  const Json& roots_;
  HostDevices host_;
};

// The mounts that a path leads to, by their point as the evidence shows it.
using VisibleMounts = std::map<std::string, const Mount*>;

VisibleMounts ByPoint(const MountTable& table) {
  VisibleMounts out;
  for (const Mount* mount : table.Visible()) {
    out[EscapeControl(mount->point)] = mount;
  }
  return out;
}

bool HasSize(const Mount& mount, const std::string& size) {
  for (const auto option : Split(mount.super_options, ',')) {
    if (option == "size=" + size) {
      return true;
    }
  }
  return false;
}

Result<MountTable> Table(const Json& lines) {
  std::string text;
  for (const auto& line : lines.is_array() ? lines : Json::array()) {
    text += line.is_string() ? line.get<std::string>() + "\n" : "?\n";
  }
  return MountTable::Parse(text);
}

// Each directory that is private to the run is on top there, new, and as large as was asked for.
// Without this a cover that is missing would show only where it had a mask or was writable.
void CheckPrivate(Judgement& judge, const VisibleMounts& visible) {
  const Json& wanted = judge.Document("/requested/private");
  if (!wanted.is_object() || wanted.empty()) {
    judge.Blame("inside.mounts", "no private directory was requested");
    return;
  }
  const HostDevices host(judge);
  for (const auto& [path, request] : wanted.items()) {
    const auto found = visible.find(path);
    const Mount* mount = found == visible.end() ? nullptr : found->second;
    const Json& access = Member(request, "access");
    const Json& size = Member(request, "size");
    if (mount == nullptr || mount->type != "tmpfs" || mount->root != "/" ||
        !host.Lacks(mount->device)) {
      judge.Blame("inside.mounts", "'" + path + "' is not an empty file system of the run's own");
    } else if ((access != "rw" && access != "ro") || (access == "ro") != mount->ReadOnly()) {
      judge.Blame("inside.mounts", "'" + path + "' is not mounted " + Shown(access));
    } else if (!size.is_string() || !HasSize(*mount, size.get_ref<const std::string&>())) {
      judge.Blame("inside.mounts", "'" + path + "' has not the size " + Shown(size));
    }
  }
}

// The root of a cgroup file system is shown relative to the reader's cgroup namespace, see
// cgroup_namespaces(7), so it alone may differ between inside and outside.
bool SameMount(const Mount& a, const Mount& b) {
  return a.id == b.id && a.parent == b.parent && a.device == b.device && a.point == b.point &&
         a.options == b.options && a.super_options == b.super_options && a.type == b.type &&
         a.source == b.source && (a.root == b.root || a.type == "cgroup2");
}

}  // namespace

std::optional<std::uint64_t> FreshDevice(const Judgement& judge, const std::string& path) {
  const auto table = Table(judge.Observed("/inside/mounts"));
  const Mount* mount = table ? table->Covering(path) : nullptr;
  if (mount == nullptr || !HostDevices(judge).Lacks(mount->device)) {
    return std::nullopt;
  }
  return mount->device;
}

void JudgeMounts(Judgement& judge) {
  const auto table = Table(judge.Observed("/inside/mounts"));
  const auto outside = Table(judge.Observed("/outside/mounts"));
  if (!table || !outside) {
    judge.Blame("inside.mounts", (table ? outside : table).error().message);
    return;
  }
  if (!std::ranges::equal(table->mounts(), outside->mounts(), SameMount)) {
    judge.Blame("inside.mounts", "differs from what the host sees in /proc");
    return;
  }
  const VisibleMounts visible = ByPoint(*table);
  const WritableRule rule(judge);
  for (const auto& [point, mount] : visible) {
    if (!mount->ReadOnly() && !rule.Allows(*mount)) {
      judge.Blame("inside.mounts",
                  "'" + point + "' (" + mount->type + ") is writable, but was not granted");
    }
  }
  CheckPrivate(judge, visible);
  const Mount* root = table->Covering("/");
  if (root == nullptr || !root->ReadOnly()) {
    judge.Blame("inside.mounts", "'/' is not read-only");
  }
}

}  // namespace maco::run
