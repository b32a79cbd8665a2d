// The directory of a run: what is made, that it is private, signed with the right key, and locked.
// Contract under test: maco-run/record/run_store.h, docs/formats/run.md, result_file.h.
#include "maco-run/record/run_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/bounded_read.h"
#include "maco-run/record/judge.h"
#include "maco-run/result_file.h"
#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

namespace fs = std::filesystem;

const std::string kId(32, 'a');

class RunStoreTest : public testing::Test {
 protected:
  RunStoreTest() : state_(*StateRoot::Initialize(scratch_.dir())) {}

  Result<RunStore> Create() { return RunStore::Create(state_, kId); }

  std::string Path(const std::string& name) const {
    return scratch_.Path("maco/runs/" + kId + "/" + name);
  }

  std::string Text(const std::string& path) const {
    const auto text = ReadPath(path, kMaxJsonBytes);
    EXPECT_TRUE(text.has_value()) << path;
    return text ? *text : "";
  }

  ResultPlace Place(const std::string& name) const {
    auto directory = scratch_.dir().Clone();
    EXPECT_TRUE(directory.has_value());
    return {std::move(*directory), name};
  }

  ScratchDir scratch_;
  StateRoot state_;
};

TEST_F(RunStoreTest, EverythingIsThereAndPrivate) {
  const auto store = Create();
  ASSERT_TRUE(store.has_value()) << store.error().message;
  for (const char* name : {"", "trusted", "incoming"}) {
    struct stat st {};
    ASSERT_EQ(stat(Path(name).c_str(), &st), 0) << name;
    EXPECT_EQ(st.st_mode, S_IFDIR | 0700U) << name;
  }
  for (const char* name : {"run.log", "trusted/stdout.log", "trusted/stderr.log",
                           "trusted/evidence.json", "incoming/result"}) {
    struct stat st {};
    ASSERT_EQ(lstat(Path(name).c_str(), &st), 0) << name;
    EXPECT_EQ(st.st_mode, S_IFREG | 0600U) << name;
    EXPECT_EQ(st.st_nlink, 1U) << name;
    EXPECT_EQ(st.st_uid, geteuid()) << name;
  }
}

TEST_F(RunStoreTest, AnIdIsUsedOnce) {
  const auto store = Create();
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(Create().error().code, Code::kExists);
}

TEST_F(RunStoreTest, ARunsDirectoryThatOthersCanReadIsRefused) {
  ASSERT_TRUE(Create().has_value());
  fs::permissions(scratch_.Path("maco/runs"), fs::perms::owner_all | fs::perms::group_read);
  EXPECT_EQ(RunStore::Create(state_, std::string(32, 'b')).error().code, Code::kPermission);
}

TEST_F(RunStoreTest, ALinkInPlaceOfTheRunsIsRefused) {
  fs::create_directory(scratch_.Path("elsewhere"));
  fs::create_directory_symlink(scratch_.Path("elsewhere"), scratch_.Path("maco/runs"));
  EXPECT_FALSE(Create().has_value());
  EXPECT_TRUE(fs::is_empty(scratch_.Path("elsewhere")));
}

TEST_F(RunStoreTest, TheJournalIsLockedForLife) {
  {
    const auto store = Create();
    ASSERT_TRUE(store.has_value());
    const auto run = Directory::OpenPath(Path(""));
    const auto other =
        LogWriter::Open(*run, "run.log", state_.key(), {state_.repository_id(), kId});
    EXPECT_EQ(other.error().code, Code::kBusy);
  }
  const auto run = Directory::OpenPath(Path(""));
  EXPECT_TRUE(
      LogWriter::Open(*run, "run.log", state_.key(), {state_.repository_id(), kId}).has_value());
}

TEST_F(RunStoreTest, EventsAreNumberedAndReadBack) {
  auto store = Create();
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(store->Append({{"event", "run_planned"}}), 1U);
  EXPECT_EQ(store->Append({{"event", "command_started"}, {"x", Json::array({1})}}), 2U);
  EXPECT_EQ(store->Append({{"event", "bad"}, {"float", 1.5}}).error().code, Code::kInvalid);
  ASSERT_TRUE(store->Close().has_value());
  const auto run = Directory::OpenPath(Path(""));
  auto reader = LogReader::Open(*run, "run.log", state_.key(), {state_.repository_id(), kId});
  ASSERT_TRUE(reader.has_value());
  for (const char* event : {"run_planned", "command_started"}) {
    const auto entry = reader->Next();
    ASSERT_TRUE(entry && *entry);
    const auto json = ParseJson(AsText((*entry)->payload), kMaxJsonBytes);
    ASSERT_TRUE(json.has_value());
    EXPECT_EQ((*json)["event"], event);
    EXPECT_EQ((*json)["schema"], "maco.run-event/1");
    EXPECT_TRUE((*json)["time_us"].is_number_unsigned());
  }
}

