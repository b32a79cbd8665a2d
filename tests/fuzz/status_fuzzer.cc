// Any text as /proc/PID/status, as a namespace link and as /proc/PID/cgroup.
// Contract under test: libcommon/os/proc_status.h, proc(5).
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/proc_status.h"

namespace {

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = maco::AsText({data, size});
  if (const auto fields = maco::ParseStatus(text)) {
    std::string again;
    for (const auto& [name, value] : *fields) {
      Require(name.find(':') == std::string::npos && name.find('\n') == std::string::npos);
      Require(value.find('\n') == std::string::npos);
      again += name + ":\t" + value + "\n";
    }
    const auto same = maco::ParseStatus(again);
    Require(same && *same == *fields);
  }
  if (const auto inode = maco::ParseNamespaceLink(text)) {
    Require(text.find(":[") != std::string_view::npos);
    Require(maco::ParseNamespaceLink("x:[" + std::to_string(*inode) + "]") == *inode);
  }
  if (const auto path = maco::ParseCgroupV2(text)) {
    Require(text.find("0::" + *path) != std::string_view::npos);
  }
  return 0;
}
