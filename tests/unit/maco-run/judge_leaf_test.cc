// Every single observation is load-bearing: without it, or with another value, nothing passes.
// Contract under test: docs/formats/evidence.md, "observations".
#include <gtest/gtest.h>

#include <map>

#include "maco-run/record/judge.h"
#include "tests/unit/maco-run/evidence_vector.h"

namespace maco::run {
namespace {

using Pointer = Json::json_pointer;

bool IsLeaf(const Json& value) { return !value.is_structured() || value.empty(); }

// Pointers to all nodes below `value`, itself included; array elements too.
void Collect(const Json& value, const Pointer& at, bool leaves, std::vector<Pointer>& out) {
  if (IsLeaf(value) == leaves) {
    out.push_back(at);
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      Collect(member, at / name, leaves, out);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Collect(value[i], at / i, leaves, out);
    }
  }
}

std::vector<Pointer> Leaves(const Json& document) {
  std::vector<Pointer> out;
  Collect(document["observations"], Pointer("/observations"), true, out);
  return out;
}

std::vector<Pointer> Subtrees(const Json& document) {
  std::vector<Pointer> out;
  Collect(document["observations"], Pointer("/observations"), false, out);
  return out;
}

// "inside.roots./home/x.device" for the member of that path.
std::string Dotted(Pointer at) {
  std::string out;
  while (at != Pointer("/observations") && !at.empty()) {
    out = out.empty() ? at.back() : at.back() + "." + out;
    at.pop_back();
  }
  return out;
}

bool Begins(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) && (text.size() == prefix.size() || text[prefix.size()] == '.');
}

// Observations that are right only in comparison with another one: there the blame may fall on that
// one. All others are blamed under their own name.
const std::map<std::string, std::string>& ComparedWith() {
  static const std::map<std::string, std::string> table{
      {"outside.mounts", "inside.mounts"},
      {"outside.namespaces", "inside.namespaces"},
      {"outside.status.Gid", "inside.status.Gid"},
      {"outside.status.Seccomp_filters", "inside.status.Seccomp_filters"},
      {"outside.pid", "outside.report_sender"},
      {"outside.parent_pid", "cgroup.processes"},
      {"unit.main_pid", "outside.grandparent_pid"},
      {"unit.control_group", "outside.cgroup"},
      {"unit.invocation_id", "inside.invocation_id"},
  };
  return table;
}

bool IsBlamed(const std::string& leaf, const std::vector<std::string>& reasons) {
  for (const auto& reason : reasons) {
    const std::string blamed = Observation(reason);
    if (Begins(leaf, blamed)) {
      return true;
    }
    for (const auto& [name, other] : ComparedWith()) {
      // In the last component too: outside.namespaces.net by inside.namespaces.net.
      if (Begins(leaf, name) && Begins(other + leaf.substr(name.size()), blamed)) {
        return true;
      }
    }
  }
  return false;
}

bool IsOfTheEnd(const Pointer& at) {
  const std::string name = Dotted(at);
  return Begins(name, "end") || Begins(name, "release");
}

// The document, and what both stages must say to it when `at` was changed.
void ExpectRefused(const Json& document, const Pointer& at, const std::string& how) {
  const auto reasons = Judge(document, Stage::kEnd);
  EXPECT_TRUE(IsBlamed(Dotted(at), reasons)) << at << " " << how << "\n" << Joined(reasons);
  EXPECT_EQ(Judge(document, Stage::kGate).empty(), IsOfTheEnd(at)) << at << " " << how;
}

void Delete(Json& document, const Pointer& at) {
  Json& parent = document[at.parent_pointer()];
  if (parent.is_array()) {
    parent.erase(std::stoul(at.back()));
  } else {
    parent.erase(at.back());
  }
}

std::vector<Json> Alterations(const Pointer& at, const Json& value) {
  if (value.is_boolean()) {
    return {!value.get<bool>()};
  }
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    std::vector<Json> out{text + "x"};
    if (!text.empty()) {
      out.push_back(std::string(1, static_cast<char>(text[0] ^ 1)) + text.substr(1));
    }
    return out;
  }
  if (value.is_number()) {
    // The nodes that the user manager has for masks lie side by side, and each is as good.
    const bool node = Dotted(at).starts_with("inside.masks.") && at.back() == "inode";
    return {value.get<std::uint64_t>() + (node ? 1000 : 1)};
  }
  return {Json::array({"x"})};  // an empty list or object
}

class JudgeLeaf : public testing::TestWithParam<std::string> {};

TEST_P(JudgeLeaf, DeletingIsNoticed) {
  const Json good = EvidenceVector(GetParam());
  const auto leaves = Leaves(good);
  EXPECT_GT(leaves.size(), 250U);
  for (const auto& at : leaves) {
    Json document = good;
    Delete(document, at);
    ExpectRefused(document, at, "deleted");
  }
}

