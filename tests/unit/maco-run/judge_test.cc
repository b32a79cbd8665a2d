// The judge as a whole: real evidence passes, its stages, any document is judged without failing.
// Contract under test: maco-run/record/judge.h, docs/formats/evidence.md.
#include "maco-run/record/judge.h"

#include <gtest/gtest.h>

#include <random>

#include "libcommon/base/text.h"
#include "tests/unit/maco-run/evidence_vector.h"

namespace maco::run {
namespace {

Key VectorKey() {
  constexpr std::size_t kKeyOffset = 16;  // docs/formats/key.md
  const std::string file = VectorText("evidence-v1-key.bin");
  return *Key::FromBytes(AsBytes(file).subspan(kKeyOffset, Key::kBytes));
}

TEST(Judge, RealRunsArePublishable) {
  for (const auto& name : VectorNames()) {
    const Json document = EvidenceVector(name);
    EXPECT_TRUE(Judge(document, Stage::kGate).empty()) << Joined(Judge(document, Stage::kGate));
    EXPECT_TRUE(Judge(document, Stage::kEnd).empty()) << Joined(Judge(document, Stage::kEnd));
    EXPECT_EQ(document["publishable"], true);
    EXPECT_EQ(document["reasons"], Json::array());
  }
}

TEST(Judge, RealRunsAreSignedWithTheRepositorysKey) {
  for (const auto& name : VectorNames()) {
    const std::string repository = EvidenceVector(name)["repository"];
    const std::string text = VectorText("evidence-v1-" + name + ".json");
    EXPECT_TRUE(VerifyDocument(text, kMaxJsonBytes, VectorKey(), kEvidenceDomain, repository));
    EXPECT_FALSE(VerifyDocument(text, kMaxJsonBytes, VectorKey(), kEvidenceDomain, ""));
    const std::vector<std::uint8_t> zeros(Key::kBytes);
    EXPECT_FALSE(VerifyDocument(text, kMaxJsonBytes, *Key::FromBytes(zeros), kEvidenceDomain, ""));
  }
}

TEST(Judge, VectorsHaveWhatTheTestsRelyOn) {
  const Json read = EvidenceVector("publishable");
  const Json write = EvidenceVector("publishable-write");
  EXPECT_EQ(read["requested"]["profile"], "offline-read");
  EXPECT_EQ(write["requested"]["profile"], "offline-write");
  EXPECT_TRUE(read["requested"].contains("result"));
  EXPECT_FALSE(write["requested"].contains("result"));
  EXPECT_EQ(write["requested"]["writable"], Json::array({"/home/maco/lane"}));
  EXPECT_EQ(write["requested"]["roots"]["/home/maco/lane"]["access"], "rw");
  EXPECT_EQ(write["requested"]["roots"]["/home/maco/lane/.git"]["access"], "ro");
}

TEST(Judge, TheGateDoesNotAskForTheEnd) {
  for (const auto& name : VectorNames()) {
    Json document = EvidenceVector(name);
    document.erase("outcome");
    document["observations"].erase("release");
    document["observations"].erase("end");
    EXPECT_TRUE(Judge(document, Stage::kGate).empty()) << Joined(Judge(document, Stage::kGate));
    EXPECT_FALSE(Judge(document, Stage::kEnd).empty());
  }
}

TEST(Judge, TheGateDoesNotLookAtTheEnd) {
  for (const auto& name : VectorNames()) {
    Json document = EvidenceVector(name);
    document["outcome"] = {{"ended_by", "timeout"}};
    document["observations"]["release"] = "x";
    document["observations"]["end"] = Json::array();
    EXPECT_TRUE(Judge(document, Stage::kGate).empty()) << Joined(Judge(document, Stage::kGate));
  }
}

TEST(Judge, ADiagnosticRunPassesTheGateButIsNeverPublishable) {
  Json document = EvidenceVector("publishable");
  document["requested"]["profile"] = "diagnostic";
  EXPECT_TRUE(Judge(document, Stage::kGate).empty());
  const auto reasons = Judge(document, Stage::kEnd);
  ASSERT_EQ(reasons.size(), 1U) << Joined(reasons);
  EXPECT_EQ(Observation(reasons[0]), "requested.profile");
}

TEST(Judge, NothingIsPublishableWithoutObservations) {
  const std::vector<Json> documents{Json(),
                                    Json::object(),
                                    Json::array(),
                                    true,
                                    "publishable",
                                    1,
                                    Json(1.5),
                                    Json::binary({1}),
                                    {{"observations", Json::object()}},
                                    {{"publishable", true}, {"reasons", Json::array()}}};
  for (const auto& document : documents) {
    EXPECT_FALSE(Judge(document, Stage::kGate).empty());
    EXPECT_FALSE(Judge(document, Stage::kEnd).empty());
  }
}

TEST(Judge, TheWrittenVerdictIsNotBelieved) {
  Json document = EvidenceVector("publishable");
  document["observations"]["inside"]["status"]["Seccomp"] = "0";
  document["publishable"] = true;
  document["reasons"] = Json::array();
  EXPECT_FALSE(Judge(document, Stage::kEnd).empty());
}

// A reason goes into a signed document: it must be one printable line of UTF-8.
void ExpectPrintable(const std::vector<std::string>& reasons) {
  for (const auto& reason : reasons) {
    EXPECT_EQ(EscapeControl(reason), reason);
    EXPECT_NE(reason.find(": "), std::string::npos) << reason;
  }
}

TEST(Judge, ReasonsCanBeSignedAndPrinted) {
  Json document = EvidenceVector("publishable");
  Json& inside = document["observations"]["inside"];
  const std::string snowman = "\xE2\x98\x83";
  std::string wide;
  for (int i = 0; i < 400; ++i) {
    wide += snowman;
  }
  for (std::size_t shift = 0; shift < 3; ++shift) {
    inside["directory"]["path"] = std::string(shift, 'x') + wide;
    ExpectPrintable(Judge(document, Stage::kEnd));
  }
  inside["directory"]["path"] = "a\nb\x1B[31m\xFF";
  inside["roots"]["/x\n\xFF"] = Json::object();
  const std::string mount = R"(900 118 0:99 / /mnt/\377\033 rw - ext4 /dev/x rw)";
  inside["mounts"].push_back(mount);
  document["observations"]["outside"]["mounts"].push_back(mount);
  const auto reasons = Judge(document, Stage::kEnd);
  ExpectPrintable(reasons);
  EXPECT_NE(Joined(reasons).find(R"('/mnt/\xff\x1b' (ext4) is writable)"), std::string::npos)
      << Joined(reasons);
}

// Changes a document at random places, the same way in each run.
class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  // Returns whether only observations were changed, and none was merely added.
  bool Mutate(Json& document) {
    bool only_observations = true;
    for (unsigned count = 1 + Below(4); count > 0; --count) {
      Json* at = &document;
      std::string first;
      while (at->is_structured() && !at->empty() && (first.empty() || Below(6) != 0)) {
        auto next = at->begin();
        std::advance(next, Below(static_cast<unsigned>(at->size())));
        if (first.empty() && at->is_object()) {
          first = next.key();
        }
        at = &*next;
      }
      const bool added = Change(*at);
      only_observations = only_observations && first == "observations" && !added;
    }
    return only_observations;
  }

