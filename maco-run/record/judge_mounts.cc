// Mount rules: what is writable was granted, what was granted is new, inside and outside agree.
// Contract: maco-run/record/judge_gate.h.
#include <algorithm>
#include <set>

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

// Whether a mount that is not read-only may be there.
class WritableRule {
 public:
  explicit WritableRule(const Judgement& judge)
      : granted_(Strings(judge.Document("/requested/writable"))),
        private_(Strings(judge.Document("/requested/private"))),
        known_(judge.Document("/host/devices").is_array()) {
    for (const auto& device : known_ ? judge.Document("/host/devices") : Json::array()) {
      if (device.is_number_unsigned()) {
        host_devices_.insert(device.get<std::uint64_t>());
      }
    }
  }

  bool Allows(const Mount& mount) const {
    if (granted_.contains(mount.point)) {
      return true;  // its identity is checked with the roots
    }
    if (mount.type == "devtmpfs" || mount.type == "tmpfs") {
      if (IsHarmlessDevice(mount.point) && mount.root != "/") {
        return true;
      }
    }
    // What is private must be a file system that the host does not have mounted.
    const bool fresh = known_ && !host_devices_.contains(mount.device);
    if (private_.contains(mount.point)) {
      return fresh && mount.type == "tmpfs" && mount.root == "/";
    }
    return fresh && ((mount.type == "proc" && mount.point == "/proc") ||
                     (mount.type == "devpts" &&
                      (mount.point == "/dev/pts" || mount.point == "/dev/ptmx")) ||
                     (mount.type == "mqueue" && mount.point == "/dev/mqueue"));
  }

 private:
  std::set<std::string> granted_;
  std::set<std::string> private_;
  bool known_;
  std::set<std::uint64_t> host_devices_;
};

Result<MountTable> Table(const Json& lines) {
  std::string text;
  for (const auto& line : lines.is_array() ? lines : Json::array()) {
    text += line.is_string() ? line.get<std::string>() + "\n" : "?\n";
  }
  return MountTable::Parse(text);
}

// The root of a cgroup file system is shown relative to the reader's cgroup namespace, see
// cgroup_namespaces(7), so it alone may differ between inside and outside.
bool SameMount(const Mount& a, const Mount& b) {
  return a.id == b.id && a.parent == b.parent && a.device == b.device && a.point == b.point &&
         a.options == b.options && a.super_options == b.super_options && a.type == b.type &&
         a.source == b.source && (a.root == b.root || a.type == "cgroup2");
}

}  // namespace

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
  const WritableRule rule(judge);
  for (const Mount* mount : table->Visible()) {
    if (!mount->ReadOnly() && !rule.Allows(*mount)) {
      judge.Blame("inside.mounts", "'" + mount->point + "' (" + mount->type +
                                       ") is writable, but was not granted");
    }
  }
  const Mount* root = table->Covering("/");
  if (root == nullptr || !root->ReadOnly()) {
    judge.Blame("inside.mounts", "'/' is not read-only");
  }
}

}  // namespace maco::run
