// The token for a forge: where it comes from, held so that it is wiped.
// Sources: git-credential(1), gh auth token. Never in argv, URL, log or state.
#pragma once

#include <string>

#include "libcommon/base/result.h"

namespace maco::effect {

class Token {
 public:
  explicit Token(std::string text) : text_(std::move(text)) {}
  Token(Token&& other) noexcept;
  Token& operator=(Token&&) = delete;
  ~Token();
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// `source` is "credential" (git's helper of the operator's own settings), "gh", "file:PATH" or
// "env:NAME"; `host` is that of the forge for people, as "github.com". Errors: kNotFound (there is
// none), kPermission (a file that others can read), kInvalid (the source, or a token with blanks or
// control characters), kIo.
Result<Token> FetchToken(const std::string& source, const std::string& host);

}  // namespace maco::effect
