// One line on standard error, safe for a terminal.
// Contract: libcommon/base/report.h.
#include "libcommon/base/report.h"

#include <poll.h>
#include <unistd.h>

#include <string>

#include "libcommon/base/text.h"

namespace maco {
namespace {

// A pipe that is full, a terminal that is stopped. Once is enough: who does not read one line does
// not read the next.
bool HasReader() {
  constexpr int kPatienceMillis = 10'000;
  static bool given_up = false;
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  given_up = given_up || poll(&ready, 1, kPatienceMillis) == 0;
  return !given_up;
}

}  // namespace

void Note(std::string_view tool, std::string_view text) {
  std::string line(tool);
  line.append(": ").append(EscapeControl(text)).append("\n");
  if (!HasReader()) {
    return;
  }
  // One write, so that lines of tools that share a terminal do not mix. Nothing can be done, and
  // nobody can be told, when standard error itself fails.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

void Report(std::string_view tool, const Error& error) { Note(tool, Describe(error)); }

}  // namespace maco
