// A new key for a repository: epochs, each crash point, who is in the way.
// Contract under test: docs/formats/key.md ("Epochs"), libcommon/auth/state_root.h.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/text.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

std::string Hex(const Key& key) { return ToHex(key.bytes()); }

Result<void> NoSeal(const StateRoot& /*root*/, const EpochKey& /*next*/) { return {}; }

class Rekey : public ::testing::Test {
 protected:
  Rekey() {
    const auto root = StateRoot::Initialize(git_.dir());
    EXPECT_TRUE(root);
    id_ = root->repository_id();
    first_ = Hex(root->key());
  }
  ScratchDir git_;
  std::string id_;
  std::string first_;
};

TEST_F(Rekey, KeepsTheIdAndTheOldKey) {
  std::string sealed_with;
  const auto root =
      StateRoot::Rekey(git_.dir(), [&](const StateRoot& old_root, const EpochKey& next) {
        EXPECT_EQ(old_root.epoch(), 0U);
        EXPECT_EQ(next.epoch, 1U);
        sealed_with = Hex(next.key);
        return Result<void>();
      });
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->epoch(), 1U);
  EXPECT_EQ(root->repository_id(), id_);
  EXPECT_EQ(Hex(root->key()), sealed_with);
  EXPECT_NE(Hex(root->key()), first_);
  const auto old_key = root->KeyOf(0);
  ASSERT_TRUE(old_key);
  EXPECT_EQ(Hex(**old_key), first_);
  EXPECT_EQ(root->KeyOf(2).error().code, Code::kCorrupt);
  EXPECT_FALSE(fs::exists(git_.Path("maco/key.next")));
}

TEST_F(Rekey, AKeyOfAnotherEpochIsNoStandIn) {
  ASSERT_TRUE(StateRoot::Rekey(git_.dir(), NoSeal));
  ASSERT_TRUE(StateRoot::Rekey(git_.dir(), NoSeal));
  fs::copy_file(git_.Path("maco/key.1"), git_.Path("maco/key.0"),
                fs::copy_options::overwrite_existing);
  const auto root = StateRoot::Open(git_.dir());
  ASSERT_TRUE(root) << "the present key is well";
  EXPECT_EQ(root->KeyOf(0).error().code, Code::kCorrupt);
  EXPECT_TRUE(root->KeyOf(1));
}

TEST_F(Rekey, AFailedSealChangesNothing) {
  const auto refused = StateRoot::Rekey(git_.dir(), [](const StateRoot&, const EpochKey&) {
    return Result<void>(Fail(Code::kRefused, "no"));
  });
  EXPECT_EQ(refused.error().code, Code::kRefused);
  const auto root = StateRoot::Open(git_.dir());
  ASSERT_TRUE(root);
  EXPECT_EQ(root->epoch(), 0U);
  EXPECT_EQ(Hex(root->key()), first_);
  EXPECT_FALSE(fs::exists(git_.Path("maco/key.next")));
}

// The state as a crash leaves it before the new key is in force.
TEST_F(Rekey, ACrashBeforeTheNewKeyIsInForce) {
  fs::path copy = git_.Path("copy");
  ASSERT_TRUE(StateRoot::Rekey(git_.dir(), [&](const StateRoot&, const EpochKey&) {
    fs::copy(git_.Path("maco"), copy, fs::copy_options::recursive);
    return Result<void>();
  }));
  fs::remove_all(git_.Path("maco"));
  fs::rename(copy, git_.Path("maco"));
  fs::permissions(git_.Path("maco"), fs::perms::owner_all);
  ASSERT_TRUE(fs::exists(git_.Path("maco/key.next")));
  auto root = StateRoot::Open(git_.dir());
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->epoch(), 0U);
  root = StateRoot::Rekey(git_.dir(), NoSeal);
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->epoch(), 1U);
}

// The new key is in force, but the identity is not signed by it yet.
TEST_F(Rekey, ACrashAfterTheNewKeyIsInForce) {
  fs::copy_file(git_.Path("maco/repository"), git_.Path("old"));
  const auto done = StateRoot::Rekey(git_.dir(), NoSeal);
  ASSERT_TRUE(done);
  const std::string second = Hex(done->key());
  fs::copy_file(git_.Path("old"), git_.Path("maco/repository"),
                fs::copy_options::overwrite_existing);
  const auto cut = StateRoot::Open(git_.dir());
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().remedy.find("git maco journal rekey"), std::string::npos);
  const auto root = StateRoot::Rekey(git_.dir(), [](const StateRoot&, const EpochKey&) {
    return Result<void>(Fail(Code::kInternal, "it is completed, not begun anew"));
  });
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->epoch(), 1U);
  EXPECT_EQ(Hex(root->key()), second);
}

TEST_F(Rekey, WhoeverWritesIsInTheWay) {
  std::optional<StateRoot> writer;
  auto opened = StateRoot::Open(git_.dir(), IfMoved::kRefuse, Access::kWrite);
  ASSERT_TRUE(opened);
  writer.emplace(*std::move(opened));
  EXPECT_TRUE(StateRoot::Open(git_.dir(), IfMoved::kRefuse, Access::kWrite)) << "shared";
  EXPECT_EQ(StateRoot::Rekey(git_.dir(), NoSeal).error().code, Code::kBusy);
  writer.reset();
  ASSERT_TRUE(StateRoot::Rekey(git_.dir(), [&](const StateRoot&, const EpochKey&) {
    EXPECT_EQ(StateRoot::Open(git_.dir(), IfMoved::kRefuse, Access::kWrite).error().code,
              Code::kBusy);
    EXPECT_TRUE(StateRoot::Open(git_.dir())) << "reading goes on";
    return Result<void>();
  }));
}

}  // namespace
}  // namespace maco
