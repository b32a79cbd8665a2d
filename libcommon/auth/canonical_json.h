// Strict bounded JSON parsing, the one canonical byte form, and documents signed over it.
// Contract: docs/formats/canonical-json.md. Sources: RFC 8259, RFC 8785.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "libcommon/auth/json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"

namespace maco {

inline constexpr std::size_t kMaxJsonDepth = 32;                      // nested arrays and objects
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20U;  // 16 MiB, any document

// Parses one JSON value. Refused: duplicate names, fractions and exponents, integers outside
// int64 and uint64, strings that are not UTF-8, a NUL or a byte-order mark, trailing bytes.
// Errors: kLimit (text above `limit` bytes or nested deeper than kMaxJsonDepth), kInvalid.
Result<Json> ParseJson(std::string_view text, std::size_t limit);

// The canonical form: no blanks, members ordered by the bytes of their names, shortest escapes.
// Parsing it gives the same value. Errors: kInvalid (a float, binary or discarded value, a string
// that is not UTF-8), kLimit (depth, kMaxJsonBytes). A text that is to become part of a document
// says in how many containers, `depth`; they count for the limit.
Result<std::string> Canonicalize(const Json& value, std::size_t depth = 0);

// Adds the member "mac" to `document`, an object without one, and returns its canonical form.
// `domain` names the kind of document and its version ("maco.evidence/1"); it selects the subkey
// and is covered. Errors: as Canonicalize, kInvalid (no object, or "mac" is there already).
Result<std::string> SignDocument(Json document, const Key& key, std::string_view domain,
                                 std::string_view repository_id);

// Parses `text` and returns the document without its "mac". Blanks and the order of members do not
// matter. Errors: as ParseJson, kCorrupt (no object, no well-formed "mac", or it does not match).
Result<Json> VerifyDocument(std::string_view text, std::size_t limit, const Key& key,
                            std::string_view domain, std::string_view repository_id);

}  // namespace maco
