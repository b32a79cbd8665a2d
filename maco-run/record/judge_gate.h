// What must have been observed before a target may start.
// Used by the judge only; see maco-run/record/judge.h.
#pragma once
#include "maco-run/record/judge_tools.h"

namespace maco::run {

void JudgeGate(Judgement& judge);

// The mount rules, on their own: every mount that can be reached is read-only unless granted.
void JudgeMounts(Judgement& judge);

}  // namespace maco::run