 private:
  unsigned Below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  Json Any() {
    switch (Below(10)) {
      case 0:
        return nullptr;
      case 1:
        return Below(2) == 0;
      case 2:
        return Below(300);
      case 3:
        return -1;
      case 4:
        return 18446744073709551615U;
      case 5:
        return 1.5;
      case 6:
        return std::string(Below(40), static_cast<char>(Below(256)));
      case 7:
        return Json::array({Below(3), "0:1"});
      case 8:
        return {{"device", Below(40)}, {"access", "rw"}};
      default:
        return Json::array();
    }
  }

  // Returns whether a member was added and nothing else changed.
  bool Change(Json& value) {
    const unsigned way = Below(5);
    if (way == 0 && value.is_object()) {
      value["added"] = Any();
      return true;
    }
    if (way == 1 && value.is_structured() && !value.empty()) {
      auto victim = value.begin();
      std::advance(victim, Below(static_cast<unsigned>(value.size())));
      value.erase(victim);
    } else if (way == 2 && value.is_array() && !value.empty()) {
      value.push_back(value.front());
    } else if (way == 3 && value.is_string()) {
      auto& text = value.get_ref<std::string&>();
      text.insert(Below(static_cast<unsigned>(text.size()) + 1), 1, static_cast<char>(Below(256)));
    } else {
      value = Any();
    }
    return false;
  }

  std::mt19937 random_;
};

TEST(Judge, NoMutationMakesItFailOrPass) {
  constexpr int kMutations = 5000;  // of each vector
  Mutator mutator(20240229);
  for (const auto& name : VectorNames()) {
    const Json good = EvidenceVector(name);
    for (int i = 0; i < kMutations; ++i) {
      Json document = good;
      const bool must_refuse =
          mutator.Mutate(document) && document["observations"] != good["observations"];
      std::vector<std::string> reasons;
      // The end judges all that the gate does.
      ASSERT_NO_THROW(reasons = Judge(document, Stage::kEnd)) << i;
      ASSERT_TRUE(!must_refuse || !reasons.empty())
          << i << ": " << Json::diff(good, document).dump();
      ExpectPrintable(reasons);
    }
  }
}

}  // namespace
}  // namespace maco::run
