// Runs as maco-run leaves them on disk, made by hand in a scratch repository with maco state.
// For tests only. Layout: docs/formats/run.md.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/state/run_sight.h"
#include "tests/unit/scratch_dir.h"

namespace maco {

class RunFixture : public ::testing::Test {
 protected:
  RunFixture() {
    auto state = StateRoot::Initialize(scratch_.dir());
    EXPECT_TRUE(state);
    state_.emplace(*std::move(state));
    auto runs = state_->dir().Create("runs", 0700);
    EXPECT_TRUE(runs);
    runs_ = *std::move(runs);
  }

  const StateRoot& state() const { return *state_; }
  static std::string NewId() { return *RandomId(); }
  std::string RunPath(const std::string& id) const { return scratch_.Path("maco/runs/" + id); }
  std::string JournalPath(const std::string& id) const { return RunPath(id) + "/run.log"; }
  std::string EvidencePath(const std::string& id) const {
    return RunPath(id) + "/trusted/evidence.json";
  }

  static void WriteFile(const std::string& path, const std::string& text) {
    FILE* file = fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(fwrite(text.data(), 1, text.size(), file), text.size());
    fclose(file);
    chmod(path.c_str(), 0600);
  }

  static void Append(LogWriter& journal, Json event) {
    event["schema"] = "maco.run-event/1";
    event["time_us"] = 1764440000000000U;
    EXPECT_TRUE(journal.Append(AsBytes(*Canonicalize(event)), Durability::kRecordAndHead));
  }

  // The run's directory and its journal with these events; the finishing ones name the evidence.
  LogWriter Open(const std::string& id, const std::vector<std::string>& events) {
    const auto run = runs_.Create(id, 0700);
    EXPECT_TRUE(run);
    EXPECT_TRUE(run->Create("trusted", 0700));
    const std::string evidence =
        *SignDocument({{"run", id}}, state().key(), "maco.evidence/1", state().repository_id());
    WriteFile(EvidencePath(id), evidence);
    auto journal = LogWriter::Create(*run, "run.log", state().key(), {state().repository_id(), id});
    EXPECT_TRUE(journal);
    for (const std::string& name : events) {
      Json event = {{"event", name}};
      if (name == "run_planned") {
        event["command"] = {"make", "all"};
      } else if (name != "command_started") {
        event["evidence_sha256"] = ToHex(Sha256(AsBytes(evidence)));
      }
      Append(*journal, event);
    }
    return *std::move(journal);
  }

  std::string MakeRun(const std::vector<std::string>& events) {
    std::string id = NewId();
    LogWriter journal = Open(id, events);
    EXPECT_TRUE(journal.Close());
    return id;
  }

  RunSight Look(const std::string& id) const { return LookAtRun(state(), runs_, id); }

  ScratchDir scratch_;
  std::optional<StateRoot> state_;
  Directory runs_;
};

}  // namespace maco
