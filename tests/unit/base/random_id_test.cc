// Identifiers: their form, and that no two are the same.
// Contract under test: libcommon/base/random_id.h.
#include "libcommon/base/random_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace maco {
namespace {

TEST(RandomId, HasItsFormAndDiffers) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = RandomId();
    ASSERT_TRUE(id.has_value());
    EXPECT_TRUE(IsRandomId(*id)) << *id;
    EXPECT_TRUE(seen.insert(*id).second);
  }
}

TEST(RandomId, OnlyThatFormIsOne) {
  EXPECT_TRUE(IsRandomId("0123456789abcdef0123456789abcdef"));
  for (const std::string bad :
       {"", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
        "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcdeg",
        "../../../../../../../../../../..", "0123456789abcdef0123456789abcde\n"}) {
    EXPECT_FALSE(IsRandomId(bad)) << bad;
  }
}

TEST(FillRandom, FillsAllOfIt) {
  std::vector<std::uint8_t> bytes(100'000);  // more than one call gives
  ASSERT_TRUE(FillRandom(bytes).has_value());
  // The chance that 64 given bytes stay zero is 2^-512.
  EXPECT_TRUE(std::any_of(bytes.end() - 64, bytes.end(), [](auto byte) { return byte != 0; }));
  EXPECT_TRUE(FillRandom({}).has_value());
}

}  // namespace
}  // namespace maco
