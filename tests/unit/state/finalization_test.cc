// Taking and checking final records, with every kind of difference. Tests
// libcommon/state/finalization.cc.
#include "libcommon/state/finalization.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "libcommon/state/run_event.h"
#include "tests/unit/state/run_fixture.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRebinds = 3;

class FinalizationTest : public RunFixture {
 protected:
  FinalizationTest() { Fresh(); }

  // A run with trusted/evidence.json, incoming/result, logs/a, logs/b/c.
  void Fresh() {
    id_ = MakeRun({"run_planned", "command_started", "command_completed"});
    run_ = *runs_.Open(id_);
    for (const char* name : {"incoming", "logs", "logs/b"}) {
      EXPECT_TRUE(run_.Create(name, 0700));
    }
    WriteFile(At("incoming/result"), "result");
    WriteFile(At("logs/a"), "a");
    WriteFile(At("logs/b/c"), "");
  }
  std::string At(const std::string& name) const { return RunPath(id_) + "/" + name; }
  Finalization Take(bool publishable = true) const {
    auto taken = TakeFinalization(run_, kRebinds, publishable, "command_completed");
    EXPECT_TRUE(taken) << taken.error().message;
    return taken ? *taken : Finalization();
  }

  std::string id_;
  Directory run_;
};

TEST_F(FinalizationTest, HasEveryFileButTheJournal) {
  const Finalization taken = Take();
  std::vector<std::string> paths;
  for (const auto& file : taken.files) {
    paths.push_back(file.path + " " + file.disposition);
  }
  EXPECT_EQ(paths,
            (std::vector<std::string>{"incoming/result publishable", "logs/a private",
                                      "logs/b/c private", "trusted/evidence.json publishable"}));
  EXPECT_EQ(taken.files[0].bytes, 6U);
  EXPECT_EQ(taken.files[0].sha256, ToHex(Sha256(AsBytes("result"))));
  EXPECT_EQ(taken.evidence_sha256, taken.files[3].sha256);
  EXPECT_EQ(taken.journal_inode, run_.Stat("run.log")->inode);
  EXPECT_EQ(taken.bytes(), 7 + taken.files[3].bytes);
  EXPECT_EQ(taken.outcome, "command_completed");
  EXPECT_NE(taken.producer.find("git maco "), std::string::npos);
  for (const auto& file : Take(false).files) {
    EXPECT_EQ(file.disposition, "private");
  }
}

TEST_F(FinalizationTest, EncodedAndDecodedItIsTheSame) {
  const Finalization taken = Take();
  Json event = Encode(taken);
  event["time_us"] = 7U;
  const auto decoded = DecodeFinalization(event);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->finalized_us, 7U);
  EXPECT_EQ(Encode(*decoded), Encode(taken));
  EXPECT_TRUE(CheckFinalization(run_, kRebinds, *decoded));
}

TEST_F(FinalizationTest, OtherFormsAreNotDecoded) {
  const Json good = Encode(Take());
  const std::vector<std::function<void(Json&)>> wrongs = {
      [](Json& e) { e.erase("files"); },
      [](Json& e) { e["files"] = "x"; },
      [](Json& e) { e["files"][0] = "x"; },
      [](Json& e) { e["files"][0].erase("path"); },
      [](Json& e) { e["files"][0]["path"] = 1; },
      [](Json& e) { e["files"][0]["bytes"] = "1"; },
      [](Json& e) { e["files"][0]["bytes"] = -1; },
      [](Json& e) { e["files"][0].erase("sha256"); },
      [](Json& e) { e["files"][0].erase("disposition"); },
      [](Json& e) { e.erase("journal_inode"); },
      [](Json& e) { e["journal_inode"] = "1"; },
      [](Json& e) { e.erase("rebinds"); },
  };
  for (const auto& wrong : wrongs) {
    Json event = good;
    wrong(event);
    const auto decoded = DecodeFinalization(event);
    EXPECT_FALSE(decoded) << event.dump();
    EXPECT_TRUE(decoded || decoded.error().code == Code::kCorrupt);
  }
}

