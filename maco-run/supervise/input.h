// InputPump: copies our standard input into a pipe for the target.
// The target never gets a descriptor of the caller: it could reopen a file for writing, or a
// terminal.
#pragma once
#include <optional>
#include <vector>

#include "libcommon/os/fd.h"
#include "maco-run/supervise/output.h"
#include "maco-run/supervise/stream_end.h"

namespace maco::run {

class InputPump {
 public:
  // Copies from `source` (borrowed) into `sink`. A terminal is read only while we are in its
  // foreground, a closed descriptor is an empty input.
  InputPump(int source, UniqueFd sink);

  std::optional<OutputPump::Wait> wait() const;
  void Step();
  void Stop() { sink_.Reset(); }

 private:
  StreamEnd source_;
  UniqueFd sink_;
  std::vector<std::uint8_t> pending_;
};

}  // namespace maco::run
