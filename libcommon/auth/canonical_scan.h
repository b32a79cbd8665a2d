// Tells whether a text is canonical JSON of ours, and where its parts are, without building a
// value: for texts that are many and are read often.
// Contract: docs/formats/canonical-json.md. Sources: RFC 8259, RFC 8785.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace maco {

// A member of an object or an element of an array, as slices of the text that was scanned.
struct JsonPart {
  std::size_t level = 0;  // 1: of the document itself; 2: of one of those; ...
  std::string_view name;  // with its quotes and escapes; empty for an element
  std::string_view value;
};

// True if and only if ParseJson(text, limit) succeeds and Canonicalize of its result gives exactly
// `text`. Needs no memory.
bool IsCanonicalJson(std::string_view text, std::size_t limit);

// The parts of such a text down to level `levels`, in its order, each before its own parts; nothing
// if the text is not canonical.
std::optional<std::vector<JsonPart>> CanonicalParts(std::string_view text, std::size_t limit,
                                                    std::size_t levels);

// What a name or value of such a part says, without quotes and escapes; nothing if it is no string.
std::optional<std::string> CanonicalString(std::string_view slice);

}  // namespace maco
