// One effect with a remote that says what the test wants: waits, rivals, a person's word.
// Contract under test: maco-effect/send.h, maco-effect/reconcile.h.
#include "maco-effect/send.h"

#include <gtest/gtest.h>

#include "libcommon/base/clock.h"
#include "maco-effect/reconcile.h"
#include "tests/unit/scratch_dir.h"

namespace maco::effect {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000;

class FakeTransport : public Transport {
 public:
  Result<Before> Prepare(Request& /*request*/, const Effect& /*effect*/) override {
    return Before{"1", "2", WallMicros()};
  }
  Outcome Send(const Request& /*request*/, const Effect& /*effect*/) override {
    ++sent;
    return outcome;
  }
  Result<Found> Find(const Request& /*request*/, const Effect& /*effect*/) override {
    return found;
  }
  Result<Found> FindWithRival(const Request& /*request*/, const Effect& /*effect*/) override {
    Found out = found;
    out.rival = rival;
    return out;
  }
  Result<Look> Fetch(const Effect& /*effect*/) override {
    ++fetched;
    return look;
  }

  Outcome outcome;
  Found found;
  bool rival = false;
  Look look;
  int sent = 0;
  int fetched = 0;
};

class SendTest : public ::testing::Test {
 protected:
  SendTest() : state_(*StateRoot::Initialize(scratch_.dir())) {
    request_.operation = "pr";
    request_.transport = "github";
    request_.api = "https://api.github.com";
    request_.repository = "github.com/acme/app";
    request_.title = "Title";
    request_.head = "fx/one";
    request_.base = "main";
    plan_ = PlanOf(request_, state_.key(), state_.repository_id());
  }

  Sending With() { return {&state_, &remote_, std::chrono::milliseconds(0)}; }
  Result<Effect> Send() { return SendEffect(With(), request_, plan_); }
  Effect OnRecord() { return **ReadEffects(state_)->Find(plan_.id); }
  void Refuse(std::uint64_t not_before_us) {
    remote_.outcome = {Outcome::Kind::kNotApplied, {}, "slow down", not_before_us};
    const auto sent = Send();
    ASSERT_TRUE(sent);
    ASSERT_EQ(sent->state, "failed");
  }

  ScratchDir scratch_;
  StateRoot state_;
  FakeTransport remote_;
  Request request_;
  Effect plan_;
};

TEST_F(SendTest, ATimeToWaitIsWaitedFor) {
  Refuse(WallMicros() + kHour);
  const auto again = Send();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kBusy);
  EXPECT_EQ(remote_.sent, 1);
}

TEST_F(SendTest, ATimeToWaitOfMoreThanADayIsThatOfAWrongClock) {
  Refuse(WallMicros() + 25 * kHour);
  remote_.outcome = {Outcome::Kind::kApplied, {"pr/1", "", 1}, "", 0};
  const auto again = Send();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, "completed");
  EXPECT_EQ(remote_.sent, 2);
}

TEST_F(SendTest, ARivalMakesAConflictCertain) {
  remote_.outcome = {Outcome::Kind::kExists, {}, "one is there", 0};
  remote_.rival = true;
  EXPECT_EQ(Send()->state, "failed");
  remote_.rival = false;
  EXPECT_EQ(Send()->state, "started");
}

TEST_F(SendTest, ADryRunOfAPersonsWordRefusesWhatTheRealOneWould) {
  remote_.look = {Look::Kind::kChanged, "it is another one"};
  ASSERT_EQ(Send()->state, "started");
  const Effect before = OnRecord();
  const auto refused = ReconcileEffect(With(), plan_.id, {"7", "", true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_EQ(remote_.fetched, 1);
  EXPECT_TRUE(ReconcileEffect(With(), plan_.id, {"7", "that is it", true}));
  EXPECT_TRUE(ReconcileEffect(With(), plan_.id, {"", "lost", true}));
  EXPECT_EQ(ReconcileEffect(With(), plan_.id, {"x", "", true}).error().code, Code::kUsage);
  {
    const auto sender = LockEffect(state_, plan_.id, LogLock::kTry);
    ASSERT_TRUE(sender);
    EXPECT_EQ(ReconcileEffect(With(), plan_.id, {"", "lost", true}).error().code, Code::kBusy);
  }
  EXPECT_EQ(OnRecord(), before);

  ASSERT_TRUE(ReconcileEffect(With(), plan_.id, {"7", "that is it", false}));
  EXPECT_EQ(OnRecord().state, "completed");
  EXPECT_EQ(OnRecord().receipt.id, "pr/7");
  for (const char* receipt : {"", "7"}) {
    const auto late = ReconcileEffect(With(), plan_.id, {receipt, "note", true});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::kRefused);
  }
}

TEST_F(SendTest, AnAdoptedUrlIsKeptWithoutCredentials) {
  ASSERT_EQ(Send()->state, "started");
  const std::string url = "https://bob:hunter2@github.com/acme/app/pull/7";
  ASSERT_TRUE(ReconcileEffect(With(), plan_.id, {url, "that is it", false}));
  EXPECT_EQ(OnRecord().receipt.url, "https://github.com/acme/app/pull/7");
}

}  // namespace
}  // namespace maco::effect
