// Rows of effects: both directions, and that what was begun always fits its row when it ends.
// Contract under test: libcommon/effect/effect_row.h, docs/formats/effect.md. Requirement EFF-05.
#include "libcommon/effect/effect_row.h"

#include <gtest/gtest.h>

#include <random>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/effect/effect_log.h"
#include "tests/unit/effect/effect_fixture.h"

namespace maco {
namespace {

const std::size_t kRoom = EffectStoreLimits().release_bytes;

TEST(EffectRow, HasAllOfAnEffect) {
  Effect effect = Completed(PlannedEffect(7), "words");
  effect.candidate = std::string(32, 'f');
  effect.evidence = {std::string(64, '1'), std::string(64, '2')};
  EXPECT_EQ(DecodeEffect(EffectKey(effect.id), Encode(effect)), effect);
  EXPECT_EQ(DecodeEvidence("evidence/x", EncodeEvidence(effect.evidence)), effect.evidence);
}

TEST(EffectRow, OfAnotherFormIsDamage) {
  const Effect effect = PlannedEffect(7);
  const std::string key = EffectKey(effect.id);
  const auto code = [&key](const Json& row) { return DecodeEffect(key, row).error().code; };
  for (const char* name : {"id", "state", "operation", "v"}) {
    Json row = Encode(effect);
    row.erase(name);
    EXPECT_EQ(code(row), Code::kCorrupt) << name;
  }
  for (const char* name : {"id", "state", "attempts", "receipt", "evidence", "note", "v"}) {
    Json row = Encode(effect);
    row[name] = Json::array({Json::array()});
    EXPECT_EQ(code(row), Code::kCorrupt) << name;
  }
  Json row = Encode(effect);
  row["v"] = 2U;
  EXPECT_EQ(code(row), Code::kUnsupported);
  EXPECT_EQ(DecodeEffect(EffectKey(EffectId(8)), Encode(effect)).error().code, Code::kCorrupt)
      << "the row of another effect";
  for (const Json& evidence : {Json(), Json(1), Json::array({1})}) {
    EXPECT_FALSE(DecodeEvidence("evidence/x", {{"v", 1}, {"evidence", evidence}}).has_value());
  }
}

TEST(EffectRow, NamesThatAreTooLongAreRefusedAtFirst) {
  Effect effect = PlannedEffect(1);
  EXPECT_TRUE(EncodeFirstRow(effect, kRoom).has_value());
  effect.repository = std::string(kRoom, 'r');
  EXPECT_EQ(EncodeFirstRow(effect, kRoom).error().code, Code::kLimit);
  // Two branches and an action of the most bytes that a request may have.
  effect = PlannedEffect(1);
  effect.target = std::string(255, 'h') + " -> " + std::string(255, 'b');
  effect.action = std::string(255, 'a');
  EXPECT_TRUE(EncodeFirstRow(effect, kRoom).has_value());
}

TEST(EffectRow, WhatWasBegunFitsWhenItEnds) {
  std::mt19937 random(20261130);
  const std::vector<std::string> parts = {"a", "\"", "\\", "\u00e4", "\u20ac", "\U0001f600"};
  const auto words = [&](std::size_t least, std::size_t most) {
    std::string out;
    const std::size_t size = std::uniform_int_distribution<std::size_t>(least, most)(random);
    while (out.size() < size) {
      out += parts[std::uniform_int_distribution<std::size_t>(0, parts.size() - 1)(random)];
    }
    return out;
  };
  int begun = 0;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    Effect effect = PlannedEffect(1);
    effect.repository = words(0, 1200);
    effect.target = words(0, 700);
    effect.action = words(0, 255);
    effect.candidate = std::string(32, 'f');
    effect.evidence.assign(400, std::string(64, '0'));
    if (!EncodeFirstRow(effect, kRoom)) {
      ++refused;
      continue;
    }
    ++begun;
    const Effect ended = Completed(effect, words(0, 3000));
    const auto row = EncodeLaterRow(ended, kRoom);
    ASSERT_TRUE(row.has_value()) << row.error().message;
    const auto text = Canonicalize(*row);
    ASSERT_TRUE(text.has_value()) << "cut in a character";
    ASSERT_LE(text->size(), kRoom);
    auto found = DecodeEffect(EffectKey(effect.id), *row);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->receipt.id, ended.receipt.id);
    // Nothing but what is for people may be missing.
    found->reason = ended.reason;
    found->note = ended.note;
    found->receipt.url = ended.receipt.url;
    found->evidence = ended.evidence;  // which has a row of its own
    EXPECT_EQ(*found, ended);
  }
  EXPECT_GT(begun, 30);
  EXPECT_GT(refused, 30);
}

TEST(EffectRow, IsNotCutWithoutNeed) {
  const Effect ended = Completed(PlannedEffect(1), std::string(400, 'w'));
  EXPECT_EQ(DecodeEffect(EffectKey(ended.id), *EncodeLaterRow(ended, kRoom)), ended);
}

}  // namespace
}  // namespace maco
