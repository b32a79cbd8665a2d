// Sieve: rows of a forge's lists, taken apart into what an effect made and what only looks like it.
// Requirements EFF-03, EFF-04. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "libcommon/auth/json.h"
#include "maco-effect/forge/dialect.h"
#include "maco-effect/request.h"
#include "maco-effect/transport.h"

namespace maco::effect {

// Between their clock when we asked and what they write on what they make.
inline constexpr std::uint64_t kClockSlack = 300'000'000;

// Why an item with the marker is not what the effect asked for; empty if it is.
std::string Differs(const Item& item, const Effect& effect);

// The URL is for people; one that is no address, or would fill the log, is left out.
Receipt Bounded(Receipt receipt);

// Borrows all three.
class Sieve {
 public:
  Sieve(const Dialect& dialect, const Request& request, const Effect& effect)
      : dialect_(dialect), request_(request), effect_(effect) {}

  // One row of a page. Lists shift while they are read: what was on an earlier page counts once.
  void Take(const Json& row);
  Found found() const;

 private:
  const Dialect& dialect_;
  const Request& request_;
  const Effect& effect_;
  Found found_;
  std::set<std::string> seen_;  // ids of receipts
};

}  // namespace maco::effect