// It once signed with a key that had been moved away and wiped.
TEST_F(RunStoreTest, EvidenceIsSignedWithTheKeyOfTheState) {
  auto store = Create();
  ASSERT_TRUE(store.has_value());
  const StateRoot moved(std::move(state_));
  const Json evidence = {{"schema", kEvidenceDomain}, {"publishable", false}};
  const auto text = store->WriteEvidence(moved, evidence);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(Text(Path("trusted/evidence.json")), *text);
  EXPECT_EQ(
      VerifyDocument(*text, kMaxJsonBytes, moved.key(), kEvidenceDomain, moved.repository_id())
          .value_or(Json()),
      evidence);
  const std::vector<std::uint8_t> zeros(Key::kBytes);
  EXPECT_FALSE(VerifyDocument(*text, kMaxJsonBytes, *Key::FromBytes(zeros), kEvidenceDomain, "")
                   .has_value());
  struct stat st {};
  ASSERT_EQ(lstat(Path("trusted/evidence.json").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFREG | 0600U);
  EXPECT_EQ(Directory::OpenPath(Path("trusted"))->List(10)->size(), 3U) << "a temporary is left";
}

TEST_F(RunStoreTest, EvidenceThatCannotBeSignedIsAnErrorAndWritesNothing) {
  auto store = Create();
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(store->WriteEvidence(state_, {{"x", "\xFF"}}).error().code, Code::kInvalid);
  EXPECT_EQ(Text(Path("trusted/evidence.json")), "");
}

TEST_F(RunStoreTest, TheResultIsReadFromTheDescriptorThatWasKept) {
  const auto store = Create();
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(store->result_path(), fs::canonical(Path("incoming/result")).string());
  EXPECT_TRUE(store->ResultNameLeadsToIt());
  ASSERT_TRUE(WriteAll(store->result(), AsBytes("mine")).has_value());
  // Somebody puts another file, then a link, under the name.
  fs::rename(Path("incoming/result"), Path("incoming/aside"));
  EXPECT_FALSE(store->ResultNameLeadsToIt());
  fs::create_symlink("aside", Path("incoming/result"));
  EXPECT_FALSE(store->ResultNameLeadsToIt());
  fs::remove(Path("incoming/result"));
  fs::create_hard_link(Path("incoming/aside"), Path("incoming/result"));
  EXPECT_TRUE(store->ResultNameLeadsToIt());
  const Json described = DescribeResultFile(*store, 100);
  EXPECT_EQ(described["links"], 2U);
  EXPECT_EQ(described["inode"], store->result_identity().inode);
  ASSERT_TRUE(SaveResult(*store, Place("saved"), 100).has_value());
  EXPECT_EQ(Text(scratch_.Path("saved")), "mine");
}

TEST_F(RunStoreTest, AResultIsSavedOnceAndWhole) {
  const auto store = Create();
  ASSERT_TRUE(store.has_value());
  const std::string path = scratch_.Path("saved");
  EXPECT_TRUE(FindResultPlace(path).has_value());
  ASSERT_TRUE(WriteAll(store->result(), AsBytes("12345")).has_value());
  EXPECT_EQ(ResultSize(*store), 5U);
  const auto larger = SaveResult(*store, Place("saved"), 4);
  EXPECT_EQ(larger.error().code, Code::kLimit);
  EXPECT_NE(larger.error().remedy.find("--result-limit"), std::string::npos);
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(SaveResult(*store, Place("saved"), 5).has_value());
  EXPECT_EQ(Text(path), "12345");
  EXPECT_EQ(SaveResult(*store, Place("saved"), 5).error().code, Code::kExists);
  EXPECT_EQ(FindResultPlace(path).error().code, Code::kExists);
}

TEST_F(RunStoreTest, AResultIsNeverWrittenThroughALink) {
  const auto store = Create();
  ASSERT_TRUE(store.has_value());
  fs::create_symlink("victim", scratch_.Path("link"));
  EXPECT_EQ(FindResultPlace(scratch_.Path("link")).error().code, Code::kExists);
  EXPECT_EQ(SaveResult(*store, Place("link"), 5).error().code, Code::kExists);
  EXPECT_FALSE(fs::exists(scratch_.Path("victim")));
}

TEST(FindResultPlace, NeedsANameInADirectoryThatIsThere) {
  const ScratchDir scratch;
  for (const std::string path : {"", "/", "x/", "..", "x/.", "x/.."}) {
    EXPECT_EQ(FindResultPlace(path).error().code, Code::kInvalid) << path;
  }
  EXPECT_EQ(FindResultPlace(scratch.Path("none/x")).error().code, Code::kNotFound);
  EXPECT_TRUE(FindResultPlace(scratch.Path("x")).has_value());
}

}  // namespace
}  // namespace maco::run
