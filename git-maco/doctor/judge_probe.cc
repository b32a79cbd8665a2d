// Verdict of the probe, and the properties that were accepted and silently not applied (RUN-04).
// Contract: git-maco/doctor/probe.h.
#include <algorithm>
#include <iterator>

#include "git-maco/doctor/probe.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"

namespace maco::doctor {
namespace {

const Json kNothing;

const Json& Member(const Json& value, const std::string& name) {
  if (!value.is_object()) {
    return kNothing;
  }
  const auto found = value.find(name);
  return found == value.end() ? kNothing : *found;
}

std::string Text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::string> Reasons(const Json& evidence) {
  std::vector<std::string> out;
  const Json& reasons = Member(evidence, "reasons");
  for (const auto& reason : reasons.is_array() ? reasons : Json::array()) {
    out.push_back(Text(reason));
  }
  return out;
}

// Words by which a reason shows that the property had no effect: the names of the observations in
// docs/formats/evidence.md, and for controllers the words of an earlier refusal.
struct Effect {
  const char* property;
  std::vector<std::string> words;
};

const std::vector<Effect>& Effects() {
  static const std::vector<Effect> kEffects = {
      {"PrivateUsers", {"inside.namespaces.user", "outside.uid_map"}},
      {"PrivateNetwork", {"inside.namespaces.net"}},
      {"PrivateIPC", {"inside.namespaces.ipc"}},
      {"NoNewPrivileges", {"inside.status.NoNewPrivs", "outside.status.NoNewPrivs"}},
      {"PrivateDevices", {"inside.mounts: '/dev"}},
      {"ProtectSystem", {"inside.mounts: '/'"}},
      {"ProtectControlGroups", {"inside.mounts: '/sys/fs/cgroup"}},
      {"ProtectKernelTunables", {"inside.mounts: '/sys", "inside.mounts: '/proc/sys"}},
      {"TemporaryFileSystem", {"inside.masks."}},
      {"InaccessiblePaths", {"inside.masks."}},
      {"BindPaths", {"inside.roots."}},
      {"BindReadOnlyPaths", {"inside.roots."}},
      {"ReadOnlyPaths", {"inside.roots."}},
      {"MemoryMax", {"cgroup.files.memory.max", "controller 'memory'"}},
      {"MemorySwapMax", {"cgroup.files.memory.swap.max", "controller 'memory'"}},
      {"OOMPolicy", {"cgroup.files.memory.oom.group"}},
      {"TasksMax", {"cgroup.files.pids.max", "controller 'pids'"}},
      {"CPUQuotaPerSecUSec", {"cgroup.files.cpu.max", "controller 'cpu'"}},
      {"LimitNOFILE", {"inside.limits.nofile"}},
      {"LimitCORE", {"inside.limits.core"}},
      {"LimitFSIZE", {"inside.limits.fsize"}},
  };
  return kEffects;
}

// Asked for, and said by the user manager to be in force.
bool ReadsBack(const Json& evidence, const std::string& property) {
  const Json& requested = Member(Member(Member(evidence, "requested"), "properties"), property);
  const Json& read = Member(Member(Member(evidence, "observations"), "properties"), property);
  const bool empty = requested.is_array() && requested.empty();
  return !requested.is_null() && !empty && requested == read;
}

// The first reason that names one of the words; empty if none does.
std::string Contradiction(const std::vector<std::string>& reasons, const Effect& effect) {
  for (const auto& reason : reasons) {
    if (std::ranges::any_of(effect.words, [&reason](const std::string& word) {
          return reason.find(word) != std::string::npos;
        })) {
      return reason;
    }
  }
  return {};
}

// What maco-run printed, without its own name.
std::string Message(const ProbeRun& run) {
  constexpr std::string_view kName = "maco-run: ";
  std::string_view line = run.error_output;
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(line.starts_with(kName) ? kName.size() : 0);
  return EscapeControl(line);
}

bool IsPublishable(const ProbeRun& run) {
  return run.exit_status == kExitOk && run.evidence &&
         Member(*run.evidence, "publishable") == true &&
         Member(Member(Member(*run.evidence, "outcome"), "target"), "exited") == 0;
}

void TakeEvidence(const Json& evidence, ProbeAnswer& answer) {
  answer.reasons = Reasons(evidence);
  answer.silent = FindSilentProperties(evidence);
  answer.run = Text(Member(evidence, "run"));
  answer.kernel = Text(Member(Member(evidence, "host"), "kernel"));
  answer.systemd = Text(Member(Member(evidence, "host"), "systemd"));
}

}  // namespace

std::string VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified:
      return "verified";
    case Verdict::kRefused:
      return "refused";
    case Verdict::kUnproven:
      return "unproven";
    case Verdict::kNotRun:
      break;
  }
  return "not-run";
}

std::vector<SilentProperty> FindSilentProperties(const Json& evidence) {
  const auto reasons = Reasons(evidence);
  std::vector<SilentProperty> out;
  for (const Effect& effect : Effects()) {
    const std::string contradiction = Contradiction(reasons, effect);
    if (!contradiction.empty() && ReadsBack(evidence, effect.property)) {
      out.push_back({effect.property, contradiction});
    }
  }
  return out;
}

ProbeAnswer JudgeProbe(const ProbeRun& run) {
  ProbeAnswer answer;
  if (!run.failure.empty()) {
    answer.words = EscapeControl(run.failure);
    return answer;
  }
  answer.exit_status = run.exit_status;
  if (run.evidence) {
    TakeEvidence(*run.evidence, answer);
  }
  if (IsPublishable(run)) {
    answer.verdict = Verdict::kVerified;
    answer.words = "'maco-run -- true' ran confined, and its evidence is publishable";
    return answer;
  }
  if (run.exit_status == kExitNotStarted) {
    answer.verdict = Verdict::kRefused;
    answer.words = Message(run);
    return answer;
  }
  answer.verdict = Verdict::kUnproven;
  answer.words = !run.evidence_failure.empty()
                     ? "the evidence does not verify: " + EscapeControl(run.evidence_failure)
                     : Message(run);
  if (answer.words.empty()) {
    answer.words = "maco-run ended with status " + std::to_string(run.exit_status) +
                   (run.evidence ? "" : " and printed no evidence");
  }
  return answer;
}

}  // namespace maco::doctor
