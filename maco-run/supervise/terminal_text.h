// TerminalText: makes output of the target harmless for the terminal that shows it.
// Line ends (LF, CR LF) and tabs pass; every other control character, what turns the direction of
// text around (Unicode's bidirectional controls), and what is no UTF-8, becomes \xNN. Works on
// pieces: a character or line end that is cut in two is held back.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace maco::run {

class TerminalText {
 public:
  std::string Add(std::span<const std::uint8_t> piece);

  // What was held back, at the end of the stream.
  std::string Finish();

 private:
  std::string Escape(std::string_view text) const;
  std::string held_;
};

}  // namespace maco::run
