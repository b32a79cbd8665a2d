// Hold: the lock of one effect, or of what is done by one at a time; its file goes with it.
// Contract: docs/formats/effect.md ("<id>.lock", "archive.lock").
#pragma once

#include <string>
#include <utility>

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_log.h"
#include "libcommon/os/fd.h"

namespace maco::effect {

// Whoever waits for it finds another file. Movable; `state` must outlive it.
class Hold {
 public:
  // Errors: as LockEffect.
  static Result<Hold> Take(const StateRoot& state, const std::string& id, LogLock wait) {
    auto lock = LockEffect(state, id, wait);
    return lock ? Result<Hold>(Hold(state, id, *std::move(lock))) : Fail(std::move(lock).error());
  }
  Hold(Hold&&) noexcept = default;
  Hold& operator=(Hold&&) = delete;
  ~Hold() {
    if (lock_.valid()) {
      RemoveEffectLock(state_, id_);
    }
  }

 private:
  Hold(const StateRoot& state, std::string id, UniqueFd lock)
      : state_(state), id_(std::move(id)), lock_(std::move(lock)) {}
  const StateRoot& state_;
  std::string id_;
  UniqueFd lock_;
};

}  // namespace maco::effect
