// Any text as a step record, as the place of a worktree, and as the lines of an anchor; the
// anchor's head is signed, so that the fuzzer gets past the authentication to what is behind it.
// Contracts under test: docs/formats/step.md, anchor.md. What is accepted is read back the same.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/state/run_event.h"
#include "libcommon/state/steps.h"
#include "maco-journal/anchor_document.h"

namespace {

using namespace maco;

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

const StateRoot& FuzzState() {
  static const StateRoot state = [] {
    std::string pattern = std::filesystem::temp_directory_path() / "maco-fuzz-XXXXXX";
    Require(mkdtemp(pattern.data()) != nullptr);
    const auto directory = Directory::OpenPath(pattern);
    Require(directory.has_value());
    auto made = StateRoot::Initialize(*directory);
    Require(made.has_value());
    std::filesystem::remove_all(pattern);  // what is needed is in memory
    return *std::move(made);
  }();
  return state;
}

void TryStep(std::span<const std::uint8_t> bytes) {
  const auto event = ParseEvent(bytes, 1);
  if (!event) {
    return;
  }
  const auto attempt = DecodeAttempt(*event);
  if (attempt) {
    const auto again = DecodeAttempt(EncodeAttempt(*attempt));
    Require(again && EncodeAttempt(*again) == EncodeAttempt(*attempt));
  }
}

void TryAnchor(std::string_view lines) {
  const StateRoot& state = FuzzState();
  const auto head = SignDocument({{"schema", "maco.anchor/1"},
                                  {"repository", state.repository_id()},
                                  {"epoch", 0},
                                  {"number", 1},
                                  {"time_us", 1},
                                  {"lines_sha256", ToHex(Sha256(AsBytes(lines)))}},
                                 state.key(), "maco.anchor/1", state.repository_id());
  Require(head.has_value());
  const auto anchor = journal::DecodeAnchor(state, *head + "\n" + std::string(lines));
  if (anchor) {
    const auto text = journal::EncodeAnchor(state, *anchor);
    Require(text.has_value());
    const auto again = journal::DecodeAnchor(state, *text);
    Require(again && again->journals.size() == anchor->journals.size());
  }
  [[maybe_unused]] const auto unsigned_text = journal::DecodeAnchor(state, lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  TryStep(bytes);
  TryAnchor(AsText(bytes));
  return 0;
}
