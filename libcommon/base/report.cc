// One line on standard error, safe for a terminal.
// Contract: libcommon/base/report.h.
#include "libcommon/base/report.h"

#include <unistd.h>

#include <string>

#include "libcommon/base/text.h"

namespace maco {

void Note(std::string_view tool, std::string_view text) {
  std::string line(tool);
  line.append(": ").append(EscapeControl(text)).append("\n");
  // One write, so that lines of tools that share a terminal do not mix. Nothing can be done, and
  // nobody can be told, when standard error itself fails.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

void Report(std::string_view tool, const Error& error) { Note(tool, Describe(error)); }

}  // namespace maco
