// What must have been observed before a target may start.
// Used by the judge only; see maco-run/record/judge.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "maco-run/record/judge_tools.h"

namespace maco::run {

void JudgeGate(Judgement& judge);

// The mount rules, on their own: every mount that can be reached is read-only unless granted.
void JudgeMounts(Judgement& judge);

// The device of the mount that covers `path` inside, if the host has that file system not mounted.
std::optional<std::uint64_t> FreshDevice(const Judgement& judge, const std::string& path);

}  // namespace maco::run