TEST_P(JudgeLeaf, AlteringIsNoticed) {
  const Json good = EvidenceVector(GetParam());
  for (const auto& at : Leaves(good)) {
    for (const Json& altered : Alterations(at, good[at])) {
      Json document = good;
      document[at] = altered;
      ExpectRefused(document, at, "is " + altered.dump());
    }
  }
}

TEST_P(JudgeLeaf, AnotherTypeIsNoticed) {
  const Json good = EvidenceVector(GetParam());
  const std::vector<Json> others{nullptr,         true, 0, 1.5, "", Json::array(), Json::object(),
                                 Json::array({0})};
  auto nodes = Leaves(good);
  const auto subtrees = Subtrees(good);
  nodes.insert(nodes.end(), subtrees.begin(), subtrees.end());
  Json document = good;
  for (const auto& at : nodes) {
    for (const Json& other : others) {
      if (other == good[at]) {
        continue;
      }
      document[at] = other;
      EXPECT_FALSE(Judge(document, Stage::kEnd).empty()) << at << " is " << other;
    }
    document[at] = good[at];
  }
  EXPECT_EQ(document, good);
}

TEST_P(JudgeLeaf, DeletingASubtreeIsNoticed) {
  const Json good = EvidenceVector(GetParam());
  for (const auto& at : Subtrees(good)) {
    Json document = good;
    Delete(document, at);
    EXPECT_FALSE(Judge(document, Stage::kEnd).empty()) << at;
    EXPECT_EQ(Judge(document, Stage::kGate).empty(), IsOfTheEnd(at)) << at;
    document = good;
    document[at] = good[at].is_array() ? Json::array() : Json::object();
    EXPECT_FALSE(Judge(document, Stage::kEnd).empty()) << at << " emptied";
  }
}

// Whatever is asked for less, the observations then show more than was asked for.
TEST_P(JudgeLeaf, AnEmptiedRequestIsNoticed) {
  const Json good = EvidenceVector(GetParam());
  // Not compared with an observation: what the host itself enforces (timeout), or what the caller
  // need not give (variables).
  for (const auto& [name, value] : good["requested"].items()) {
    if (name == "variables") {
      continue;
    }
    // The run without a result has nothing but the root to write in.
    Json document = good;
    document["requested"].erase(name);
    EXPECT_FALSE(Judge(document, Stage::kEnd).empty()) << name << " deleted";
    for (const Json& empty : {Json::array(), Json::object(), Json(""), Json()}) {
      document["requested"][name] = empty;
      EXPECT_FALSE(Judge(document, Stage::kEnd).empty()) << name << " is " << empty;
    }
  }
  Json document = good;
  document["requested"] = Json::object();
  EXPECT_FALSE(Judge(document, Stage::kEnd).empty());
  document.erase("requested");
  EXPECT_FALSE(Judge(document, Stage::kEnd).empty());
}

TEST_P(JudgeLeaf, EachRequestIsComparedWithAnObservation) {
  const Json good = EvidenceVector(GetParam());
  for (const auto& section :
       {"cgroup", "directory", "limits", "masks", "private", "probes", "properties", "roots"}) {
    std::vector<Pointer> leaves;
    Collect(good["requested"][section], Pointer("/requested") / section, true, leaves);
    for (const auto& at : leaves) {
      // The time limit is the host's own; a mask says what must not be seen.
      if (at.back() == "timeout_seconds" || at.to_string().starts_with("/requested/masks/")) {
        continue;
      }
      Json document = good;
      Delete(document, at);
      EXPECT_FALSE(Judge(document, Stage::kGate).empty()) << at;
    }
  }
}

TEST_P(JudgeLeaf, TheHostsSideIsNeeded) {
  const Json good = EvidenceVector(GetParam());
  for (const char* name : {"devices", "inaccessible", "namespaces", "uid", "uid_map"}) {
    Json document = good;
    document["host"].erase(name);
    EXPECT_FALSE(Judge(document, Stage::kGate).empty()) << name << " deleted";
    document["host"][name] = Json::array();
    EXPECT_FALSE(Judge(document, Stage::kGate).empty()) << name << " emptied";
  }
  Json document = good;
  document["host"]["devices"].push_back("5");
  EXPECT_FALSE(Judge(document, Stage::kGate).empty()) << "a device that is no number";
}

INSTANTIATE_TEST_SUITE_P(Vectors, JudgeLeaf, testing::ValuesIn(VectorNames()),
                         [](const auto& suite) {
                           return std::string(suite.param == "publishable" ? "Read" : "Write");
                         });

}  // namespace
}  // namespace maco::run
