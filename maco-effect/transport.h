// Transport: what sends one request to a remote, and looks up what the remote has of it.
// Requirements EFF-02, EFF-03, EFF-04. Nothing here writes state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcommon/effect/effect_row.h"
#include "maco-effect/request.h"

namespace maco::effect {

// What was learnt before anything is sent.
struct Before {
  std::string actor_id;
  std::string repository_id;
  std::uint64_t since_us = 0;  // the remote's clock, or ours
};

struct Outcome {
  enum class Kind {
    kApplied,     // the remote says so, and its words fit the request
    kNotApplied,  // it certainly did nothing
    kExists,      // it did nothing, since something like that is there: perhaps ours
    kUnknown,     // anything else: only looking can tell
  };
  Kind kind = Kind::kUnknown;
  Receipt receipt;                  // kApplied
  std::string reason;               // else, one line
  std::uint64_t not_before_us = 0;  // kNotApplied: the remote asked to wait
};

// What the remote has that bears an effect's marker.
struct Found {
  std::vector<Receipt> ours;     // by marker, author, repository, kind, time and content
  std::vector<std::string> odd;  // why each other one was left out
  bool rival = false;            // none of them is there, but what keeps ours from being made is
};

// What became of a receipt (EFF-04).
struct Look {
  enum class Kind { kSame, kLater, kGone, kChanged };
  Kind kind = Kind::kSame;
  std::string words;  // "open", "merged", "superseded", "deleted", "its body was edited"
};

class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Everything that must hold before the request is sent; nothing that bears the marker may be
  // there. May fill in what is only known now (Request::expected of a push). Errors, after which
  // nothing was sent: kRefused (the remote says no, or has it already), kTimeout, kIo, kLimit,
  // kInvalid.
  virtual Result<Before> Prepare(Request& request, const Effect& effect) = 0;

  // Sends it once.
  virtual Outcome Send(const Request& request, const Effect& effect) = 0;

  // Looks for it by lists. `effect` has actor, repository and time of Prepare. Errors: as Prepare.
  virtual Result<Found> Find(const Request& request, const Effect& effect) = 0;

  // The same, and sees also what keeps ours from being made, however old that is. Errors: as
  // Prepare.
  virtual Result<Found> FindWithRival(const Request& request, const Effect& effect) {
    return Find(request, effect);
  }

  // Fetches the receipt and compares it with the effect. Errors: as Prepare.
  virtual Result<Look> Fetch(const Effect& effect) = 0;
};

}  // namespace maco::effect
