// Evidence of real runs, for tests of the judge; made by tests/vectors/make_evidence_vectors.sh.
// Each vector is signed with the key beside it, and is publishable.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/os/bounded_read.h"
#include "maco-run/record/judge.h"

namespace maco::run {

inline const std::vector<std::string>& VectorNames() {
  static const std::vector<std::string> names{"publishable", "publishable-write"};
  return names;
}

inline std::string VectorText(const std::string& file) {
  const auto text = ReadPath(std::string(MACO_VECTORS) + "/" + file, kMaxJsonBytes);
  EXPECT_TRUE(text.has_value()) << file;
  return text ? *text : std::string();
}

inline Json EvidenceVector(const std::string& name) {
  const auto document = ParseJson(VectorText("evidence-v1-" + name + ".json"), kMaxJsonBytes);
  EXPECT_TRUE(document.has_value()) << name;
  return document ? *document : Json();
}

// All reasons in one text, for the messages of failed assertions.
inline std::string Joined(const std::vector<std::string>& reasons) {
  std::string out = "reasons:";
  for (const auto& reason : reasons) {
    out += "\n  " + reason;
  }
  return out;
}

// What a reason is about.
inline std::string Observation(const std::string& reason) {
  return reason.substr(0, reason.find(": "));
}

}  // namespace maco::run