TEST_F(FinalizationTest, EveryDifferenceIsNamed) {
  struct Case {
    const char* words;
    std::function<void()> change;
    bool taken_again;  // whether what is there then may be finalized
  };
  const std::vector<Case> cases = {
      {"'logs/a'", [&] { WriteFile(At("logs/a"), "b"); }, true},
      {"'logs/a'", [&] { WriteFile(At("logs/a"), "aa"); }, true},
      {"'logs/a'", [&] { WriteFile(At("logs/a"), ""); }, true},
      {"'incoming/result', which is gone", [&] { fs::remove(At("incoming/result")); }, true},
      {"'trusted/evidence.json', which is gone", [&] { fs::remove_all(At("trusted")); }, true},
      {"'aaa', which is new", [&] { WriteFile(At("aaa"), ""); }, true},
      {"'zzz', which is new", [&] { WriteFile(At("zzz"), ""); }, true},
      {"'logs/b/d', which is new", [&] { WriteFile(At("logs/b/d"), ""); }, true},
      {"'logs/a', which is gone", [&] { fs::rename(At("logs/a"), At("logs/z")); }, true},
      {"not private", [&] { chmod(At("logs/a").c_str(), 0640); }, false},
      {"not private", [&] { chmod(At("logs/b").c_str(), 0701); }, false},
      {"another name", [&] { link(At("logs/a").c_str(), scratch_.Path("x").c_str()); }, false},
      {"no plain file", [&] { symlink("a", At("logs/l").c_str()); }, false},
      {"no plain file", [&] { mkfifo(At("logs/fifo").c_str(), 0600); }, false},
      {"no plain file",
       [&] {
         const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
         sockaddr_un address{};
         address.sun_family = AF_UNIX;
         const std::string name = "/proc/self/fd/" + std::to_string(run_.fd()) + "/s";
         memcpy(address.sun_path, name.c_str(), name.size());
         EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
         close(fd);
       },
       false},
      {"not UTF-8", [&] { WriteFile(At("logs/\xff"), ""); }, false},
      {"regular file", [&] { fs::create_directory(At(".tmp-1")); }, false},
      {"regular file", [&] { symlink("a", At("logs/.tmp-1").c_str()); }, false},
      {"not private",
       [&] {
         fs::create_directory(At("logs/n"));
         chmod(At("logs/n").c_str(), 0755);
       },
       false},
      {"another file than its writer had",
       [&] {
         fs::copy_file(JournalPath(id_), JournalPath(id_) + "2");
         fs::rename(JournalPath(id_) + "2", JournalPath(id_));
       },
       true},
  };
  for (const auto& c : cases) {
    Fresh();
    const Finalization taken = Take();
    ASSERT_TRUE(CheckFinalization(run_, kRebinds, taken));
    c.change();
    const auto same = CheckFinalization(run_, kRebinds, taken);
    ASSERT_FALSE(same) << c.words;
    EXPECT_NE(same.error().message.find(c.words), std::string::npos) << same.error().message;
    const auto again = TakeFinalization(run_, kRebinds, true, "command_completed");
    EXPECT_EQ(again.has_value(), c.taken_again) << c.words;
    EXPECT_TRUE(!again || CheckFinalization(run_, kRebinds, *again)) << c.words;
    fs::remove(scratch_.Path("x"));
  }
}

// Another journal is a copy only if the repository was rebound since; its files are compared all
// the same.
TEST_F(FinalizationTest, ACopyIsOneOnlyAfterARebind) {
  const Finalization taken = Take();
  fs::copy_file(JournalPath(id_), JournalPath(id_) + "2");
  fs::rename(JournalPath(id_) + "2", JournalPath(id_));
  EXPECT_FALSE(CheckFinalization(run_, kRebinds, taken));
  EXPECT_FALSE(CheckFinalization(run_, kRebinds - 1, taken));
  EXPECT_TRUE(CheckFinalization(run_, kRebinds + 1, taken));
  WriteFile(At("logs/a"), "b");
  EXPECT_FALSE(CheckFinalization(run_, kRebinds + 1, taken));
}

TEST_F(FinalizationTest, EmptyDirectoriesAndHalfDocumentsAreNoDifference) {
  const Finalization taken = Take();
  WriteFile(At("trusted/.tmp-0123"), "half");
  EXPECT_TRUE(run_.Create("empty", 0700));
  EXPECT_TRUE(CheckFinalization(run_, kRebinds, taken));
  EXPECT_EQ(Take().files.size(), taken.files.size());
}

TEST_F(FinalizationTest, ThereAreBounds) {
  std::string path = "deep";
  for (std::size_t i = 0; i < kMaxFinalDepth; ++i) {
    ASSERT_TRUE(run_.Create(path, 0700));
    path += "/d";
  }
  EXPECT_TRUE(TakeFinalization(run_, kRebinds, true, "x"));
  ASSERT_TRUE(run_.Create(path, 0700));
  auto taken = TakeFinalization(run_, kRebinds, true, "x");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kLimit);
  fs::remove_all(At("deep"));
  for (std::size_t i = 4; i < kMaxFinalFiles; ++i) {
    WriteFile(At("logs/b/" + std::to_string(i)), "");
  }
  EXPECT_EQ(Take().files.size(), kMaxFinalFiles);
  WriteFile(At("logs/b/more"), "");
  taken = TakeFinalization(run_, kRebinds, true, "x");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kLimit);
}

TEST_F(FinalizationTest, WithoutEvidence) {
  fs::remove(EvidencePath(id_));
  EXPECT_EQ(Take().evidence_sha256, "");
  WriteFile(EvidencePath(id_), "");
  EXPECT_EQ(Take().evidence_sha256, "") << "an empty one is none";
}

}  // namespace
}  // namespace maco
